#include "fuzz/allocation.h"

#include <malloc.h>

#include <atomic>
#include <cstdlib>
#include <new>

#include "tapehead/tensor/memory.h"

namespace {

std::atomic<tapehead::Index> in_use{0};
std::atomic<tapehead::Index> highest{0};

void* take(std::size_t size) noexcept {
  void* const block = std::malloc(size);
  const auto now = in_use += static_cast<tapehead::Index>(::malloc_usable_size(block));
  for (auto peak = highest.load(); now > peak && !highest.compare_exchange_weak(peak, now);) {
  }
  return block;
}

void* take_or_throw(std::size_t size) {
  void* const block = take(size);
  if (block == nullptr) throw std::bad_alloc();
  return block;
}

void give_back(void* block) noexcept {
  in_use -= static_cast<tapehead::Index>(::malloc_usable_size(block));
  std::free(block);
}

}  // namespace

// All of them, since the address sanitizer has its own for those that are left out.
void* operator new(std::size_t size) { return take_or_throw(size); }
void* operator new[](std::size_t size) { return take_or_throw(size); }
void* operator new(std::size_t size, const std::nothrow_t&) noexcept { return take(size); }
void* operator new[](std::size_t size, const std::nothrow_t&) noexcept { return take(size); }
void operator delete(void* block) noexcept { give_back(block); }
void operator delete[](void* block) noexcept { give_back(block); }
void operator delete(void* block, std::size_t) noexcept { give_back(block); }
void operator delete[](void* block, std::size_t) noexcept { give_back(block); }
void operator delete(void* block, const std::nothrow_t&) noexcept { give_back(block); }
void operator delete[](void* block, const std::nothrow_t&) noexcept { give_back(block); }

namespace tapehead::fuzz {

AllocationPeak::AllocationPeak() : at_start_(in_use + memory_use().now) {
  highest = in_use.load();
  reset_peak_memory();
}

Index AllocationPeak::bytes() const { return highest + memory_use().peak - at_start_; }

}  // namespace tapehead::fuzz
