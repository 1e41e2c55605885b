/// Rows of a table, by id.
#pragma once

#include <cstdint>

#include "tapehead/base/number.h"

namespace tapehead::kernels {

/// y[i] = table[ids[i]]; y (rows, width), every id inside the table.
void embedding_forward(Real* y, const Real* table, const std::int32_t* ids, Index rows, Index width);

/// dtable[ids[i]] += dy[i], in order, so that repeated ids add up.
void embedding_backward(Real* dtable, const Real* dy, const std::int32_t* ids, Index rows, Index width);

}  // namespace tapehead::kernels
