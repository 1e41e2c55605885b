#include "tapehead/tensor/memory.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstdlib>
#include <mutex>
#include <new>
#include <vector>

namespace tapehead {

namespace {

constexpr std::size_t kAlignment = 64;
constexpr int kClasses = 65;  // a size_t has 0 to 64 bits

std::atomic<Index> bytes_in_use{0};
std::atomic<Index> bytes_at_peak{0};
std::atomic<Index> bytes_obtained{0};

void count_bytes(Index change) {
  const Index now = bytes_in_use.fetch_add(change, std::memory_order_relaxed) + change;
  Index peak = bytes_at_peak.load(std::memory_order_relaxed);
  while (now > peak && !bytes_at_peak.compare_exchange_weak(peak, now, std::memory_order_relaxed)) {
  }
}

/// Sizes are rounded up to an eighth of their power of two, so that few blocks fit many requests.
std::size_t rounded(std::size_t bytes) {
  const std::size_t step = std::max(kAlignment, std::bit_floor(bytes) / 8);
  return (bytes + step - 1) / step * step;
}

/// Free blocks, by power of two.
class Store {
 public:
  ~Store() {
    for (const auto& shelf : shelves_)
      for (const Free& free : shelf) std::free(free.address);
  }

  /// A block of just this size, or null.
  void* take(std::size_t bytes) {
    auto& shelf = shelf_for(bytes);
    for (std::size_t i = shelf.size(); i-- > 0;) {
      if (shelf[i].bytes != bytes) continue;
      void* block = shelf[i].address;
      shelf[i] = shelf.back();
      shelf.pop_back();
      return block;
    }
    return nullptr;
  }
  void keep(void* block, std::size_t bytes) { shelf_for(bytes).push_back({block, bytes}); }
  bool has_room_for(std::size_t bytes) {
    return shelf_for(bytes).size() < (bytes <= kSmall ? kShelfRoom : kShelfRoomForLarge);
  }
  void move_all_to(Store& other) {
    for (auto& shelf : shelves_) {
      for (const Free& free : shelf) other.keep(free.address, free.bytes);
      shelf.clear();
    }
  }

 private:
  static constexpr std::size_t kSmall = 64 * 1024;
  static constexpr std::size_t kShelfRoom = 64;
  static constexpr std::size_t kShelfRoomForLarge = 8;
  struct Free {
    void* address;
    std::size_t bytes;
  };
  std::vector<Free>& shelf_for(std::size_t bytes) {
    return shelves_[static_cast<std::size_t>(std::bit_width(bytes))];
  }
  std::array<std::vector<Free>, kClasses> shelves_;
};

/// What all threads share, so that a block which one takes and another gives back finds its way round. Never
/// destroyed, since static tensors may come back after everything else.
struct Common {
  std::mutex mutex;
  Store store;
};
Common& common() {
  static Common& instance = *new Common;
  return instance;
}

/// A thread's own store spares it the lock, and hands back blocks that are in its core's cache and not in
/// another's; what is left goes to the common one at its end.
constexpr std::size_t kLargestOwn = 1024 * 1024;
thread_local bool own_is_open = true;
struct Own {
  Store store;
  ~Own() {
    own_is_open = false;
    const std::lock_guard lock(common().mutex);
    store.move_all_to(common().store);
  }
};
thread_local Own own;

bool belongs_to_own(std::size_t bytes) { return bytes <= kLargestOwn && own_is_open; }

void* take(std::size_t bytes) {
  if (belongs_to_own(bytes))
    if (void* block = own.store.take(bytes)) return block;
  const std::lock_guard lock(common().mutex);
  return common().store.take(bytes);
}

void keep(void* block, std::size_t bytes) {
  if (belongs_to_own(bytes) && own.store.has_room_for(bytes)) {
    own.store.keep(block, bytes);
    return;
  }
  const std::lock_guard lock(common().mutex);
  common().store.keep(block, bytes);
}

/// A fresh block. Large ones ask for large pages, of which few are touched and few have to be looked up.
void* obtain(std::size_t bytes) {
  constexpr std::size_t kLargePage = std::size_t{1} << 21;
  const bool large = bytes >= 2 * kLargePage;
  const std::size_t alignment = large ? kLargePage : kAlignment;
  void* block = std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
  if (large && block != nullptr)
    madvise(block, bytes, MADV_HUGEPAGE);  // where it cannot be had, nothing is lost
  return block;
}

}  // namespace

void BufferDeleter::operator()(Real* block) const noexcept {
  count_bytes(-static_cast<Index>(bytes));
  try {
    keep(block, bytes);
  } catch (const std::bad_alloc&) {
    std::free(block);
    bytes_obtained -= static_cast<Index>(bytes);
  }
}

Index block_bytes(Index count) {
  return static_cast<Index>(rounded(std::max(kAlignment, static_cast<std::size_t>(count) * sizeof(Real))));
}

Buffer allocate(Index count) {
  const auto bytes = static_cast<std::size_t>(block_bytes(count));
  void* block = take(bytes);
  if (block == nullptr) {
    block = obtain(bytes);
    if (block == nullptr) throw std::bad_alloc();
    bytes_obtained += static_cast<Index>(bytes);
  }
  count_bytes(static_cast<Index>(bytes));
  return Buffer(static_cast<Real*>(block), BufferDeleter{bytes});
}

MemoryUse memory_use() { return {bytes_in_use.load(), bytes_at_peak.load(), bytes_obtained.load()}; }

void reset_peak_memory() { bytes_at_peak = bytes_in_use.load(); }

double physical_memory() {
  return static_cast<double>(::sysconf(_SC_PHYS_PAGES)) * static_cast<double>(::sysconf(_SC_PAGESIZE));
}

}  // namespace tapehead
