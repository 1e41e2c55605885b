#include "tapehead/autograd/fused.h"

#include <cmath>
#include <vector>

#include "tapehead/autograd/tape.h"
#include "tapehead/base/require.h"
#include "tapehead/kernels/cross_entropy.h"
#include "tapehead/kernels/dropout.h"
#include "tapehead/kernels/embedding.h"
#include "tapehead/kernels/layer_norm.h"
#include "tapehead/kernels/linear.h"
#include "tapehead/kernels/rms_norm.h"
#include "tapehead/kernels/swiglu.h"

namespace tapehead {

namespace {

/// For messages: the shape, or () where nothing was given.
const Shape& shape_of(const Variable& x) {
  static const Shape nothing;
  return x ? x.shape() : nothing;
}

bool is_vector(const Variable& x, Index size) { return x.shape().rank() == 1 && x.shape()[0] == size; }

void check_ids(const char* op, const Tokens& ids, Index limit) {
  for (const std::int32_t id : ids.values())
    require(id >= 0 && id < limit, "[{}] expected token ids between 0 and {}, got {}", op, limit - 1, id);
}

/// The targets, checked, with kIgnored for those to be ignored, which the kernels pass over.
Tokens counted_targets(Tokens targets, std::int32_t ignored, Index vocabulary) {
  for (Index b = 0; b < targets.batch(); ++b)
    for (Index t = 0; t < targets.length(); ++t) {
      std::int32_t& target = targets(b, t);
      if (target == ignored) {
        target = kIgnored;
        continue;
      }
      require(target >= 0 && target < vocabulary,
              "[cross_entropy] expected token ids between 0 and {}, or {} where ignored, got {}",
              vocabulary - 1, ignored, target);
    }
  return targets;
}

}  // namespace

Variable linear(const Variable& x, const Variable& weight, const Variable& bias) {
  require(x.shape().rank() >= 1 && weight.shape().rank() == 2 && x.shape()[-1] == weight.shape()[1],
          "[linear] expected x (..., inputs) and weight (outputs, inputs), got {} and {}", shape_of(x),
          shape_of(weight));
  const Index inputs = weight.shape()[1];
  const Index outputs = weight.shape()[0];
  require(!bias || is_vector(bias, outputs), "[linear] expected bias ({}), got {}", outputs, shape_of(bias));
  const Index rows = x.shape().rows();
  Variable y = Variable::result("linear", x.shape().with(-1, outputs), {&x, &weight, &bias});
  kernels::linear_forward(y.output(), x.data(), weight.data(), bias ? bias.data() : nullptr, rows, inputs,
                          outputs);
  record("linear", y, [x, weight, bias, y, rows, inputs, outputs] {
    const kernels::Sink dx = x.gradient_sink();
    const kernels::Sink dweight = weight.gradient_sink();
    kernels::linear_backward(dx, dweight, bias.gradient_sum(), y.upstream(), x.data(), weight.data(), rows,
                             inputs, outputs);
  });
  return y;
}

Variable embedding(const Variable& table, const Tokens& ids) {
  require(table.shape().rank() == 2, "[embedding] expected table (V, C), got {}", shape_of(table));
  check_ids("embedding", ids, table.shape()[0]);
  const Index width = table.shape()[1];
  Variable y = Variable::result("embedding", {ids.batch(), ids.length(), width}, {&table});
  kernels::embedding_forward(y.output(), table.data(), ids.data(), ids.count(), width);
  record("embedding", y, [table, y, ids, width] {
    kernels::embedding_backward(table.gradient_sum(), y.upstream(), ids.data(), ids.count(), width);
  });
  return y;
}

Variable layer_norm(const Variable& x, const Variable& gain, const Variable& bias, Real epsilon) {
  require(x.shape().rank() >= 1 && x.shape()[-1] > 0 && is_vector(gain, x.shape()[-1]) &&
              (!bias || is_vector(bias, x.shape()[-1])),
          "[layer_norm] expected x (..., C), gain (C) and bias (C), got {}, {} and {}", shape_of(x),
          shape_of(gain), shape_of(bias));
  require(epsilon > 0, "[layer_norm] expected an epsilon above 0, got {}", epsilon);
  const Index width = x.shape()[-1];
  const Index rows = x.shape().rows();
  Variable y = Variable::result("layer_norm", x.shape(), {&x, &gain, &bias});
  Tensor means = Tensor::uninitialised({rows});
  Tensor scales = Tensor::uninitialised({rows});
  kernels::layer_norm_forward(y.output(), means.data(), scales.data(), x.data(), gain.data(),
                              bias ? bias.data() : nullptr, epsilon, rows, width);
  record("layer_norm", y,
         [x, gain, bias, y, means = std::move(means), scales = std::move(scales), rows, width] {
           Real* dgain = gain.gradient_sum();
           Real* dbias = bias.gradient_sum();
           kernels::layer_norm_backward(x.gradient_sink(), dgain, dbias, y.upstream(), x.data(), gain.data(),
                                        means.data(), scales.data(), rows, width);
         });
  return y;
}

Variable rms_norm(const Variable& x, const Variable& gain, Real epsilon) {
  require(x.shape().rank() >= 1 && x.shape()[-1] > 0 && is_vector(gain, x.shape()[-1]),
          "[rms_norm] expected x (..., C) and gain (C), got {} and {}", shape_of(x), shape_of(gain));
  require(epsilon > 0, "[rms_norm] expected an epsilon above 0, got {}", epsilon);
  const Index width = x.shape()[-1];
  const Index rows = x.shape().rows();
  Variable y = Variable::result("rms_norm", x.shape(), {&x, &gain});
  Tensor scales = Tensor::uninitialised({rows});
  kernels::rms_norm_forward(y.output(), scales.data(), x.data(), gain.data(), epsilon, rows, width);
  record("rms_norm", y, [x, gain, y, scales = std::move(scales), rows, width] {
    Real* dgain = gain.gradient_sum();
    kernels::rms_norm_backward(x.gradient_sink(), dgain, y.upstream(), x.data(), gain.data(), scales.data(),
                               rows, width);
  });
  return y;
}

Variable dropout(const Variable& x, double p, Generator& generator) {
  require(p >= 0 && p <= 1, "[dropout] expected a probability between 0 and 1, got {}", p);
  if (p == 0) return x;
  std::vector<std::uint8_t> kept(static_cast<std::size_t>(x.shape().count()));
  const double threshold = p * 0x1.0p32;
  for (std::uint8_t& keep : kept) keep = static_cast<double>(generator.bits()) >= threshold ? 1 : 0;
  const Real factor = p < 1 ? static_cast<Real>(1 / (1 - p)) : 0;
  Variable y = Variable::result("dropout", x.shape(), {&x});
  kernels::dropout_forward(y.output(), x.data(), kept.data(), factor, x.shape().count());
  record("dropout", y, [x, y, kept = std::move(kept), factor] {
    kernels::dropout_backward(x.gradient_sum(), y.upstream(), kept.data(), factor, x.shape().count());
  });
  return y;
}

Variable gelu(const Variable& x, GeluForm form) {
  Variable y = Variable::result("gelu", x.shape(), {&x});
  kernels::gelu_forward(y.output(), x.data(), form, x.shape().count());
  record("gelu", y, [x, y, form] {
    kernels::gelu_backward(x.gradient_sink(), y.upstream(), x.data(), form, x.shape().count());
  });
  return y;
}

Variable swiglu(const Variable& gate, const Variable& x) {
  require(gate.shape() == x.shape(), "[swiglu] expected gate and x of one shape, got {} and {}",
          shape_of(gate), shape_of(x));
  const Index count = x.shape().count();
  Variable y = Variable::result("swiglu", x.shape(), {&gate, &x});
  kernels::swiglu_forward(y.output(), gate.data(), x.data(), count);
  record("swiglu", y, [gate, x, y, count] {
    const kernels::Sink dgate = gate.gradient_sink();
    const kernels::Sink dx = x.gradient_sink();
    kernels::swiglu_backward(dgate, dx, y.upstream(), gate.data(), x.data(), count);
  });
  return y;
}

Variable cross_entropy(const Variable& logits, const Tokens& labels, const CrossEntropyOptions& options) {
  const Shape& shape = logits.shape();
  require(shape.rank() == 3 && shape[0] == labels.batch() && shape[1] == labels.length(),
          "[cross_entropy] expected logits (B, T, V) for targets ({}, {}), got {}", labels.batch(),
          labels.length(), shape_of(logits));
  require(options.weights.count() == 0 || options.weights.shape() == shape.without(-1),
          "[cross_entropy] expected weights ({}, {}), got {}", shape[0], shape[1], options.weights.shape());
  for (const Real weight : options.weights.values())
    require(weight >= 0 && std::isfinite(weight), "[cross_entropy] expected weights of at least 0, got {}",
            weight);
  require(options.divisor >= 0, "[cross_entropy] expected a divisor of at least 0, got {}", options.divisor);
  Tokens targets = counted_targets(labels, options.ignored, shape[2]);

  Tensor dlosses(shape.without(-1));  // d loss / d each position's loss, at an upstream of 1
  double counted = 0;
  for (Index i = 0; i < targets.count(); ++i) {
    if (targets.data()[i] == kIgnored) continue;
    dlosses.data()[i] = options.weights.count() == 0 ? 1 : options.weights.data()[i];
    counted += static_cast<double>(dlosses.data()[i]);
  }
  const double divisor = options.divisor > 0 ? options.divisor : counted;
  Tensor losses = Tensor::uninitialised(dlosses.shape());
  kernels::cross_entropy_forward(losses.data(), logits.data(), targets.data(), targets.count(), shape[2]);
  double total = 0;
  for (Index i = 0; i < targets.count(); ++i) {
    if (dlosses.data()[i] == 0) continue;
    total += static_cast<double>(dlosses.data()[i]) * static_cast<double>(losses.data()[i]);
    dlosses.data()[i] = static_cast<Real>(static_cast<double>(dlosses.data()[i]) / divisor);
  }

  Variable loss = Variable::result("cross_entropy", {}, {&logits});
  *loss.output() = static_cast<Real>(counted == 0 ? 0 : total / divisor);
  record("cross_entropy", loss,
         [logits, loss, targets = std::move(targets), dlosses = std::move(dlosses)]() mutable {
           for (Real& dloss : dlosses.values()) dloss *= *loss.upstream();
           kernels::cross_entropy_backward(logits.gradient_sink(), dlosses.data(), logits.data(),
                                           targets.data(), targets.count(), logits.shape()[2]);
         });
  return loss;
}

}  // namespace tapehead
