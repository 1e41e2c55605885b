/// Memory for arrays: blocks that are kept and handed out again, since fresh pages cost microseconds each.
#pragma once

#include <cstddef>
#include <memory>

#include "tapehead/base/number.h"

namespace tapehead {

/// Gives a block back, to be handed out again.
struct BufferDeleter {
  std::size_t bytes = 0;
  void operator()(Real* block) const noexcept;
};

/// An owned block of numbers, 64-byte aligned.
using Buffer = std::unique_ptr<Real[], BufferDeleter>;

/// A block of at least `count` numbers with arbitrary contents: one that was given back before, by whatever
/// thread, if there is one of the right size. Nothing is returned to the system. Throws std::bad_alloc.
Buffer allocate(Index count);

/// How many bytes the block has that `allocate(count)` gives.
Index block_bytes(Index count);

/// Bytes of blocks, over all threads.
struct MemoryUse {
  Index now = 0;       ///< in use
  Index peak = 0;      ///< in use at the highest since `reset_peak_memory`
  Index obtained = 0;  ///< taken from the system so far, in use or waiting to be
};
MemoryUse memory_use();
void reset_peak_memory();

/// How many bytes of memory this machine has.
double physical_memory();

}  // namespace tapehead
