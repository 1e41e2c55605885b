/// Where a backward kernel puts a gradient.
#pragma once

#include "tapehead/base/number.h"

namespace tapehead::kernels {

/// Backward kernels add to what others have put there: data = keep * data + gradient. `keep` is 1, or 0 for
/// the first to come, who writes the whole without reading what is there. Null: nobody asked for this
/// gradient.
struct Sink {
  Real* data = nullptr;
  Real keep = 1;

  Sink(Real* array, Real kept = 1) : data(array), keep(kept) {}
  explicit operator bool() const { return data != nullptr; }
  Sink operator+(Index offset) const { return {data + offset, keep}; }
};

}  // namespace tapehead::kernels
