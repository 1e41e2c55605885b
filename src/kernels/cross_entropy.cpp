#include "tapehead/kernels/cross_entropy.h"

#include "tapehead/kernels/softmax.h"
#include "tapehead/tensor/memory.h"

namespace tapehead::kernels {

void cross_entropy_forward(Real* losses, const Real* logits, const std::int32_t* targets, Index rows,
                           Index vocabulary) {
  const Buffer probabilities = allocate(vocabulary);
  for (Index i = 0; i < rows; ++i) {
    losses[i] = 0;
    if (targets[i] < 0) continue;
    const Real* row = logits + i * vocabulary;
    const LogTotal total = softmax_row(probabilities.get(), row, vocabulary);
    losses[i] = total.log_rest + (total.largest - row[targets[i]]);
  }
}

void cross_entropy_backward(Real* dlogits, const Real* dlosses, const Real* logits,
                            const std::int32_t* targets, Index rows, Index vocabulary) {
  const Buffer buffer = allocate(vocabulary);
  Real* probabilities = buffer.get();
  for (Index i = 0; i < rows; ++i) {
    if (targets[i] < 0 || dlosses[i] == 0) continue;
    // loss = log sum exp(logits) - logit[target]
    softmax_row(probabilities, logits + i * vocabulary, vocabulary);
    Real* drow = dlogits + i * vocabulary;
    for (Index j = 0; j < vocabulary; ++j) drow[j] += dlosses[i] * probabilities[j];
    drow[targets[i]] -= dlosses[i];
  }
}

}  // namespace tapehead::kernels
