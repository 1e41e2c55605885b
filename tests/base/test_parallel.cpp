#include "tapehead/base/parallel.h"

#include <algorithm>
#include <atomic>
#include <initializer_list>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "support/testing.h"
#include "tapehead/base/require.h"

namespace tapehead {

namespace {

constexpr Index kChunk = 8192;  // numbers that for_each_chunk keeps together

std::size_t at(Index i) { return static_cast<std::size_t>(i); }

}  // namespace

TEST_CASE("each index runs exactly once on any number of threads") {
  for (const int threads : {1, 2, 8})
    for (const Index count : std::initializer_list<Index>{0, 1, 7, 1000}) {
      CAPTURE(threads);
      CAPTURE(count);
      std::vector<int> runs(at(count), 0);
      parallel_for(count, threads, [&](Index i) { ++runs.at(at(i)); });
      CHECK(runs == std::vector<int>(at(count), 1));
    }
}

TEST_CASE("a loop of fewer than no indices runs nothing") {
  for (const int threads : {1, 2})
    CHECK_NOTHROW(parallel_for(-3, threads, [](Index) { throw Error("ran"); }));
}

TEST_CASE("two threads do run at the same time") {
  std::atomic<int> arrived{0};
  parallel_for(2, 2, [&](Index) {
    ++arrived;
    while (arrived < 2) std::this_thread::yield();
  });
  CHECK(arrived == 2);
}

TEST_CASE("never more threads run than were asked for") {
  std::atomic<int> inside{0};
  std::atomic<int> most{0};
  parallel_for(8, 8, [](Index) {});
  parallel_for(200, 2, [&](Index) {
    const int now = ++inside;
    int before = most;
    while (now > before && !most.compare_exchange_weak(before, now)) {
    }
    std::this_thread::yield();
    --inside;
  });
  CHECK(most >= 1);
  CHECK(most <= 2);
}

TEST_CASE("a loop inside a loop runs each of its indices once, on the thread it was called from") {
  std::vector<int> runs(20, 0);
  std::atomic<int> elsewhere{0};
  parallel_for(4, 8, [&](Index i) {
    const std::thread::id outer = std::this_thread::get_id();
    parallel_for(5, 8, [&](Index j) {
      ++runs.at(at(5 * i + j));
      if (std::this_thread::get_id() != outer) ++elsewhere;
    });
    parallel_for(5, 8, [&](Index) {
      if (std::this_thread::get_id() != outer) ++elsewhere;
    });
  });
  CHECK(runs == std::vector<int>(20, 1));
  CHECK(elsewhere == 0);
}

TEST_CASE("the exception of the lowest index is rethrown after all others have run") {
  for (const int threads : {1, 2, 8}) {
    CAPTURE(threads);
    std::vector<int> runs(50, 0);
    const auto body = [&](Index i) {
      ++runs.at(at(i));
      if (i % 10 == 3) throw Error("index " + std::to_string(i));
    };
    CHECK_THROWS_WITH_AS(parallel_for(50, threads, body), "index 3", Error);
    CHECK(runs == std::vector<int>(50, 1));
  }
}

TEST_CASE("of two exceptions at the same time the one of the lower index is rethrown") {
  for (int i = 0; i < 20; ++i) {
    std::atomic<int> arrived{0};
    const auto meet_and_throw = [&](Index index) {
      ++arrived;
      while (arrived < 2) std::this_thread::yield();
      throw Error("index " + std::to_string(index));
    };
    CHECK_THROWS_WITH_AS(parallel_for(2, 2, meet_and_throw), "index 0", Error);
  }
}

TEST_CASE("inner loops keep the same promise about exceptions") {
  std::vector<int> runs(20, 0);
  const auto outer = [&](Index i) {
    parallel_for(10, 2, [&](Index j) {
      ++runs.at(at(10 * i + j));
      if (j == 2 || j == 5) throw Error("indices " + std::to_string(i) + " " + std::to_string(j));
    });
  };
  CHECK_THROWS_WITH_AS(parallel_for(2, 2, outer), "indices 0 2", Error);
  CHECK(runs == std::vector<int>(20, 1));
}

TEST_CASE("a loop after one that failed is a fresh start") {
  CHECK_THROWS_AS(parallel_for(4, 2, [](Index) { throw Error("all"); }), Error);
  std::vector<int> runs(100, 0);
  CHECK_NOTHROW(parallel_for(100, 2, [&](Index i) { ++runs.at(at(i)); }));
  CHECK(runs == std::vector<int>(100, 1));
}

TEST_CASE("two callers at once each get their whole loop") {
  std::vector<int> here(300, 0);
  std::vector<int> there(300, 0);
  std::thread other([&] { parallel_for(300, 2, [&](Index i) { ++there.at(at(i)); }); });
  parallel_for(300, 2, [&](Index i) { ++here.at(at(i)); });
  other.join();
  CHECK(here == std::vector<int>(300, 1));
  CHECK(there == std::vector<int>(300, 1));
}

TEST_CASE("chunks cover each number once, and are the same for any number of threads") {
  for (const Index count : std::initializer_list<Index>{0, 1, kChunk - 1, kChunk, kChunk + 1, 2 * kChunk - 1,
                                                        2 * kChunk, 1'000'000}) {
    CAPTURE(count);
    std::vector<std::pair<Index, Index>> first;
    for (const int threads : {1, 2, 3, 8}) {
      CAPTURE(threads);
      std::vector<unsigned char> visits(at(count), 0);
      std::mutex mutex;
      std::vector<std::pair<Index, Index>> chunks;
      for_each_chunk(count, threads, [&](Index begin, Index end) {
        for (Index i = begin; i < end; ++i) ++visits[at(i)];
        const std::lock_guard lock(mutex);
        chunks.emplace_back(begin, end);
      });
      CHECK(visits == std::vector<unsigned char>(at(count), 1));
      std::sort(chunks.begin(), chunks.end());
      for (const auto& [begin, end] : chunks) CHECK(begin < end);
      if (threads == 1) first = chunks;
      CHECK(chunks == first);
    }
  }
}

TEST_CASE("a loop in chunks with too little to share stays on the calling thread") {
  std::atomic<int> elsewhere{0};
  const std::thread::id here = std::this_thread::get_id();
  for_each_chunk(2 * kChunk - 1, 8, [&](Index, Index) {
    if (std::this_thread::get_id() != here) ++elsewhere;
  });
  CHECK(elsewhere == 0);
}

TEST_CASE("a loop in many chunks is shared among threads") {
  std::atomic<int> arrived{0};
  for_each_chunk(1'000'000, 2, [&](Index, Index) {
    // The first to come waits for another to come.
    ++arrived;
    while (arrived < 2) std::this_thread::yield();
  });
  CHECK(arrived >= 2);
}

TEST_CASE("a sum over chunks has the same bits for any number of threads, and every part in it once") {
  for (const Index count : std::initializer_list<Index>{0, 1, kChunk + 1, 1'000'000}) {
    CAPTURE(count);
    // Harmonic numbers: their sum's last bits depend on the order of its additions.
    const auto part = [](Index begin, Index end) {
      double sum = 0;
      for (Index i = begin; i < end; ++i) sum += 1 / static_cast<double>(i + 1);
      return sum;
    };
    const double alone = sum_over_chunks(count, 1, part);
    for (const int threads : {2, 3, 8}) CHECK(sum_over_chunks(count, threads, part) == alone);
    CHECK(alone == doctest::Approx(part(0, count)).epsilon(1e-12));
    CHECK(sum_over_chunks(count, 3, [](Index begin, Index end) {
            return static_cast<double>(end - begin);
          }) == static_cast<double>(count));
  }
}

TEST_CASE("parts of a sum are added in the order of their chunks") {
  // Seven chunks: the small parts are lost beside the large one, but not after it has gone again.
  const double large = 1e30;
  const auto part = [&](Index begin, Index) {
    const Index chunk = begin / kChunk;
    return chunk == 1 ? large : chunk == 3 ? -large : 1;
  };
  for (const int threads : {1, 2, 3}) CHECK(sum_over_chunks(7 * kChunk, threads, part) == 3);
}

TEST_CASE("chunks that throw let all others run, and the exception of the lowest is rethrown") {
  for (const Index count : {131'072, 1'000'000})
    for (const int threads : {1, 2, 8}) {
      CAPTURE(count);
      CAPTURE(threads);
      std::vector<int> visits(at(count), 0);
      const auto body = [&](Index begin, Index end) {
        for (Index i = begin; i < end; ++i) ++visits[at(i)];
        if (begin > 0) throw Error("from " + std::to_string(begin));
      };
      CHECK_THROWS_WITH_AS(for_each_chunk(count, threads, body), "from 8192", Error);
      CHECK(visits == std::vector<int>(at(count), 1));
      CHECK_THROWS_WITH_AS(sum_over_chunks(count, threads,
                                           [&](Index begin, Index end) {
                                             body(begin, end);
                                             return 1.0;
                                           }),
                           "from 8192", Error);
      CHECK(visits == std::vector<int>(at(count), 2));
    }
}

TEST_CASE("fewer than one thread is refused before anything runs") {
  for (const int threads : {0, -1}) {
    int runs = 0;
    CHECK_THROWS_AS(parallel_for(3, threads, [&](Index) { ++runs; }), Error);
    CHECK(runs == 0);
  }
}

TEST_CASE("the machine runs at least one thread") { CHECK(hardware_threads() >= 1); }

TEST_CASE("chunks on no thread are refused, however few numbers there are") {
  CHECK_THROWS_AS(for_each_chunk(10, 0, [](Index, Index) {}), Error);
  CHECK_THROWS_AS(sum_over_chunks(10, 0, [](Index, Index) { return 0.0; }), Error);
}

}  // namespace tapehead
