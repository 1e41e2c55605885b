#include "tapehead/tensor/memory.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstdlib>
#include <new>
#include <vector>

namespace tapehead {

namespace {

constexpr std::size_t kAlignment = 64;
constexpr int kClasses = 65;  // a size_t has 0 to 64 bits

std::atomic<Index> bytes_in_use{0};
std::atomic<Index> bytes_at_peak{0};

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

/// One thread's free blocks, by power of two. Whatever is left is freed when the thread ends.
class Store {
 public:
  ~Store();
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

 private:
  struct Free {
    void* address;
    std::size_t bytes;
  };
  std::vector<Free>& shelf_for(std::size_t bytes) {
    return shelves_[static_cast<std::size_t>(std::bit_width(bytes))];
  }
  std::array<std::vector<Free>, kClasses> shelves_;
};

// A block may outlive its thread's store (a static tensor): then it goes straight back to the system.
thread_local bool store_is_open = true;
thread_local Store store;

Store::~Store() {
  store_is_open = false;
  for (auto& shelf : shelves_)
    for (const Free& free : shelf) std::free(free.address);
}

}  // namespace

void BufferDeleter::operator()(Real* block) const noexcept {
  count_bytes(-static_cast<Index>(bytes));
  if (!store_is_open) {
    std::free(block);
    return;
  }
  try {
    store.keep(block, bytes);
  } catch (const std::bad_alloc&) {
    std::free(block);
  }
}

Buffer allocate(Index count) {
  const std::size_t bytes = rounded(std::max(kAlignment, static_cast<std::size_t>(count) * sizeof(Real)));
  void* block = store_is_open ? store.take(bytes) : nullptr;
  if (block == nullptr) block = std::aligned_alloc(kAlignment, bytes);
  if (block == nullptr) throw std::bad_alloc();
  count_bytes(static_cast<Index>(bytes));
  return Buffer(static_cast<Real*>(block), BufferDeleter{bytes});
}

MemoryUse memory_use() { return {bytes_in_use.load(), bytes_at_peak.load()}; }

void reset_peak_memory() { bytes_at_peak = bytes_in_use.load(); }

}  // namespace tapehead
