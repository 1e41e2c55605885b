#include "support/ops.h"

#include <cmath>

#include "tapehead/autograd/attention.h"
#include "tapehead/autograd/elementary.h"
#include "tapehead/autograd/fused.h"
#include "tapehead/autograd/matmul.h"
#include "tapehead/autograd/recurrence.h"

namespace tapehead::testing {

namespace {

constexpr Real kEpsilon = static_cast<Real>(1e-5);

/// Numbers well above 0, for log, sqrt and divisors.
Tensor positive(const Shape& shape, std::uint64_t seed) {
  Tensor tensor = random_tensor(shape, seed);
  for (Real& value : tensor.values()) value = Real(0.5) + std::abs(value);
  return tensor;
}

void add_one_operand(std::vector<Op>& ops) {
  const std::vector<Tensor> x{random_tensor({2, 3, 4}, 1)};
  const std::vector<Tensor> above_zero{positive({2, 3, 4}, 2)};
  ops.insert(ops.end(), {{"scale", x, [](const Inputs& in) { return scale(in[0], -2.5); }},
                         {"exp", x, [](const Inputs& in) { return exp(in[0]); }},
                         {"log", above_zero, [](const Inputs& in) { return log(in[0]); }},
                         {"sqrt", above_zero, [](const Inputs& in) { return sqrt(in[0]); }},
                         {"tanh", x, [](const Inputs& in) { return tanh(in[0]); }},
                         {"softmax", x, [](const Inputs& in) { return softmax(in[0]); }},
                         {"sum", x, [](const Inputs& in) { return sum(in[0]); }},
                         {"mean", x, [](const Inputs& in) { return mean(in[0]); }},
                         {"reshape", x,
                          [](const Inputs& in) {
                            return reshape(in[0], {4, 6});
                          }},
                         {"transpose", x, [](const Inputs& in) { return transpose(in[0], 0, -1); }},
                         {"gather", x, [](const Inputs& in) {
                            return gather(in[0], Tokens(2, 3, {3, 3, 0, 1, 1, 1}));
                          }}});
  for (const int axis : {0, 1, 2, -1}) {
    const std::string along = " along axis " + std::to_string(axis);
    ops.push_back({"sum" + along, x, [axis](const Inputs& in) { return sum(in[0], axis); }});
    ops.push_back({"mean" + along, x, [axis](const Inputs& in) { return mean(in[0], axis); }});
    ops.push_back({"max" + along, x, [axis](const Inputs& in) { return max(in[0], axis); }});
    ops.push_back({"slice" + along, x, [axis](const Inputs& in) { return slice(in[0], axis, 1, 2); }});
  }
}

void add_two_operands(std::vector<Op>& ops) {
  const Shape shapes[][2] = {{{2, 3, 4}, {2, 3, 4}}, {{2, 3, 4}, {4}},       {{4}, {2, 3, 4}},
                             {{2, 3, 4}, {3, 1}},    {{2, 1, 4}, {1, 3, 1}}, {{2, 3}, {}},
                             {{}, {2, 3}},           {{1, 1, 3}, {3}},       {{3}, {1, 1, 3}}};
  for (const auto& [a, b] : shapes) {
    const std::vector<Tensor> inputs{random_tensor(a, 3), positive(b, 4)};
    const std::string of = " of " + to_string(a) + " and " + to_string(b);
    ops.push_back({"add" + of, inputs, [](const Inputs& in) { return in[0] + in[1]; }});
    ops.push_back({"subtract" + of, inputs, [](const Inputs& in) { return in[0] - in[1]; }});
    ops.push_back({"multiply" + of, inputs, [](const Inputs& in) { return in[0] * in[1]; }});
    ops.push_back({"divide" + of, inputs, [](const Inputs& in) { return in[0] / in[1]; }});
  }
  ops.push_back({"where", {random_tensor({2, 2}, 5), random_tensor({2, 2}, 6)}, [](const Inputs& in) {
                   return where(Tensor({2, 2}, {1, 0, 0, 1}), in[0], in[1]);
                 }});
}

void add_matrix_products(std::vector<Op>& ops) {
  const Shape shapes[][2] = {{{3, 4}, {4, 2}},          {{2, 3, 4}, {4, 2}},
                             {{3, 4}, {2, 4, 2}},       {{2, 1, 3, 4}, {5, 4, 1}},
                             {{1, 3, 4}, {2, 5, 4, 2}}, {{2, 5, 1, 4}, {2, 1, 4, 3}}};
  for (const auto& [a, b] : shapes)
    ops.push_back({"matmul of " + to_string(a) + " and " + to_string(b),
                   {random_tensor(a, 7), random_tensor(b, 8)},
                   [](const Inputs& in) { return matmul(in[0], in[1]); }});
}

void add_position_wise(std::vector<Op>& ops) {
  const Tensor x = random_tensor({2, 3, 4}, 11);
  const Tensor weight = random_tensor({5, 4}, 12);
  const Tensor gain = random_tensor({4}, 13);
  const Tensor bias = random_tensor({4}, 14);
  ops.insert(
      ops.end(),
      {{"linear",
        {x, weight, random_tensor({5}, 15)},
        [](const Inputs& in) { return linear(in[0], in[1], in[2]); }},
       {"linear without bias", {x, weight}, [](const Inputs& in) { return linear(in[0], in[1]); }},
       {"embedding",
        {weight},
        [](const Inputs& in) {
          return embedding(in[0], Tokens(2, 3, {1, 1, 0, 4, 1, 4}));
        }},
       {"layer_norm",
        {x, gain, bias},
        [](const Inputs& in) { return layer_norm(in[0], in[1], in[2], kEpsilon); }},
       {"layer_norm without bias",
        {x, gain},
        [](const Inputs& in) { return layer_norm(in[0], in[1], {}, kEpsilon); }},
       {"rms_norm", {x, gain}, [](const Inputs& in) { return rms_norm(in[0], in[1], kEpsilon); }},
       {"swiglu", {x, random_tensor({2, 3, 4}, 16)}, [](const Inputs& in) { return swiglu(in[0], in[1]); }},
       {"dropout",
        {x},
        [](const Inputs& in) {
          Generator generator(1, Purpose::dropout);
          return dropout(in[0], 0.4, generator);
        }},
       {"gelu in its tanh form", {x}, [](const Inputs& in) { return gelu(in[0], GeluForm::tanh); }},
       {"gelu in its erf form", {x}, [](const Inputs& in) { return gelu(in[0], GeluForm::erf); }}});
}

void add_attention(std::vector<Op>& ops) {
  const std::vector<Tensor> q_and_k{random_tensor({2, 3, 4}, 21), random_tensor({2, 3, 4}, 22)};
  // The first query of the first sequence, and all of the second, may see no key.
  const Mask padding(2, 3, {0, 1, 1, 0, 0, 0});
  ops.insert(
      ops.end(),
      {{"attention_pattern", q_and_k, [](const Inputs& in) { return attention_pattern(in[0], in[1], 2); }},
       {"attention_pattern with padding", q_and_k,
        [=](const Inputs& in) { return attention_pattern(in[0], in[1], 2, {.visible = padding}); }},
       {"attention_pattern without the causal mask", q_and_k,
        [=](const Inputs& in) {
          return attention_pattern(in[0], in[1], 1, {.causal = false, .visible = padding});
        }},
       {"attention_pattern of a text that is read on",
        {random_tensor({2, 2, 4}, 25), random_tensor({2, 5, 4}, 26)},
        [](const Inputs& in) { return attention_pattern(in[0], in[1], 2); }},
       {"attention_mix of a text that is read on",
        {random_tensor({2, 2, 2, 5}, 27), random_tensor({2, 5, 4}, 28)},
        [](const Inputs& in) { return attention_mix(in[0], in[1]); }},
       {"attention_mix",
        {random_tensor({2, 2, 3, 3}, 23), random_tensor({2, 3, 4}, 24)},
        [](const Inputs& in) { return attention_mix(in[0], in[1]); }},
       {"tiled_attention",
        {random_tensor({2, 3, 4}, 41), random_tensor({2, 3, 4}, 42), random_tensor({2, 3, 4}, 43)},
        [=](const Inputs& in) { return tiled_attention(in[0], in[1], in[2], 2, {.visible = padding}); }}});
}

/// What may become of queries, keys and scores on the way to the pattern.
void add_scores(std::vector<Op>& ops) {
  const Tensor queries = random_tensor({2, 2, 4}, 41);
  const Tensor keys = random_tensor({2, 3, 4}, 42);
  const Tensor angles({3, 2}, {0, 1, Real(0.6), Real(0.8), Real(-0.8), Real(0.6)});
  const Scoring sloping{.scale = 0.7, .slopes = {Real(0.5), Real(0.25)}};
  const Mask padding(2, 3, {0, 1, 1, 0, 0, 0});
  ops.insert(
      ops.end(),
      {{"attention_pattern with slopes",
        {queries, keys},
        [=](const Inputs& in) { return attention_pattern(in[0], in[1], 2, {}, sloping); }},
       {"additive_scores",
        {queries, keys, random_tensor({2, 2}, 43)},
        [](const Inputs& in) { return additive_scores(in[0], in[1], in[2], true); }},
       {"additive_scores of all keys",
        {queries, keys, random_tensor({1, 4}, 44)},
        [](const Inputs& in) { return additive_scores(in[0], in[1], in[2], false); }},
       {"attention_weights",
        {random_tensor({2, 2, 2, 3}, 45)},
        [=](const Inputs& in) { return attention_weights(in[0], {.visible = padding}, sloping.slopes); }},
       {"attention_weights without the causal mask",
        {random_tensor({2, 1, 3, 3}, 46)},
        [=](const Inputs& in) { return attention_weights(in[0], {.causal = false, .visible = padding}); }},
       {"head_linear",
        {keys, random_tensor({4, 2}, 47)},
        [](const Inputs& in) { return head_linear(in[0], in[1]); }},
       {"rotary", {keys}, [=](const Inputs& in) { return rotary(in[0], Variable(angles)); }},
       {"smear", {keys, random_tensor({2}, 48)}, [](const Inputs& in) { return smear(in[0], in[1]); }},
       {"smear after padding", {keys, random_tensor({2}, 49)}, [=](const Inputs& in) {
          return smear(in[0], in[1], padding);
        }}});
}

void add_recurrence(std::vector<Op>& ops) {
  ops.push_back({"recurrence",
                 {random_tensor({2, 3, 4}, 41), random_tensor({4, 4}, 42, 0.5)},
                 [](const Inputs& in) { return recurrence(in[0], in[1]); }});
}

void add_cross_entropy(std::vector<Op>& ops) {
  const std::vector<Tensor> logits{random_tensor({2, 3, 5}, 31)};
  const Tokens targets(2, 3, {1, kIgnored, 0, 4, 4, kIgnored});
  const Tensor weights({2, 3}, {1, 2, Real(0.5), 0, 3, 1});
  ops.insert(
      ops.end(),
      {{"cross_entropy", logits, [=](const Inputs& in) { return cross_entropy(in[0], targets); }},
       {"cross_entropy with weights", logits,
        [=](const Inputs& in) { return cross_entropy(in[0], targets, {.weights = weights, .divisor = 7}); }},
       {"cross_entropy with an id ignored", logits, [=](const Inputs& in) {
          return cross_entropy(in[0], Tokens(2, 3, {1, 4, 0, 4, 3, 2}), {.ignored = 4});
        }}});
}

}  // namespace

std::vector<Op> elementary_ops() {
  std::vector<Op> ops;
  add_one_operand(ops);
  add_two_operands(ops);
  add_matrix_products(ops);
  return ops;
}

std::vector<Op> fused_ops() {
  std::vector<Op> ops;
  add_position_wise(ops);
  add_attention(ops);
  add_scores(ops);
  add_recurrence(ops);
  add_cross_entropy(ops);
  return ops;
}

std::vector<Op> every_op() {
  std::vector<Op> ops = elementary_ops();
  for (Op& op : fused_ops()) ops.push_back(std::move(op));
  return ops;
}

}  // namespace tapehead::testing
