#include "tapehead/base/parallel.h"

#include <sched.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "tapehead/base/require.h"

namespace tapehead {

namespace {

thread_local bool inside_loop = false;

constexpr Index kChunk = Index{1} << 13;     // numbers: a few arrays of as many fit the first cache
constexpr Index kWorthSharing = 2 * kChunk;  // a smaller loop is over before a second thread has come

Index chunks_of(Index count) { return (count + kChunk - 1) / kChunk; }

/// One call of parallel_for: the indices still to take, and what went wrong where.
struct Loop {
  Loop(const std::function<void(Index)>& loop_body, Index loop_count) : body(loop_body), count(loop_count) {}

  const std::function<void(Index)>& body;
  const Index count;
  std::atomic<Index> next{0};
  std::mutex mutex;
  Index failed_index = 0;
  std::exception_ptr failure;

  void run() {
    const bool nested = std::exchange(inside_loop, true);
    for (Index i = next++; i < count; i = next++) {
      try {
        body(i);
      } catch (...) {
        const std::lock_guard lock(mutex);
        if (!failure || i < failed_index) {
          failed_index = i;
          failure = std::current_exception();
        }
      }
    }
    inside_loop = nested;
  }
};

/// Yields for a moment, or until there is something to do: a step of a small model is over sooner than a
/// thread that sleeps is awake.
template <class Ready>
void linger(const Ready& ready) {
  constexpr int kYields = 2000;
  for (int i = 0; i < kYields && !ready(); ++i) std::this_thread::yield();
}

/// Threads that sleep between loops. They are started when first wanted and joined when the program ends.
class Pool {
 public:
  ~Pool() {
    {
      const std::lock_guard lock(mutex_);
      closing_ = true;
    }
    wake_.notify_all();
    for (std::thread& worker : workers_) worker.join();
  }

  void run(Loop& loop, int helpers) {
    const std::lock_guard one_loop_at_a_time(entry_);
    {
      const std::lock_guard lock(mutex_);
      while (static_cast<int>(workers_.size()) < helpers) workers_.emplace_back([this] { work(); });
      has_cores_ = static_cast<int>(workers_.size()) < hardware_threads();
      loop_ = &loop;
      wanted_ = helpers;
    }
    wake_.notify_all();
    loop.run();
    if (has_cores_) linger([this] { return busy_ == 0; });
    std::unique_lock lock(mutex_);
    wanted_ = 0;  // a helper that has not woken by now has nothing left to do
    idle_.wait(lock, [this] { return busy_ == 0; });
    loop_ = nullptr;
  }

 private:
  void work() {
    for (;;) {
      if (has_cores_) linger([this] { return closing_ || wanted_ > 0; });
      std::unique_lock lock(mutex_);
      wake_.wait(lock, [this] { return closing_ || wanted_ > 0; });
      if (closing_) return;
      --wanted_;
      ++busy_;
      Loop* loop = loop_;
      lock.unlock();
      loop->run();
      lock.lock();
      if (--busy_ == 0) idle_.notify_one();
    }
  }

  std::mutex entry_;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::condition_variable idle_;
  std::vector<std::thread> workers_;
  Loop* loop_ = nullptr;
  // Written under the mutex; atomic, for threads that linger read them outside.
  std::atomic<int> wanted_ = 0;
  std::atomic<int> busy_ = 0;
  std::atomic<bool> closing_ = false;
  std::atomic<bool> has_cores_ = true;  // one for every thread: otherwise those that linger hold others up
};

void require_threads(int threads) {
  require(threads >= 1, "[parallel_for] expected at least one thread, got {}", threads);
}

}  // namespace

void parallel_for(Index count, int threads, const std::function<void(Index)>& body) {
  require_threads(threads);
  Loop loop(body, count);
  const int helpers = inside_loop ? 0 : static_cast<int>(std::min<Index>(threads, count)) - 1;
  if (helpers < 1) {
    loop.run();
  } else {
    static Pool pool;
    pool.run(loop, helpers);
  }
  if (loop.failure) std::rethrow_exception(loop.failure);
}

void for_each_chunk(Index count, int threads, const std::function<void(Index, Index)>& body) {
  require_threads(threads);
  parallel_for(chunks_of(count), count < kWorthSharing ? 1 : threads,
               [&](Index chunk) { body(chunk * kChunk, std::min(count, (chunk + 1) * kChunk)); });
}

double sum_over_chunks(Index count, int threads, const std::function<double(Index, Index)>& part) {
  std::vector<double> parts(static_cast<std::size_t>(chunks_of(count)));
  for_each_chunk(count, threads, [&](Index begin, Index end) {
    parts[static_cast<std::size_t>(begin / kChunk)] = part(begin, end);
  });
  double sum = 0;
  for (const double one : parts) sum += one;
  return sum;
}

std::vector<int> usable_processors() {
  cpu_set_t set;
  std::vector<int> processors;
  if (sched_getaffinity(0, sizeof(set), &set) != 0) return processors;
  for (int processor = 0; processor < CPU_SETSIZE; ++processor)
    if (CPU_ISSET(processor, &set)) processors.push_back(processor);
  return processors;
}

int hardware_threads() {
  const std::size_t usable = usable_processors().size();
  return std::max(1, static_cast<int>(usable > 0 ? usable : std::thread::hardware_concurrency()));
}

}  // namespace tapehead
