#include "tapehead/base/ranks.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <utility>

#include "tapehead/base/parallel.h"
#include "tapehead/base/require.h"

namespace tapehead {

/// Adds what a call costs to the traffic of its name.
class Ranks::Timed {
 public:
  Timed(std::vector<Traffic>& traffic, const char* what, std::size_t bytes)
      : traffic_(traffic), what_(what), bytes_(bytes) {}
  Timed(const Timed&) = delete;
  Timed& operator=(const Timed&) = delete;
  ~Timed() {
    auto entry = std::ranges::find(traffic_, what_, &Traffic::what);
    if (entry == traffic_.end()) entry = traffic_.insert(entry, Traffic{.what = what_});
    ++entry->calls;
    entry->bytes += static_cast<Index>(bytes_);
    entry->seconds += std::chrono::duration<double>(Clock::now() - start_).count();
  }

 private:
  using Clock = std::chrono::steady_clock;

  std::vector<Traffic>& traffic_;
  const char* what_;
  const std::size_t bytes_;
  const Clock::time_point start_ = Clock::now();
};

Ranks::Ranks() : threads_each_(hardware_threads()) {}

Ranks::Ranks(std::unique_ptr<Transport> transport) : Ranks() {
  if (transport == nullptr) return;
  transport_ = std::move(transport);
  rank_ = transport_->rank();
  count_ = transport_->count();
  if (alone()) return;
  hosts_ = gather(transport_->host(), "hosts");
  const std::string place = fmt::format("{}: {}", transport_->host(), fmt::join(usable_processors(), " "));
  const auto ranks_here = std::ranges::count(gather(place, "processors"), place);
  threads_each_ = std::max(1, hardware_threads() / static_cast<int>(ranks_here));
}

Ranks& Ranks::of_this_job() {
  static Ranks ranks(join_job());
  return ranks;
}

Ranks& Ranks::none() {
  static Ranks ranks;
  return ranks;
}

std::string Ranks::name(int rank) const {
  return alone() ? "this process"
                 : fmt::format("rank {} on {}", rank, hosts_[static_cast<std::size_t>(rank)]);
}

bool Ranks::any(bool here, const char* what) {
  if (alone()) return here;
  const auto mine = static_cast<std::byte>(here);
  std::vector<std::byte> all(static_cast<std::size_t>(count_));
  const Timed timed(traffic_, what, static_cast<std::size_t>(count_ - 1));
  transport_->gather({&mine, 1}, all);
  return std::ranges::any_of(all, [](std::byte one) { return one != std::byte{0}; });
}

std::vector<double> Ranks::gather(std::span<const double> mine, const char* what) {
  std::vector<double> all(mine.size() * static_cast<std::size_t>(count_));
  if (alone()) {
    std::ranges::copy(mine, all.begin());
    return all;
  }
  const Timed timed(traffic_, what, mine.size_bytes() * static_cast<std::size_t>(count_ - 1));
  transport_->gather(std::as_bytes(mine), std::as_writable_bytes(std::span(all)));
  return all;
}

std::vector<std::string> Ranks::gather(const std::string& mine, const char* what) {
  if (alone()) return {mine};
  const double own_size = static_cast<double>(mine.size());
  const std::vector<double> sizes = gather({&own_size, 1}, what);
  const auto widest = static_cast<std::size_t>(*std::ranges::max_element(sizes));
  std::string padded = mine;
  padded.resize(widest);
  std::string all(widest * static_cast<std::size_t>(count_), '\0');
  const Timed timed(traffic_, what, widest * static_cast<std::size_t>(count_ - 1));
  transport_->gather(std::as_bytes(std::span(padded)), std::as_writable_bytes(std::span(all)));
  std::vector<std::string> texts;
  for (std::size_t rank = 0; rank < sizes.size(); ++rank)
    texts.push_back(all.substr(rank * widest, static_cast<std::size_t>(sizes[rank])));
  return texts;
}

std::string Ranks::broadcast(std::string text, const char* what) {
  if (alone()) return text;
  std::size_t size = text.size();
  const Timed timed(traffic_, what, leads() ? (size + sizeof(size)) : 0);
  transport_->broadcast(std::as_writable_bytes(std::span(&size, 1)));
  text.resize(size);
  transport_->broadcast(std::as_writable_bytes(std::span(text)));
  return text;
}

void Ranks::broadcast(std::span<Real> numbers, const char* what) {
  if (alone()) return;
  const Timed timed(traffic_, what, leads() ? numbers.size_bytes() : 0);
  transport_->broadcast(std::as_writable_bytes(numbers));
}

void Ranks::exchange(const std::vector<Outgoing>& outgoing, const std::vector<Incoming>& incoming,
                     const char* what) {
  if (alone()) return;
  std::vector<Transport::Outgoing> out;
  std::vector<Transport::Incoming> in;
  std::size_t bytes = 0;
  for (const Outgoing& one : outgoing) {
    out.push_back({one.to, std::as_bytes(one.numbers)});
    bytes += one.numbers.size_bytes();
  }
  for (const Incoming& one : incoming) in.push_back({one.from, std::as_writable_bytes(one.numbers)});
  const Timed timed(traffic_, what, bytes);
  transport_->exchange(out, in);
}

void Ranks::collect(std::span<std::byte> whole, std::span<const Index> bounds, const char* what) {
  if (alone()) return;
  ensure(static_cast<int>(bounds.size()) == count_ + 1, "{} bounds of {} ranks", bounds.size(), count_);
  const auto part_of = [&](int rank) {
    const auto first = static_cast<std::size_t>(bounds[static_cast<std::size_t>(rank)]);
    const auto last = static_cast<std::size_t>(bounds[static_cast<std::size_t>(rank) + 1]);
    return whole.subspan(first, last - first);
  };
  std::vector<Transport::Outgoing> out;
  std::vector<Transport::Incoming> in;
  if (!leads()) out.push_back({0, part_of(rank_)});
  for (int other = 1; leads() && other < count_; ++other) in.push_back({other, part_of(other)});
  const Timed timed(traffic_, what, leads() ? 0 : part_of(rank_).size());
  transport_->exchange(out, in);
}

void Ranks::send(int to, const std::string& text) {
  ensure(!alone(), "a message of one process to itself");
  transport_->send(to, text);
}

std::optional<Transport::Message> Ranks::receive() { return alone() ? std::nullopt : transport_->receive(); }

void Ranks::while_waiting(std::function<void()> callback) {
  if (!alone()) transport_->while_waiting(std::move(callback));
}

void Ranks::abort(int status) {
  ensure(!alone(), "one process alone ends by itself");
  transport_->abort(status);
  std::abort();  // not reached; compilers do not see that
}

void Ranks::leave() {
  transport_.reset();
  rank_ = 0;
  count_ = 1;
}

}  // namespace tapehead
