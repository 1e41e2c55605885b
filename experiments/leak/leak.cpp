/// What the causal mask hides: one token is changed, and it is seen which outputs move, with the mask and
/// without, in one attention layer and in a whole model. And what no mask and no positions leave: outputs
/// that do not know the order of their inputs. Status 1 if something moves that must not, or does not that
/// must.
///   build/experiments/leak [FILE]     FILE: a row for every token changed and position, for the figure
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <fstream>
#include <iostream>
#include <numeric>
#include <string>
#include <vector>

#include "room.h"
#include "tapehead/autograd/elementary.h"
#include "tapehead/base/random.h"
#include "tapehead/base/require.h"
#include "tapehead/nn/transformer.h"

namespace {

using namespace tapehead;
using namespace tapehead::room;

const AttentionMask kCausal{};
const AttentionMask kNone{.causal = false, .visible = {}};
/// Above what a few hundred roundings can come to, in outputs of the size of 1.
constexpr double kRounding = 1e-5;

/// How far apart two arrays (1, T, C) are at every position: the sum of absolute differences.
std::vector<double> moved(const Tensor& a, const Tensor& b) {
  const Index width = a.shape()[2];
  std::vector<double> sums;
  for (Index t = 0; t < a.shape()[1]; ++t) {
    double total = 0;
    for (Index c = 0; c < width; ++c) total += std::abs(static_cast<double>(a(0, t, c) - b(0, t, c)));
    sums.push_back(total);
  }
  return sums;
}

/// The largest of them.
double farthest(const Tensor& a, const Tensor& b) {
  const std::vector<double> sums = moved(a, b);
  return *std::max_element(sums.begin(), sums.end());
}

/// The positions of x (1, T, C) in another order.
Tensor in_order(const Tensor& x, const std::vector<Index>& order) {
  Tensor result(x.shape());
  for (Index t = 0; t < x.shape()[1]; ++t)
    for (Index c = 0; c < x.shape()[2]; ++c) result(0, t, c) = x(0, order[static_cast<std::size_t>(t)], c);
  return result;
}
Tokens in_order(const Tokens& x, const std::vector<Index>& order) {
  Tokens result(1, x.length());
  for (Index t = 0; t < x.length(); ++t) result(0, t) = x(0, order[static_cast<std::size_t>(t)]);
  return result;
}

/// Takes the mask off every layer of a Transformer: puts the pattern that the same queries and keys have
/// without.
class Unmasked : public Watcher {
 public:
  void check(const ModelConfig&) const override {}
  void finish(const std::vector<Site>&) const override {}
  Variable visit(const Visit& at, const Variable& value) override {
    if (at.site.kind == SiteKind::queries) queries_ = value;
    if (at.site.kind == SiteKind::keys) keys_ = value;
    if (at.site.kind != SiteKind::pattern) return value;
    return attention_pattern(queries_, keys_, at.heads, kNone);
  }

