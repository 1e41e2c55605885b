#include "tapehead/autograd/recurrence.h"

#include "tapehead/autograd/tape.h"
#include "tapehead/base/require.h"
#include "tapehead/kernels/recurrence.h"

namespace tapehead {

Variable recurrence(const Variable& x, const Variable& weight) {
  const Shape& shape = x.shape();
  require(shape.rank() == 3 && shape.count() > 0 && weight.shape() == Shape({shape[2], shape[2]}),
          "[recurrence] expected x (B, T, C), of at least one number, and weight (C, C), got {} and {}",
          shape, weight.shape());
  const kernels::RecurrenceSizes sizes{shape[0], shape[1], shape[2]};
  Variable h = Variable::result("recurrence", shape, {&x, &weight});
  kernels::recurrence_forward(h.output(), x.data(), weight.data(), sizes);
  record("recurrence", h, [x, weight, h, sizes] {
    kernels::recurrence_backward(x.gradient_sink(), weight.gradient_sink(), h.upstream(), h.data(),
                                 weight.data(), sizes);
  });
  return h;
}

}  // namespace tapehead
