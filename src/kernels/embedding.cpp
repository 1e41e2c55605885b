#include "tapehead/kernels/embedding.h"

#include <algorithm>

namespace tapehead::kernels {

void embedding_forward(Real* y, const Real* table, const std::int32_t* ids, Index rows, Index width) {
  for (Index i = 0; i < rows; ++i) std::copy_n(table + ids[i] * width, width, y + i * width);
}

void embedding_backward(Real* dtable, const Real* dy, const std::int32_t* ids, Index rows, Index width) {
  for (Index i = 0; i < rows; ++i) {
    // y[i] = table[ids[i]]
    Real* row = dtable + ids[i] * width;
    for (Index j = 0; j < width; ++j) row[j] += dy[i * width + j];
  }
}

}  // namespace tapehead::kernels
