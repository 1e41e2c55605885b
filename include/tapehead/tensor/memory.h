/// Memory for arrays: blocks that are kept and handed out again, since fresh pages cost microseconds each.
#pragma once

#include <cstddef>
#include <memory>

#include "tapehead/base/number.h"

namespace tapehead {

/// Gives a block back to the calling thread's store.
struct BufferDeleter {
  std::size_t bytes = 0;
  void operator()(Real* block) const noexcept;
};

/// An owned block of numbers, 64-byte aligned.
using Buffer = std::unique_ptr<Real[], BufferDeleter>;

/// A block of at least `count` numbers with arbitrary contents. A thread reuses what it gave back before;
/// what it holds is returned to the system when the thread ends. Throws std::bad_alloc.
Buffer allocate(Index count);

/// Bytes of blocks in use, over all threads, now and at the highest since `reset_peak_memory`.
struct MemoryUse {
  Index now = 0;
  Index peak = 0;
};
MemoryUse memory_use();
void reset_peak_memory();

}  // namespace tapehead
