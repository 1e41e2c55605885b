/// Fixed sines and cosines of positions.
#pragma once

#include "tapehead/tensor/tensor.h"

namespace tapehead {

/// (length, width): sin and cos of t / 10000^(2i/C) in columns 2i and 2i + 1 of row t (Vaswani et al. 2017,
/// section 3.5). What Positions::sinusoidal adds, and what Positions::rotary turns by.
Tensor sinusoids(Index length, Index width);

}  // namespace tapehead
