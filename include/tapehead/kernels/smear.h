/// Smeared keys: every key mixed with the one before it (Olsson et al. 2022, "In-context learning and
/// induction heads", argument 2).
#pragma once

#include "tapehead/base/number.h"
#include "tapehead/kernels/sink.h"

namespace tapehead::kernels {

struct SmearSizes {
  Index batch;       ///< B
  Index length;      ///< K
  Index heads;       ///< H
  Index head_width;  ///< D
};

/// y_t = share x_t + (1 - share) x_{t-1} for x (B, K, H*D), with a share (H) a head; y_0 = x_0.
void smear_forward(Real* y, const Real* x, const Real* share, SmearSizes sizes);

/// Whichever of dx and dshare is not null; both are added to.
void smear_backward(Real* dx, Real* dshare, const Real* dy, const Real* x, const Real* share,
                    SmearSizes sizes);

}  // namespace tapehead::kernels
