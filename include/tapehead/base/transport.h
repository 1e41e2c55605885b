/// Bytes between the processes of one job.
///
/// What `mpirun -n N` starts are ranks 0, ..., N - 1. Every rank makes the same calls in the same order, from
/// one thread; only `send` and `receive` go from one to one. In a build without MPI there is none, and every
/// process is alone.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tapehead {

class Transport {
 public:
  virtual ~Transport() = default;

  virtual int rank() const = 0;
  virtual int count() const = 0;
  /// What this rank's machine is called.
  virtual std::string host() const = 0;

  struct Outgoing {
    int to;
    std::span<const std::byte> bytes;
  };
  struct Incoming {
    int from;
    std::span<std::byte> bytes;
  };
  /// Sends and receives at once. What goes from one rank to another arrives in its order, and has the size
  /// that is expected there.
  virtual void exchange(std::span<const Outgoing> outgoing, std::span<const Incoming> incoming) = 0;
  /// As many bytes from every rank, one after another.
  virtual void gather(std::span<const std::byte> mine, std::span<std::byte> all) = 0;
  /// Rank 0's bytes for all.
  virtual void broadcast(std::span<std::byte> bytes) = 0;

  /// A short text for another rank, which takes it when it likes.
  virtual void send(int to, std::string_view text) = 0;
  struct Message {
    int from;
    std::string text;
  };
  /// The next text for this rank, if one has come.
  virtual std::optional<Message> receive() = 0;

  /// Ends all ranks at once.
  [[noreturn]] virtual void abort(int status) = 0;
  /// Called now and then in a wait that takes longer than a tenth of a second.
  virtual void while_waiting(std::function<void()> callback) = 0;
};

/// Joins the other processes of this job; null for one that was started alone. Throws UsageError where a
/// build without MPI was started as one of several, and Error where MPI fails.
std::unique_ptr<Transport> join_job();

}  // namespace tapehead
