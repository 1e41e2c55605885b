/// The processes that work on one job together: rank 0, which writes and speaks, and the others.
///
/// Whoever is alone is rank 0 of one, and nothing below costs it anything. A call that all ranks make
/// together has a name, by which `traffic` tells what it cost, and a size that follows from what all of them
/// know.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tapehead/base/number.h"
#include "tapehead/base/transport.h"

namespace tapehead {

/// Places first, ..., last - 1 of things in a row.
struct Range {
  Index first;
  Index last;
  Index count() const { return last - first; }
  friend bool operator==(const Range&, const Range&) = default;
};

/// What a rank has of so many things that ranks share out: as many as the others, or one more or less; none
/// if there are more ranks than things.
constexpr Range share_of(Index count, Index rank, Index ranks) {
  return {count * rank / ranks, count * (rank + 1) / ranks};
}

class Ranks {
 public:
  /// A process of its own.
  Ranks();
  /// One of several, or alone where there is no transport.
  explicit Ranks(std::unique_ptr<Transport> transport);
  /// Those that mpirun started with this process, which join at the first call. Throws as join_job.
  static Ranks& of_this_job();
  /// What whoever names no ranks works with.
  static Ranks& none();

  int rank() const { return rank_; }
  int count() const { return count_; }
  bool alone() const { return count_ == 1; }
  /// Whether this is rank 0.
  bool leads() const { return rank_ == 0; }
  /// "rank 2 on host b"
  std::string name(int rank) const;
  /// How many threads run at once here, divided by the ranks that run on the same processors.
  int threads_each() const { return threads_each_; }

  /// Whether it holds on any rank.
  bool any(bool here, const char* what);
  /// As many numbers from every rank, those of rank 0 first.
  std::vector<double> gather(std::span<const double> mine, const char* what);
  /// Every rank's text.
  std::vector<std::string> gather(const std::string& mine, const char* what);
  /// Rank 0's text, which on the others may be empty.
  std::string broadcast(std::string text, const char* what);
  /// Puts rank 0's numbers in place of everybody's.
  void broadcast(std::span<Real> numbers, const char* what);
  /// A stretch of numbers for or from another rank.
  struct Outgoing {
    int to;
    std::span<const Real> numbers;
  };
  struct Incoming {
    int from;
    std::span<Real> numbers;
  };
  /// Sends and receives at once; what two ranks exchange has the same sizes and order on both.
  void exchange(const std::vector<Outgoing>& outgoing, const std::vector<Incoming>& incoming,
                const char* what);

  /// Brings to rank 0 what each rank has filled in of one array: of rank r the bytes bounds[r], ...,
  /// bounds[r + 1] - 1. On the other ranks the array stays as it is.
  void collect(std::span<std::byte> whole, std::span<const Index> bounds, const char* what);

  /// A short text for another rank, and the next one for this, if one has come.
  void send(int to, const std::string& text);
  std::optional<Transport::Message> receive();

  /// What the calls of one name have cost this rank.
  struct Traffic {
    std::string what;
    Index calls = 0;
    Index bytes = 0;     ///< that it sent to others; of a gathering, as if each went straight to each
    double seconds = 0;  ///< with the wait for the slowest rank
  };
  const std::vector<Traffic>& traffic() const { return traffic_; }
  void forget_traffic() { traffic_.clear(); }

  /// Called now and then, by the thread that waits, while others keep this rank waiting.
  void while_waiting(std::function<void()> callback);
  /// Ends all ranks at once; only where there are several.
  [[noreturn]] void abort(int status);
  /// Parts from the others, all of which do the same; this process is alone from now on.
  void leave();

 private:
  class Timed;

  std::unique_ptr<Transport> transport_;
  int rank_ = 0;
  int count_ = 1;
  std::vector<std::string> hosts_;
  int threads_each_;
  std::vector<Traffic> traffic_;
};

/// Who shares the work of a training step: threads of this process, and the other ranks.
struct Workers {
  // A number of threads alone is what most have to say.
  Workers(int threads_here, Ranks& all_ranks = Ranks::none()) : threads(threads_here), ranks(all_ranks) {}

  int threads;
  Ranks& ranks;
};

}  // namespace tapehead
