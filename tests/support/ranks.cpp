#include "support/ranks.h"

#include <condition_variable>
#include <cstring>
#include <deque>
#include <map>
#include <mutex>
#include <thread>
#include <utility>

#include "support/testing.h"
#include "tapehead/base/require.h"

namespace tapehead::testing {

namespace {

using Bytes = std::vector<std::byte>;

/// What was sent and not yet received.
class Hub {
 public:
  void put(int from, int to, std::span<const std::byte> bytes) {
    const std::lock_guard lock(mutex_);
    waiting_[{from, to}].emplace_back(bytes.begin(), bytes.end());
    changed_.notify_all();
  }
  Bytes take(int from, int to) {
    std::unique_lock lock(mutex_);
    std::deque<Bytes>& queue = waiting_[{from, to}];
    changed_.wait(lock, [&] { return !queue.empty(); });
    Bytes bytes = std::move(queue.front());
    queue.pop_front();
    return bytes;
  }
  void tell(int from, int to, std::string_view text) {
    const std::lock_guard lock(mutex_);
    messages_[to].push_back({from, std::string(text)});
  }
  std::optional<Transport::Message> hear(int to) {
    const std::lock_guard lock(mutex_);
    std::deque<Transport::Message>& queue = messages_[to];
    if (queue.empty()) return {};
    Transport::Message message = std::move(queue.front());
    queue.pop_front();
    return message;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<std::pair<int, int>, std::deque<Bytes>> waiting_;
  std::map<int, std::deque<Transport::Message>> messages_;
};

class ThreadTransport : public Transport {
 public:
  ThreadTransport(Hub& hub, int rank, int count) : hub_(hub), rank_(rank), count_(count) {}

  int rank() const override { return rank_; }
  int count() const override { return count_; }
  std::string host() const override { return "here"; }
  void exchange(std::span<const Outgoing> outgoing, std::span<const Incoming> incoming) override {
    for (const Outgoing& out : outgoing) hub_.put(rank_, out.to, out.bytes);
    for (const Incoming& in : incoming) receive_into(in.from, in.bytes);
  }
  void gather(std::span<const std::byte> mine, std::span<std::byte> all) override {
    for (int rank = 0; rank < count_; ++rank) hub_.put(rank_, rank, mine);
    for (int rank = 0; rank < count_; ++rank)
      receive_into(rank, all.subspan(static_cast<std::size_t>(rank) * mine.size(), mine.size()));
  }
  void broadcast(std::span<std::byte> bytes) override {
    for (int rank = 0; rank_ == 0 && rank < count_; ++rank) hub_.put(0, rank, bytes);
    receive_into(0, bytes);
  }
  void send(int to, std::string_view text) override { hub_.tell(rank_, to, text); }
  std::optional<Message> receive() override { return hub_.hear(rank_); }
  void abort(int status) override { std::_Exit(status); }
  void while_waiting(std::function<void()>) override {}

 private:
  void receive_into(int from, std::span<std::byte> bytes) {
    const Bytes came = hub_.take(from, rank_);
    ensure(came.size() == bytes.size(), "expected {} bytes, got {}", bytes.size(), came.size());
    if (!came.empty()) std::memcpy(bytes.data(), came.data(), came.size());
  }

  Hub& hub_;
  int rank_;
  int count_;
};

}  // namespace

std::vector<std::string> on_ranks(int count, const std::function<void(Ranks&)>& body) {
  Hub hub;
  std::vector<std::string> complaints(static_cast<std::size_t>(count));
  std::vector<std::thread> threads;
  for (int rank = 0; rank < count; ++rank)
    threads.emplace_back([&, rank] {
      try {
        Ranks ranks(std::make_unique<ThreadTransport>(hub, rank, count));
        body(ranks);
      } catch (const std::exception& error) {
        complaints[static_cast<std::size_t>(rank)] = error.what();
      }
    });
  for (std::thread& thread : threads) thread.join();
  return complaints;
}

void check_on_ranks(int count, const std::function<void(Ranks&)>& body) {
  for (const std::string& complaint : on_ranks(count, body)) CHECK(complaint == "");
}

}  // namespace tapehead::testing
