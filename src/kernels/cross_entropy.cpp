#include "tapehead/kernels/cross_entropy.h"

#include <algorithm>
#include <cmath>

#include "tapehead/kernels/lanes.h"
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
    const ExpTotal total = softmax_row(probabilities.get(), row, vocabulary);
    // The large parts are subtracted first: beside them the logarithm would be rounded away.
    losses[i] = std::log(total.sum) + (total.largest - row[targets[i]]);
  }
}

void cross_entropy_backward(Sink dlogits, const Real* dlosses, const Real* logits,
                            const std::int32_t* targets, Index rows, Index vocabulary) {
  const Buffer buffer = allocate(vocabulary);
  Real* probabilities = buffer.get();
  for (Index i = 0; i < rows; ++i) {
    const Sink drow = dlogits + i * vocabulary;
    if (targets[i] < 0 || dlosses[i] == 0) {
      if (drow.keep == 0) std::fill_n(drow.data, vocabulary, Real{0});
      continue;
    }
    // loss = log sum exp(logits) - logit[target]
    softmax_row(probabilities, logits + i * vocabulary, vocabulary);
    for_each_lanes(vocabulary, [&](Index j, Index lanes) {
      put(drow + j, dlosses[i] * load(probabilities + j, lanes), lanes);
    });
    drow.data[targets[i]] -= dlosses[i];
  }
}

}  // namespace tapehead::kernels
