/// Layer normalisation of rows (Ba et al. 2016, equation 4), with the population variance.
#pragma once

#include "tapehead/base/number.h"
#include "tapehead/kernels/sink.h"

namespace tapehead::kernels {

/// y = (x - mean) * scale * gain + bias with scale = 1/sqrt(variance + epsilon); keeps mean and scale of
/// every row for the way back. x, y (rows, width); gain, bias (width), bias or null.
void layer_norm_forward(Real* y, Real* mean, Real* scale, const Real* x, const Real* gain, const Real* bias,
                        Real epsilon, Index rows, Index width);

/// Whichever of dx, dgain, dbias is not null; dgain and dbias are added to.
void layer_norm_backward(Sink dx, Real* dgain, Real* dbias, const Real* dy, const Real* x, const Real* gain,
                         const Real* mean, const Real* scale, Index rows, Index width);

}  // namespace tapehead::kernels
