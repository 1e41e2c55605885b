/// Cross entropy of rows of logits, in nats.
#pragma once

#include <cstdint>

#include "tapehead/base/number.h"
#include "tapehead/kernels/sink.h"

namespace tapehead::kernels {

/// losses[i] = -log softmax(logits[i])[targets[i]]; a negative target gives loss 0. logits (rows,
/// vocabulary); every target below vocabulary.
void cross_entropy_forward(Real* losses, const Real* logits, const std::int32_t* targets, Index rows,
                           Index vocabulary);

/// dlogits[i] from dlosses[i] * (softmax(logits[i]) - onehot(targets[i])); negative targets give nothing.
void cross_entropy_backward(Sink dlogits, const Real* dlosses, const Real* logits,
                            const std::int32_t* targets, Index rows, Index vocabulary);

}  // namespace tapehead::kernels
