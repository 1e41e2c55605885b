/// What every backward kernel promises of the sinks it is given.
#include "tapehead/kernels/sink.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "support/functions.h"
#include "tapehead/autograd/fused.h"
#include "tapehead/kernels/attention.h"
#include "tapehead/kernels/cross_entropy.h"
#include "tapehead/kernels/gelu.h"
#include "tapehead/kernels/head_linear.h"
#include "tapehead/kernels/layer_norm.h"
#include "tapehead/kernels/linear.h"
#include "tapehead/kernels/rms_norm.h"
#include "tapehead/kernels/rotary.h"
#include "tapehead/kernels/softmax.h"
#include "tapehead/kernels/swiglu.h"
#include "tapehead/tensor/memory.h"

namespace tapehead {

namespace {

using kernels::Sink;
using testing::random_tensor;

constexpr Real kNan = std::numeric_limits<Real>::quiet_NaN();

/// A backward kernel with inputs of its own, which puts one gradient into each sink. The last `plain` of them
/// are arrays that the kernel always adds to.
struct Kernel {
  std::string name;
  std::vector<Index> counts;
  std::size_t plain;
  std::function<void(const std::vector<Sink>&)> run;
};

Kernel linear(Index size) {
  const Index rows = size, inputs = size + 2, outputs = size + 1;
  return {"linear",
          {rows * inputs, outputs * inputs, outputs},
          1,
          [=, dy = random_tensor({rows, outputs}, 1), x = random_tensor({rows, inputs}, 2),
           weight = random_tensor({outputs, inputs}, 3)](const std::vector<Sink>& to) {
            kernels::linear_backward(to[0], to[1], to[2].data, dy.data(), x.data(), weight.data(), rows,
                                     inputs, outputs);
          }};
}

Kernel layer_norm(Index size) {
  const Tensor x = random_tensor({3, size}, 1);
  const Tensor gain = random_tensor({size}, 2);
  Tensor y(Shape{3, size}), mean(Shape{3}), scale(Shape{3});
  kernels::layer_norm_forward(y.data(), mean.data(), scale.data(), x.data(), gain.data(), nullptr, Real(1e-5),
                              3, size);
  return {"layer_norm",
          {3 * size, size, size},
          2,
          [=, dy = random_tensor({3, size}, 3)](const std::vector<Sink>& to) {
            kernels::layer_norm_backward(to[0], to[1].data, to[2].data, dy.data(), x.data(), gain.data(),
                                         mean.data(), scale.data(), 3, size);
          }};
}

Kernel rms_norm(Index size) {
  const Tensor x = random_tensor({3, size}, 1);
  const Tensor gain = random_tensor({size}, 2);
  Tensor y(Shape{3, size}), factors(Shape{3});
  kernels::rms_norm_forward(y.data(), factors.data(), x.data(), gain.data(), Real(1e-5), 3, size);
  return {
      "rms_norm", {3 * size, size}, 1, [=, dy = random_tensor({3, size}, 3)](const std::vector<Sink>& to) {
        kernels::rms_norm_backward(to[0], to[1].data, dy.data(), x.data(), gain.data(), factors.data(), 3,
                                   size);
      }};
}

Kernel swiglu(Index size) {
  return {"swiglu",
          {size, size},
          0,
          [=, dy = random_tensor({size}, 1), gate = random_tensor({size}, 2),
           x = random_tensor({size}, 3)](const std::vector<Sink>& to) {
            kernels::swiglu_backward(to[0], to[1], dy.data(), gate.data(), x.data(), size);
          }};
}

Kernel rotary(Index length) {
  const kernels::RotarySizes sizes{2, length, 3, 4};
  return {
      "rotary",
      {2 * length * 12},
      0,
      [=, dy = random_tensor({2, length, 12}, 1), angles = random_tensor({length, 4}, 2)](
          const std::vector<Sink>& to) { kernels::rotary_backward(to[0], dy.data(), angles.data(), sizes); }};
}

Kernel head_linear(Index rows) {
  const kernels::HeadLinearSizes sizes{rows, 3, 5};
  return {"head_linear",
          {rows * 15, 15 * 5},
          0,
          [=, dy = random_tensor({rows, 15}, 1), x = random_tensor({rows, 15}, 2),
           weight = random_tensor({15, 5}, 3)](const std::vector<Sink>& to) {
            kernels::head_linear_backward(to[0], to[1], dy.data(), x.data(), weight.data(), sizes);
          }};
}

Kernel gelu(Index size, GeluForm form) {
  return {form == GeluForm::tanh ? "gelu, tanh" : "gelu, erf",
          {size},
          0,
          [=, dy = random_tensor({size}, 1), x = random_tensor({size}, 2)](const std::vector<Sink>& to) {
            kernels::gelu_backward(to[0], dy.data(), x.data(), form, size);
          }};
}

Kernel softmax_row(Index size) {
  return {"softmax_row",
          {size},
          0,
          [=, dp = random_tensor({size}, 1), p = random_tensor({size}, 2)](const std::vector<Sink>& to) {
            kernels::softmax_row_backward(to[0], dp.data(), p.data(), size);
          }};
}

/// Of five rows the second is ignored and the fourth counts for nothing.
Kernel cross_entropy(Index size) {
  Tokens targets = testing::random_tokens(1, 5, size, 1);
  targets(0, 1) = kIgnored;
  Tensor dlosses = random_tensor({5}, 2);
  dlosses(3) = 0;
  return {
      "cross_entropy", {5 * size}, 0, [=, logits = random_tensor({5, size}, 3)](const std::vector<Sink>& to) {
        kernels::cross_entropy_backward(to[0], dlosses.data(), logits.data(), targets.data(), 5, size);
      }};
}

/// Two sequences of two heads; the first key of the second is hidden, so that under the causal mask its first
/// query sees nothing.
Kernel attention_pattern(Index length, bool causal) {
  const kernels::AttentionSizes sizes{2, length, 2, 3};
  const Tensor q = random_tensor({2, length, 6}, 1);
  const Tensor k = random_tensor({2, length, 6}, 2);
  Mask visible(2, length, 1);
  visible(1, 0) = 0;
  Tensor p(Shape{2, 2, length, length});
  kernels::attention_pattern_forward(p.data(), q.data(), k.data(), {}, {causal, visible.data()}, sizes);
  return {causal ? "attention_pattern, causal" : "attention_pattern",
          {q.count(), k.count()},
          0,
          [=, dp = random_tensor(p.shape(), 3)](const std::vector<Sink>& to) {
            kernels::attention_pattern_backward(to[0], to[1], dp.data(), p.data(), q.data(), k.data(), 1,
                                                causal, sizes);
          }};
}

Kernel attention_weights(Index length) {
  const kernels::AttentionSizes sizes{2, length, 2, 3};
  const Tensor p = random_tensor({2, 2, length, length}, 1);
  return {"attention_weights",
          {p.count()},
          0,
          [=, dp = random_tensor(p.shape(), 2)](const std::vector<Sink>& to) {
            kernels::attention_weights_backward(to[0], dp.data(), p.data(), sizes);
          }};
}

/// Patterns that look ahead in every second head.
Kernel attention_mix(Index length) {
  const kernels::AttentionSizes sizes{2, length, 3, 5};
  Tensor p = random_tensor({2, 3, length, length}, 1);
  for (Index head = 0; head < 6; head += 2)
    for (Index i = 0; i < length; ++i)
      for (Index j = i + 1; j < length; ++j) p(head / 3, head % 3, i, j) = 0;
  return {"attention_mix",
          {p.count(), 2 * length * 15},
          0,
          [=, dz = random_tensor({2, length, 15}, 2),
           v = random_tensor({2, length, 15}, 3)](const std::vector<Sink>& to) {
            kernels::attention_mix_backward(to[0], to[1], dz.data(), p.data(), v.data(),
                                            kernels::causal_heads(p.data(), sizes), sizes);
          }};
}

std::vector<Kernel> every_kernel(Index size) {
  return {linear(size),
          layer_norm(size),
          gelu(size, GeluForm::tanh),
          gelu(size, GeluForm::erf),
          softmax_row(size),
          cross_entropy(size),
          attention_pattern(size, true),
          attention_pattern(size, false),
          attention_mix(size),
          attention_weights(size),
          rms_norm(size),
          swiglu(size),
          rotary(size),
          head_linear(size)};
}

/// What a kernel leaves in its arrays where each began with the same number, and was kept or not. Arrays
/// whose bit in `asked` is 0 are not given to it.
std::vector<Tensor> results_of(const Kernel& kernel, Real begin, Real keep, unsigned asked) {
  std::vector<Tensor> arrays;
  std::vector<Sink> sinks;
  for (std::size_t i = 0; i < kernel.counts.size(); ++i) {
    const bool is_plain = i >= kernel.counts.size() - kernel.plain;
    arrays.emplace_back(Shape{kernel.counts[i]});
    arrays.back().fill(is_plain && keep == 0 ? 0 : begin);
    sinks.emplace_back((asked >> i & 1) != 0 ? arrays[i].data() : nullptr, keep);
  }
  kernel.run(sinks);
  return arrays;
}

/// Leaves NaN in blocks that wait to be handed out, of the size of a kernel's scratch rows and tables.
void spoil_memory(Index size) {
  std::vector<Buffer> blocks;
  for (const Index count : {size, size * size})
    for (int i = 0; i < 3; ++i) {
      blocks.push_back(allocate(count));
      std::fill_n(blocks.back().get(), count, kNan);
    }
}

constexpr unsigned kAll = ~0U;

}  // namespace

TEST_CASE("a sink moves along its array and keeps what it is, and one without an array is none") {
  Real array[3] = {1, 2, 3};
  const Sink sink = Sink(array, 0) + 2;
  CHECK(sink.data == array + 2);
  CHECK(sink.keep == 0);
  CHECK(static_cast<bool>(sink));
  CHECK(Sink(array).keep == 1);
  CHECK(!Sink(nullptr));
}

TEST_CASE("the first gradient to come is written over whatever lies there, as it would be added to zeros") {
  for (const Index size : {1, 3, 17, 63, 65})
    for (const Kernel& kernel : every_kernel(size)) {
      CAPTURE(kernel.name);
      CAPTURE(size);
      const std::vector<Tensor> added = results_of(kernel, 0, 1, kAll);
      spoil_memory(size);
      const std::vector<Tensor> written = results_of(kernel, kNan, 0, kAll);
      for (std::size_t i = 0; i < added.size(); ++i) {
        CAPTURE(i);
        testing::check_close(written[i], added[i], 0);
      }
    }
}

TEST_CASE("a later gradient is added to what lies there") {
  for (const Index size : {1, 3, 17, 65})
    for (const Kernel& kernel : every_kernel(size)) {
      CAPTURE(kernel.name);
      CAPTURE(size);
      const std::vector<Tensor> alone = results_of(kernel, 0, 1, kAll);
      const std::vector<Tensor> sum = results_of(kernel, 1, 1, kAll);
      for (std::size_t i = 0; i < alone.size(); ++i) {
        CAPTURE(i);
        Tensor expected = alone[i];
        for (Real& value : expected.values()) value += 1;
        testing::check_close(sum[i], expected);
      }
    }
}

TEST_CASE("a gradient that nobody asks for changes none of the others") {
  for (const Index size : {1, 17, 65})
    for (const Kernel& kernel : every_kernel(size)) {
      CAPTURE(kernel.name);
      CAPTURE(size);
      if (kernel.counts.size() == 1) continue;  // it is not called for nothing
      for (const Real keep : {Real{0}, Real{1}}) {
        const std::vector<Tensor> all = results_of(kernel, 7, keep, kAll);
        for (unsigned asked = 0; asked < 1U << kernel.counts.size(); ++asked) {
          CAPTURE(asked);
          const std::vector<Tensor> some = results_of(kernel, 7, keep, asked);
          for (std::size_t i = 0; i < all.size(); ++i) {
            CAPTURE(i);
            if ((asked >> i & 1) != 0) CHECK(testing::same_bits(some[i], all[i]));
          }
        }
      }
    }
}

}  // namespace tapehead
