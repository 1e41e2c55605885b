/// Smeared keys: every key mixed with the one before it (Olsson et al. 2022, "In-context learning and
/// induction heads", argument 2).
#pragma once

#include <cstdint>

#include "tapehead/base/number.h"
#include "tapehead/kernels/sink.h"

namespace tapehead::kernels {

struct SmearSizes {
  Index batch;       ///< B
  Index length;      ///< K
  Index heads;       ///< H
  Index head_width;  ///< D
};

/// y_t = share x_t + (1 - share) x_{t-1} for x (B, K, H*D), with a share (H) a head. y_t = x_t where there is
/// none before it: at t = 0, and where `visible` (B, K), unless null, says 0 of it.
void smear_forward(Real* y, const Real* x, const Real* share, const std::uint8_t* visible, SmearSizes sizes);

/// Whichever of dx and dshare is not null; both are added to.
void smear_backward(Real* dx, Real* dshare, const Real* dy, const Real* x, const Real* share,
                    const std::uint8_t* visible, SmearSizes sizes);

}  // namespace tapehead::kernels
