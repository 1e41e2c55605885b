#include "tapehead/tensor/memory.h"

#include <atomic>
#include <cstdint>
#include <thread>
#include <utility>
#include <vector>

#include "support/testing.h"

namespace tapehead {

TEST_CASE("a block is aligned and can be written to its end") {
  for (const Index count : {0, 1, 15, 16, 17, 100, 1000, 100'000}) {
    CAPTURE(count);
    const Buffer block = allocate(count);
    CHECK(reinterpret_cast<std::uintptr_t>(block.get()) % 64 == 0);
    CHECK(block.get_deleter().bytes >= static_cast<std::size_t>(count) * sizeof(Real));
    for (Index i = 0; i < count; ++i) block[static_cast<std::size_t>(i)] = static_cast<Real>(i);
  }
}

TEST_CASE("a block is at most an eighth larger than asked for") {
  for (const Index count : {1000, 1025, 5000, 131'073}) {
    const Buffer block = allocate(count);
    const double asked = static_cast<double>(count) * sizeof(Real);
    CHECK(static_cast<double>(block.get_deleter().bytes) <= asked * 1.125 + 64);
  }
}

TEST_CASE("the bytes of a block are known before it is there") {
  for (const Index count : {0, 1, 16, 1000, 1025, 131'073}) {
    CAPTURE(count);
    CHECK(block_bytes(count) == static_cast<Index>(allocate(count).get_deleter().bytes));
  }
}

TEST_CASE("a block given back is handed out again for the same size, and not while it is in use") {
  Buffer first = allocate(5000);
  const Real* address = first.get();
  CHECK(allocate(5000).get() != address);
  first.reset();
  Buffer second = allocate(5000);
  CHECK(second.get() == address);
  CHECK(allocate(5000).get() != address);
}

TEST_CASE("a block of another size is never handed out for a larger one") {
  std::vector<Buffer> blocks;
  for (const Index count : {1000, 1100, 1200, 1500, 1900}) allocate(count).reset();
  for (const Index count : {1000, 1100, 1200, 1500, 1900}) {
    blocks.push_back(allocate(count));
    CHECK(blocks.back().get_deleter().bytes >= static_cast<std::size_t>(count) * sizeof(Real));
  }
}

TEST_CASE("bytes in use rise and fall with the blocks, and the peak stays") {
  const Index before = memory_use().now;
  reset_peak_memory();
  CHECK(memory_use().peak == before);
  Index bytes = 0;
  {
    const Buffer a = allocate(1000);
    const Buffer b = allocate(3000);
    bytes = static_cast<Index>(a.get_deleter().bytes + b.get_deleter().bytes);
    CHECK(memory_use().now == before + bytes);
  }
  CHECK(memory_use().now == before);
  CHECK(memory_use().peak == before + bytes);
  reset_peak_memory();
  CHECK(memory_use().peak == before);
}

TEST_CASE("a block may be given back by another thread than the one that took it, and outlive it") {
  const Index before = memory_use().now;
  Buffer block = allocate(2000);
  std::thread([taken = std::move(block)]() mutable { taken.reset(); }).join();
  CHECK(memory_use().now == before);
  Buffer made_there;
  std::thread([&] { made_there = allocate(2000); }).join();
  made_there[1999] = 1;
  CHECK(made_there[1999] == 1);
  made_there.reset();
  CHECK(memory_use().now == before);
}

TEST_CASE("blocks that one thread takes and another gives back do not pile up") {
  for (const Index count : {100, 2000, 100'000}) {
    CAPTURE(count);
    const auto hand_over = [count] {
      std::vector<Buffer> blocks(8);
      std::thread([&] {
        for (Buffer& block : blocks) block = allocate(count);
      }).join();
    };
    for (int i = 0; i < 20; ++i) hand_over();
    const Index obtained = memory_use().obtained;
    for (int i = 0; i < 200; ++i) hand_over();
    CHECK(memory_use().obtained == obtained);
  }
}

TEST_CASE("no two threads hold the same block, whatever its size") {
  std::atomic<int> overwritten{0};
  const auto hold_many = [&](int thread) {
    for (int round = 0; round < 50; ++round)
      for (const Index count : {100, 20'000, 400'000}) {  // the last from what all threads share
        std::vector<Buffer> blocks(10);
        for (Buffer& block : blocks) {
          block = allocate(count);
          block[0] = static_cast<Real>(thread);
        }
        for (const Buffer& block : blocks) overwritten += block[0] == static_cast<Real>(thread) ? 0 : 1;
      }
  };
  std::thread other(hold_many, 1);
  hold_many(0);
  other.join();
  CHECK(overwritten == 0);
}

TEST_CASE("a block that is held until after its thread's store has closed is given back all the same") {
  const Index before = memory_use().now;
  std::thread([] {
    // Constructed before the thread's store, so destroyed after it.
    thread_local Buffer late;
    late.reset();
    late = allocate(2000);
    late[0] = 1;
  }).join();
  CHECK(memory_use().now == before);
}

}  // namespace tapehead
