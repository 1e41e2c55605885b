/// Works every example that the two texts work by hand, in their order, with the library's ops, and stands
/// each result beside the text's digits. Status 1 if a digit differs.
///   build/experiments/by_hand
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <vector>

#include "sheet.h"
#include "tapehead/autograd/attention.h"
#include "tapehead/autograd/elementary.h"
#include "tapehead/autograd/fused.h"
#include "tapehead/autograd/matmul.h"
#include "tapehead/autograd/tape.h"
#include "tapehead/nn/one_head_attention.h"

namespace {

using namespace tapehead;
using by_hand::Numbers;
using by_hand::Sheet;

constexpr Real kForbidden = -std::numeric_limits<Real>::infinity();
const double kRootTwo = std::sqrt(2.0);

Variable matrix(const Shape& shape, std::initializer_list<Real> values) {
  return Variable(Tensor(shape, values));
}
Variable row(const Variable& x, Index i) { return slice(x, 0, i, i + 1); }
Variable transposed(const Variable& x) { return transpose(x, 0, 1); }

/// Scores (T, T) with -infinity above the diagonal.
Variable masked(const Variable& scores) {
  const Index length = scores.shape()[0];
  Tensor future(scores.shape());
  Tensor forbidden(scores.shape());
  forbidden.fill(kForbidden);
  for (Index t = 0; t < length; ++t)
    for (Index s = t + 1; s < length; ++s) future(t, s) = 1;
  return where(future, Variable(forbidden), scores);
}

/// The three words of "Attention, slowly": the, cat, sat.
Variable words() { return matrix({3, 4}, {1, 0, 0, 1, 0, 1, 1, 0, 0, 1, 0, 1}); }

void plain_attention(Sheet& sheet) {
  sheet.section("Similarity by dot product");
  const Variable x = words();
  const Variable scores = matmul(x, transposed(x));
  sheet.as_in_text("scores = x xT", scores, {2, 0, 1, 0, 2, 1, 1, 1, 2}, 0);
  sheet.section("Softmax turns scores into weights");
  const Variable powers = exp(row(scores, 2));
  sheet.as_in_text("e^1, e^1, e^2", powers, {2.718, 2.718, 7.389});
  sheet.as_in_text("the sum of these digits", sum(matrix({3}, {Real(2.718), Real(2.718), Real(7.389)})),
                   {12.825});
  sheet.as_another_way("the sum unrounded", sum(powers).value(), {2 * std::exp(1.0) + std::exp(2.0)},
                       "by exp");
  sheet.as_in_text("'sat' by division", powers / sum(powers), {0.212, 0.212, 0.576});
  const Variable weights = softmax(scores);
  sheet.as_in_text("weights = softmax(scores)", weights,
                   {0.665, 0.090, 0.245, 0.090, 0.665, 0.245, 0.212, 0.212, 0.576});
  sheet.section("A weighted sum of the vectors");
  sheet.as_in_text("context = weights x", matmul(weights, x),
                   {0.665, 0.335, 0.090, 0.910, 0.090, 0.910, 0.665, 0.335, 0.212, 0.788, 0.212, 0.788});
}

void queries_keys_values(Sheet& sheet) {
  sheet.section("Queries, keys and values: by hand, with small matrices");
  const Variable x = words();
  const Variable q = matmul(x, matrix({4, 2}, {1, 0, 0, 1, 0, 0, 0, 0}));
  const Variable k = matmul(x, matrix({4, 2}, {0, 0, 0, 0, 1, 0, 0, 1}));
  const Variable v = matmul(x, matrix({4, 2}, {1, 0, 0, 0, 0, 1, 0, 0}));
  sheet.as_in_text("q (queries)", q, {1, 0, 0, 1, 0, 1}, 0);
  sheet.as_in_text("k (keys)", k, {0, 1, 1, 0, 0, 1}, 0);
  sheet.as_in_text("v (values)", v, {1, 0, 0, 1, 0, 0}, 0);
  const Variable scores = matmul(q, transposed(k));
  sheet.as_in_text("scores = q kT", scores, {0, 1, 0, 1, 0, 1, 1, 0, 1}, 0);

  sheet.section("Scaling by the square root of d, and the causal mask");
  const Variable scaled = scale(scores, static_cast<Real>(1 / kRootTwo));
  constexpr double never = -std::numeric_limits<double>::infinity();
  sheet.as_in_text("scores / sqrt(2), masked", masked(scaled),
                   {0, never, never, 0.707, 0, never, 0.707, 0, 0.707});
  const Variable powers = exp(slice(row(scaled, 1), 1, 0, 2));
  sheet.as_in_text("row 2: e^0.707, e^0", powers, {2.028, 1});
  sheet.as_in_text("their sum", sum(powers), {3.028});
  sheet.as_in_text("row 2 by division", powers / sum(powers), {0.670, 0.330});
  const Variable weights = softmax(masked(scaled));
  sheet.as_in_text("weights", weights, {1, 0, 0, 0.670, 0.330, 0, 0.401, 0.198, 0.401});
  sheet.as_in_text("weights v", matmul(weights, v), {1, 0, 0.670, 0.330, 0.401, 0.198});
}

void one_head(Sheet& sheet) {
  sheet.section("One head, as a module: OneHeadAttention(4, 2)");
  Parameters parameters;
  const OneHeadAttention head(Scope(parameters), 4, 2);
  parameters.initialise(1);
  const auto set = [&](const char* name, const std::array<Real, 8>& values) {
    std::copy(values.begin(), values.end(), parameters.change().begin() + parameters.find(name).offset);
  };
  set("query.weight", {1, 0, 0, 0, 0, 1, 0, 0});  // stored (outputs, inputs): transposed
  set("key.weight", {0, 0, 1, 0, 0, 0, 0, 1});
  set("value.weight", {1, 0, 0, 0, 0, 0, 1, 0});
  sheet.as_in_text("m(x), x of shape (1, 3, 4)", head(Pass(), reshape(words(), {1, 3, 4})),
                   {1, 0, 0.670, 0.330, 0.401, 0.198});
}

// Module 6. Queries and keys are the same: pump, valve, tank, or tokens 1, 2, 3.
const Numbers kKeys{1, 0, 0, 1, 1, 1};
const Numbers kValues{1, 0, 0, 2, 3, 3};
Variable module_keys() { return matrix({3, 2}, {1, 0, 0, 1, 1, 1}); }
Variable module_values() { return matrix({3, 2}, {1, 0, 0, 2, 3, 3}); }

void soft_dictionary(Sheet& sheet) {
  sheet.section("Attention as a soft dictionary lookup");
  const Variable v = module_values();
  const Variable q = matrix({1, 2}, {1, 1});
  sheet.as_in_text("hard: table[\"tank\"]", row(v, 2), {3, 3}, 0);
  const Variable scores = scale(matmul(q, transposed(module_keys())), static_cast<Real>(1 / kRootTwo));
  const auto lookup = [&](const char* c, Real factor, const Numbers& weights, const Numbers& output) {
    const Variable w = softmax(scale(scores, factor));
    sheet.as_in_text(fmt::format("{}weights", c), w, weights);
    sheet.as_in_text(fmt::format("{}output", c), matmul(w, v), output);
  };
  const Numbers even{0.333, 0.333, 0.333};
  lookup("soft: ", 1, {0.248, 0.248, 0.503}, {1.759, 2.007});
  lookup("c = 10: ", 10, {0.001, 0.001, 0.998}, {2.996, 2.997});
  lookup("c = 1000, hard: ", 1000, {0, 0, 1}, {3, 3});
  lookup("c = 0.0001: ", Real(1e-4), even, {1.333, 1.667});
  lookup("c = 0, the average: ", 0, even, {1.333, 1.667});
}

/// The three tokens' attention, by the ops of the definition, with everything on the way.
struct Steps {
  Variable q, k, v, scores, scaled, weights, output;