 private:
  Variable queries_;
  Variable keys_;
};

Tensor normals(const Shape& shape, Index stream) {
  Generator generator(123, Purpose::evaluation, stream);
  return room::normals(shape, generator);
}

std::string in_line(const std::vector<double>& values) {
  std::string line;
  for (const double value : values) line += value == 0 ? "      0" : fmt::format(" {:>6.3f}", value);
  return line;
}

/// The text's own case: one head, vectors of 4 numbers, three of them.
void one_layer() {
  Parameters parameters;
  const CausalSelfAttention attention(Scope(parameters), {.width = 4, .heads = 1, .context = 8});
  parameters.initialise(123);
  const auto output = [&](const Tensor& x, const AttentionMask& mask) {
    Pass pass;
    return attention(pass, Variable(x), 0, mask).value();
  };
  const Tensor x = normals({1, 3, 4}, 0);
  Tensor changed = x;
  const Tensor other = normals({4}, 1);
  for (Index c = 0; c < 4; ++c) changed(0, 2, c) = other(c);
  std::cout << "one attention layer, the last of three vectors changed: how far each output moved\n";
  const auto with = moved(output(x, kCausal), output(changed, kCausal));
  const auto without = moved(output(x, kNone), output(changed, kNone));
  const bool seen = std::all_of(without.begin(), without.end(), [](double value) { return value > 0.01; });
  std::cout << fmt::format("  with the mask    {}   in the text: 0.000 0.000 0.299{}\n", in_line(with),
                           judged(with[0] == 0 && with[1] == 0 && with[2] > 0.01))
            << fmt::format("  without the mask {}   in the text: 0.334 0.171 0.299{}\n", in_line(without),
                           judged(seen && std::abs(with[2] - without[2]) < kRounding));

  std::cout
      << "\nthe same layer, the three vectors in all six orders: how far outputs are from the first order's\n"
      << "  order   without the mask   with the mask\n";
  std::vector<Index> order{0, 1, 2};
  do {
    const double free = farthest(output(in_order(x, order), kNone), in_order(output(x, kNone), order));
    const double masked = farthest(output(in_order(x, order), kCausal), in_order(output(x, kCausal), order));
    const bool first = std::is_sorted(order.begin(), order.end());
    std::cout << fmt::format("  {} {} {}   {:>16.1e}   {:>13.3f}{}\n", order[0] + 1, order[1] + 1,
                             order[2] + 1, free, masked,
                             judged(free < kRounding && (masked > 0.01) == !first));
  } while (std::next_permutation(order.begin(), order.end()));
}

ModelConfig with_everything(Positions positions) {
  ModelConfig config{
      .vocabulary = 16, .context = 8, .width = 32, .heads = 4, .layers = 2, .feed_forward = 64};
  config.norm = NormKind::layer;
  config.qkv_bias = true;
  config.bias = true;
  config.positions = positions;
  return config;
}

Tensor logits_of(const Transformer& model, const Tokens& tokens, bool mask) {
  Unmasked unmasked;
  return model(mask ? Pass() : Pass().watched_by({unmasked}), tokens).value();
}

const Tokens kSequence(1, 8, {3, 11, 7, 0, 14, 5, 9, 2});

/// Every token changed in turn. Returns the rows of the figure's table.
std::string changes(const Transformer& model, bool mask) {
  std::cout << fmt::format("\na model of two layers {} the mask: how far the logits at each position moved\n",
                           mask ? "with" : "without")
            << "  changed        1      2      3      4      5      6      7      8\n";
  std::string table;
  const Tensor before = logits_of(model, kSequence, mask);
  for (Index t = 0; t < kSequence.length(); ++t) {
    Tokens changed = kSequence;
    changed(0, t) = 8;
    const std::vector<double> far = moved(before, logits_of(model, changed, mask));
    bool good = true;
    for (Index s = 0; s < kSequence.length(); ++s) {
      const double value = far[static_cast<std::size_t>(s)];
      good = good && (mask && s < t ? value == 0 : value > kRounding);
      table += fmt::format("{},{},{},{}\n", mask ? "with" : "without", t + 1, s + 1, value);
    }
    std::cout << fmt::format("  {:>7}  {}{}\n", t + 1, in_line(far), judged(good));
  }
  return table;
}

/// The largest part of d logits at t / d what entered the first block at s, over all s > t.
double gradient_from_the_future(const Transformer& model, bool mask) {
  double largest = 0;
  for (Index t = 0; t < kSequence.length(); ++t) {
    Tape tape;
    Unmasked unmasked;
    Pass pass(tape);
    const Variable entered = tape.variable(normals({1, kSequence.length(), model.config().width}, 2));
    const Variable logits =
        model.from_layer(mask ? std::move(pass) : std::move(pass).watched_by({unmasked}), 0, entered);
    tape.backward(sum(slice(logits, 1, t, t + 1) * slice(logits, 1, t, t + 1)));
    const Tensor gradient = entered.gradient();
    for (Index s = t + 1; s < kSequence.length(); ++s)
      for (Index c = 0; c < model.config().width; ++c)
        largest = std::max(largest, std::abs(static_cast<double>(gradient(0, s, c))));
  }
  return largest;
}

/// "dog bites man" and "man bites dog": the whole model, in reverse order.
void reversed() {
  std::cout
      << "\nthe sequence read backward: the farthest that logits are from the forward ones, token by token\n";
  std::vector<Index> order(static_cast<std::size_t>(kSequence.length()));
  std::iota(order.rbegin(), order.rend(), 0);
  const auto row = [&](std::string_view name, Positions positions, bool mask, bool same) {
    const Transformer model(with_everything(positions), 123);
    const double far = farthest(logits_of(model, in_order(kSequence, order), mask),
                                in_order(logits_of(model, kSequence, mask), order));
    std::cout << fmt::format("  {:<40} {:>9.1e}{}\n", name, far,
                             judged(same ? far < 10 * kRounding : far > 0.01));
  };
  row("no mask, no positions", Positions::none, false, true);
  row("the mask, no positions", Positions::none, true, false);
  row("no mask, learned positions", Positions::learned, false, false);
  row("no mask, sinusoidal positions", Positions::sinusoidal, false, false);
}

}  // namespace

int main(int count, char** words) {
  if (count > 2) {
    std::cerr << "usage: leak [FILE]\n";
    return 2;
  }
  one_layer();
  const Transformer model(with_everything(Positions::learned), 123);
  std::string table = changes(model, true);
  table += changes(model, false);
  const double with = gradient_from_the_future(model, true);
  const double without = gradient_from_the_future(model, false);
  std::cout << fmt::format(
      "\nlargest gradient that a position gets from an earlier one's logits\n"
      "  with the mask {}, without {:.3f}{}\n",
      with, without, judged(with == 0 && without > 0.01));
  reversed();
  if (count == 2) {
    std::ofstream file(words[1]);
    file << "mask,changed,position,moved\n" << table;
    if (!file.flush()) {
      std::cerr << words[1] << ": cannot be written\n";
      return 2;
    }
  }
  return failed ? 1 : 0;
}
