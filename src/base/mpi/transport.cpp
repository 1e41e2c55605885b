// The transport of a build with MPI, in place of ../transport.cpp.

#include "tapehead/base/transport.h"

#include <mpi.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>
#include <thread>

#include "tapehead/base/require.h"

namespace tapehead {

namespace {

/// What MPI counts with is an int.
constexpr std::size_t kLargestPiece = std::size_t{1} << 30;
constexpr int kExchangeTag = 1;
constexpr int kTextTag = 2;

void check(int code, const char* doing) {
  if (code == MPI_SUCCESS) return;
  std::array<char, MPI_MAX_ERROR_STRING> text{};
  int length = 0;
  MPI_Error_string(code, text.data(), &length);
  throw Error(fmt::format("[ranks] MPI failed while {}: {}", doing,
                          std::string_view(text.data(), static_cast<std::size_t>(length))));
}

/// Calls body(offset, count) for pieces that MPI can count.
template <class Body>
void for_each_piece(std::size_t bytes, const Body& body) {
  for (std::size_t offset = 0; offset < bytes; offset += kLargestPiece)
    body(offset, static_cast<int>(std::min(kLargestPiece, bytes - offset)));
}

class MpiTransport : public Transport {
 public:
  MpiTransport() {
    int provided = 0;
    check(MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &provided), "starting");
    require(provided >= MPI_THREAD_FUNNELED, "[ranks] this MPI does not work in a program with threads");
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
    MPI_Comm_size(MPI_COMM_WORLD, &count_);
  }
  ~MpiTransport() override { MPI_Finalize(); }

  int rank() const override { return rank_; }
  int count() const override { return count_; }
  std::string host() const override {
    std::array<char, MPI_MAX_PROCESSOR_NAME> name{};
    int length = 0;
    MPI_Get_processor_name(name.data(), &length);
    return {name.data(), static_cast<std::size_t>(length)};
  }

  void exchange(std::span<const Outgoing> outgoing, std::span<const Incoming> incoming) override {
    std::vector<MPI_Request> requests;
    for (const Incoming& in : incoming)
      for_each_piece(in.bytes.size(), [&](std::size_t offset, int count) {
        requests.push_back(MPI_REQUEST_NULL);
        check(MPI_Irecv(in.bytes.data() + offset, count, MPI_BYTE, in.from, kExchangeTag, MPI_COMM_WORLD,
                        &requests.back()),
              "receiving");
      });
    for (const Outgoing& out : outgoing)
      for_each_piece(out.bytes.size(), [&](std::size_t offset, int count) {
        requests.push_back(MPI_REQUEST_NULL);
        check(MPI_Isend(out.bytes.data() + offset, count, MPI_BYTE, out.to, kExchangeTag, MPI_COMM_WORLD,
                        &requests.back()),
              "sending");
      });
    await(requests, "exchanging numbers");
  }

  void gather(std::span<const std::byte> mine, std::span<std::byte> all) override {
    ensure(mine.size() <= kLargestPiece, "a gathering of {} bytes a rank", mine.size());
    const int size = static_cast<int>(mine.size());
    std::vector<MPI_Request> requests(1);
    check(MPI_Iallgather(mine.data(), size, MPI_BYTE, all.data(), size, MPI_BYTE, MPI_COMM_WORLD,
                         requests.data()),
          "gathering");
    await(requests, "gathering");
  }

  void broadcast(std::span<std::byte> bytes) override {
    for_each_piece(bytes.size(), [&](std::size_t offset, int count) {
      std::vector<MPI_Request> requests(1);
      check(MPI_Ibcast(bytes.data() + offset, count, MPI_BYTE, 0, MPI_COMM_WORLD, requests.data()),
            "broadcasting");
      await(requests, "broadcasting");
    });
  }

  void send(int to, std::string_view text) override {
    std::vector<MPI_Request> requests(1);
    check(MPI_Isend(text.data(), static_cast<int>(text.size()), MPI_CHAR, to, kTextTag, MPI_COMM_WORLD,
                    requests.data()),
          "sending");
    await(requests, "sending");
  }

  std::optional<Message> receive() override {
    int there = 0;
    MPI_Status status;
    check(MPI_Iprobe(MPI_ANY_SOURCE, kTextTag, MPI_COMM_WORLD, &there, &status), "looking for messages");
    if (there == 0) return {};
    int size = 0;
    MPI_Get_count(&status, MPI_CHAR, &size);
    Message message{status.MPI_SOURCE, std::string(static_cast<std::size_t>(size), ' ')};
    check(MPI_Recv(message.text.data(), size, MPI_CHAR, status.MPI_SOURCE, kTextTag, MPI_COMM_WORLD,
                   MPI_STATUS_IGNORE),
          "receiving");
    return message;
  }

  [[noreturn]] void abort(int status) override {
    MPI_Abort(MPI_COMM_WORLD, status);
    std::_Exit(status);
  }

  void while_waiting(std::function<void()> callback) override { while_waiting_ = std::move(callback); }

 private:
  /// Asks again and again: at first without a pause, for a step may be short, then with one between.
  void await(std::vector<MPI_Request>& requests, const char* doing) const {
    using Clock = std::chrono::steady_clock;
    constexpr int kBusyPolls = 2000;
    const Clock::time_point start = Clock::now();
    Clock::time_point next_call = start + std::chrono::milliseconds(100);
    for (int polls = 0;; ++polls) {
      int done = 0;
      check(MPI_Testall(static_cast<int>(requests.size()), requests.data(), &done, MPI_STATUSES_IGNORE),
            doing);
      if (done != 0) return;
      if (polls < kBusyPolls) {
        std::this_thread::yield();
        continue;
      }
      std::this_thread::sleep_for(std::chrono::microseconds(50));
      if (!while_waiting_ || Clock::now() < next_call) continue;
      while_waiting_();
      next_call = Clock::now() + std::chrono::milliseconds(100);
    }
  }

  int rank_ = 0;
  int count_ = 1;
  std::function<void()> while_waiting_;
};

}  // namespace

// A process that mpirun did not start is alone, and has no need of MPI.
std::unique_ptr<Transport> join_job() {
  constexpr std::array launchers{"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "PMI_RANK", "PMIX_RANK"};
  if (std::ranges::none_of(launchers, [](const char* variable) { return std::getenv(variable) != nullptr; }))
    return nullptr;
  return std::make_unique<MpiTransport>();
}

}  // namespace tapehead