  Steps(Tape& tape, bool causal, bool scaling)
      : q(tape.variable(module_keys().value())),
        k(tape.variable(module_keys().value())),
        v(tape.variable(module_values().value())),
        scores(matmul(q, transposed(k))),
        scaled(scaling ? scale(scores, static_cast<Real>(1 / kRootTwo)) : scores),
        weights(softmax(causal ? masked(scaled) : scaled)),
        output(matmul(weights, v)) {}
};

/// The same in plain loops and double: the weights, (T, T), then the outputs, (T, 2).
struct Plain {
  Numbers weights = Numbers(9, 0.0);
  Numbers output = Numbers(6, 0.0);

  Plain(const Numbers& q, const Numbers& k, const Numbers& v, bool causal, bool scaling) {
    for (std::size_t t = 0; t < 3; ++t) {
      const std::size_t keys = causal ? t + 1 : 3;
      double total = 0;
      for (std::size_t s = 0; s < keys; ++s) {
        const double score = q[2 * t] * k[2 * s] + q[2 * t + 1] * k[2 * s + 1];
        total += weights[3 * t + s] = std::exp(scaling ? score / kRootTwo : score);
      }
      for (std::size_t s = 0; s < keys; ++s) {
        weights[3 * t + s] /= total;
        for (std::size_t d = 0; d < 2; ++d) output[2 * t + d] += weights[3 * t + s] * v[2 * s + d];
      }
    }
  }
};

void three_tokens(Sheet& sheet) {
  sheet.section("Section 3: three tokens, d_k = d_v = 2");
  Tape tape;
  const Steps causal(tape, true, true);
  sheet.as_another_way("scores Q KT", causal.scores.value(), {1, 0, 1, 0, 1, 1, 1, 1, 2}, "by hand");
  const double s = 1 / kRootTwo;
  sheet.as_another_way("scores / sqrt(2)", causal.scaled.value(), {s, 0, s, 0, s, s, s, s, 2 * s}, "by hand");
  sheet.as_in_text("e^0, e^0.707, e^1.414",
                   exp(matrix({3}, {0, static_cast<Real>(s), static_cast<Real>(2 * s)})), {1, 2.028, 4.113});
  const auto show = [&](const char* title, const Steps& steps, bool mask, bool scaling) {
    const Plain plain(kKeys, kKeys, kValues, mask, scaling);
    sheet.section(title);
    sheet.as_another_way("weights", steps.weights.value(), plain.weights, "in plain loops");
    sheet.as_another_way("outputs", steps.output.value(), plain.output, "in plain loops");
  };
  show("The causal case", causal, true, true);
  sheet.as_in_text("row 2: weights", slice(row(causal.weights, 1), 1, 0, 2), {0.330, 0.670});
  sheet.as_in_text("row 3: weights", row(causal.weights, 2), {0.248, 0.248, 0.503});
  sheet.as_in_text("row 1: output, v1", row(causal.output, 0), {1, 0}, 0);
  sheet.as_in_text("row 3: output", row(causal.output, 2), {1.759, 2.007});
  show("Without the mask", Steps(tape, false, true), false, true);
  const Steps unscaled(tape, true, false);
  show("Without the scale", unscaled, true, false);
  sheet.as_in_text("row 3: weight on v3", slice(row(unscaled.weights, 2), 1, 2, 3), {0.576});
  sheet.as_in_text("row 3: output", row(unscaled.output, 2), {1.940, 2.152});
}

/// d o_{3,2} / d each number of q, k or v (`which`), by central differences in double.
Numbers differences(std::size_t which) {
  Numbers gradient;
  for (std::size_t i = 0; i < 6; ++i) {
    const auto at = [&](double step) {
      std::array<Numbers, 3> in{kKeys, kKeys, kValues};
      in[which][i] += step;
      return Plain(in[0], in[1], in[2], true, true).output[5];
    };
    gradient.push_back((at(1e-5) - at(-1e-5)) / 2e-5);
  }
  return gradient;
}

/// Row 3 of the rules: g = dL/dO v_j, and P (g - mean of g).
void backward_by_hand(Sheet& sheet) {
  sheet.section("The backward pass, by hand: L = o_{3,2}");
  Tape tape;
  const Steps steps(tape, true, true);
  const Variable loss = slice(row(steps.output, 2), 1, 1, 2);
  sheet.as_in_text("L", loss, {2.007});
  tape.backward(sum(loss));
  const Plain plain(kKeys, kKeys, kValues, true, true);
  Numbers dscores(6, 0.0);
  for (std::size_t j = 0; j < 3; ++j)
    dscores.push_back(plain.weights[6 + j] * (kValues[2 * j + 1] - plain.output[5]));
  sheet.as_another_way("dL/dP, row 3: v_j's second", row(Variable(steps.weights.gradient()), 2).value(),
                       {0, 2, 3}, "by hand");
  sheet.as_another_way("dL/dS", steps.scaled.gradient(), dscores, "by the row rule");
  const Variable third = row(Variable(steps.scaled.gradient()), 2);
  sheet.as_in_text("dL/ds_31, the pull of key 1", slice(third, 1, 0, 1), {-0.498});
  sheet.as_in_text("dL/ds_33, the pull of key 3", slice(third, 1, 2, 3), {0.500});
  sheet.as_another_way("dL/dQ", steps.q.gradient(), differences(0), "by finite differences");
  sheet.as_in_text("row 3, in the text", row(Variable(steps.q.gradient()), 2), {0.001, 0.352});
  sheet.as_another_way("dL/dK", steps.k.gradient(), differences(1), "by finite differences");
  sheet.as_another_way("dL/dV", steps.v.gradient(), differences(2), "by finite differences");
}

/// The two kernels that the model is made of say the same, with heads and batch of one.
void fused(Sheet& sheet) {
  sheet.section("The same by the model's own two ops, attention_pattern and attention_mix");
  Tape tape;
  const auto recorded = [&](const Variable& x) { return tape.variable(x.value().reshaped({1, 3, 2})); };
  const Variable q = recorded(module_keys());
  const Variable k = recorded(module_keys());
  const Variable v = recorded(module_values());
  const Variable pattern = attention_pattern(q, k, 1);
  const Variable output = attention_mix(pattern, v);
  const Plain plain(kKeys, kKeys, kValues, true, true);
  sheet.as_another_way("pattern", pattern.value(), plain.weights, "in plain loops");
  sheet.as_another_way("output", output.value(), plain.output, "in plain loops");
  tape.backward(sum(slice(slice(output, 1, 2, 3), 2, 1, 2)));
  sheet.as_another_way("dL/dQ", q.gradient(), differences(0), "by finite differences");
  sheet.as_another_way("dL/dK", k.gradient(), differences(1), "by finite differences");
  sheet.as_another_way("dL/dV", v.gradient(), differences(2), "by finite differences");
}

}  // namespace

int main() {
  Sheet sheet;
  sheet.title("Attention, slowly");
  plain_attention(sheet);
  queries_keys_values(sheet);
  one_head(sheet);
  sheet.title("Module 6: The transformer");
  soft_dictionary(sheet);
  three_tokens(sheet);
  backward_by_hand(sheet);
  fused(sheet);
  return sheet.verdict();
}
