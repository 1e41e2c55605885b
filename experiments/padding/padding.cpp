/// Sequences of unequal length in one batch: padding must not move the loss, the gradients or the logits of
/// what is there, and a query that sees nothing must not make a NaN. Status 1 if one of these does not hold
/// to the bit, or to rounding where sums of another length are compared.
///   build/experiments/padding
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <iostream>
#include <string>
#include <utility>
#include <vector>

#include "handmade.h"
#include "room.h"
#include "tapehead/autograd/elementary.h"
#include "tapehead/autograd/fused.h"
#include "tapehead/base/random.h"
#include "tapehead/nn/transformer.h"

namespace {

using namespace tapehead;
using namespace tapehead::room;
using padding::handmade;
using padding::Handmade;
using padding::hidden;
using padding::kInfinite;
using padding::kLowest;

constexpr Index kLength = 10;
constexpr Index kVocabulary = 16;
constexpr std::int32_t kPadTarget = -100;
const std::vector<Index> kLengths{10, 7, 4, 1};
constexpr double kRounding = 2e-5;

bool same_bits(const Tensor& a, const Tensor& b) {
  return a.shape() == b.shape() &&
         std::equal(a.values().begin(), a.values().end(), b.values().begin(), [](Real x, Real y) {
           return std::bit_cast<std::uint32_t>(x) == std::bit_cast<std::uint32_t>(y);
         });
}

/// NaN where there is one.
double farthest(const Tensor& a, const Tensor& b) {
  double most = 0;
  for (Index i = 0; i < a.count(); ++i) {
    const double far = std::abs(static_cast<double>(a.data()[i] - b.data()[i]));
    if (!(far <= most)) most = far;
  }
  return most;
}

Tensor normals(const Shape& shape, Index stream) {
  Generator generator(123, Purpose::evaluation, stream);
  return room::normals(shape, generator);
}

/// The example of "Module 6", Section 2: two sequences, the second of which ends in two pads.
void mask_of_the_text() {
  constexpr Index heads = 8;
  const Mask visible(2, 5, {1, 1, 1, 1, 1, 1, 1, 1, 0, 0});
  const Variable q(normals({2, 5, heads * 32}, 0));
  const Variable k(normals({2, 5, heads * 32}, 1));
  const Variable v(normals({2, 5, heads * 32}, 2));
  const Tensor fused = attention_pattern(q, k, heads, {.causal = true, .visible = visible}).value();
  const Tensor by_hand = handmade(q, k, heads, visible, kInfinite).value();
  const double far = std::max(
      farthest(fused, by_hand),
      farthest(attention_mix(Variable(fused), v).value(), attention_mix(Variable(by_hand), v).value()));
  const Tensor mask = hidden(visible, heads);
  bool zero = true;
  for (Index i = 0; i < mask.count(); ++i) zero = zero && (mask.data()[i] == 0 || fused.data()[i] == 0);
  std::cout << "B = 2, h = 8, T = 5, d_k = 32, lengths 5 and 3: what the queries may see\n";
  for (Index t = 0; t < 5; ++t) {
    std::string row;
    for (Index b = 0; b < 2; ++b) {
      row += "   ";
      for (Index s = 0; s < 5; ++s) row += mask(b, 0, t, s) == 0 ? " x" : " .";
    }
    std::cout << row << "\n";
  }
  std::cout << fmt::format("  our op less the definition by hand: {:.1e}{}\n", far, judged(far < kRounding))
            << fmt::format("  weights that are hidden are exactly 0: {}{}\n", zero ? "yes" : "no",
                           judged(zero));
}

/// A batch of sequences of kLengths, padded on one side with arbitrary tokens.
struct Padded {
  Tokens inputs{4, kLength};
  Tokens targets{4, kLength, kPadTarget};
  Mask visible{4, kLength};

  Padded(bool left, Index padding) {
    Generator tokens(7, Purpose::evaluation);
    Generator pads(8, Purpose::evaluation, padding);
    for (Index b = 0; b < 4; ++b) {
      const Index length = kLengths[static_cast<std::size_t>(b)];
      const Index first = left ? kLength - length : 0;
      for (Index t = 0; t < kLength; ++t) inputs(b, t) = static_cast<std::int32_t>(pads.below(kVocabulary));
      for (Index t = first; t < first + length; ++t) {
        inputs(b, t) = static_cast<std::int32_t>(tokens.below(kVocabulary));
        targets(b, t) = static_cast<std::int32_t>(tokens.below(kVocabulary));
        visible(b, t) = 1;
      }
    }
  }
};

ModelConfig with_everything(Positions positions) {
  ModelConfig config{.vocabulary = kVocabulary, .context = kLength, .width = 24, .heads = 3};
  config.feed_forward = 48;
  config.norm = NormKind::layer;
  config.qkv_bias = true;
  config.bias = true;
  config.positions = positions;
  return config;
}

struct Outcome {
  Real loss = 0;
  Gradients gradients;
};

Outcome learn(const Transformer& model, const Padded& batch, bool mask, std::int32_t ignored = kPadTarget) {
  Tape tape;
  const Variable logits = model(Pass(tape), batch.inputs, mask ? batch.visible : Mask());
  const Variable loss = cross_entropy(logits, batch.targets, {.ignored = ignored});
  Outcome outcome{loss.item(), {}};
  outcome.gradients = tape.backward(loss);
  return outcome;
}

/// Whether five other fillings of the padding give the same bits of loss and gradients.
void fillings(const Transformer& model, bool left, bool mask, bool must_hold) {
  const Outcome first = learn(model, Padded(left, 0), mask);
  double moved = 0;
  bool same = true;
  for (Index padding = 1; padding <= 5; ++padding) {
    const Outcome other = learn(model, Padded(left, padding), mask);
    same = same && other.loss == first.loss && same_bits(other.gradients, first.gradients);
    moved = std::max(moved, std::abs(static_cast<double>(other.loss - first.loss)));
  }
  std::cout << fmt::format("  padding on the {:<6} {:<16} loss {:.4f}, {}{}\n", left ? "left," : "right,",
                           mask ? "padding mask:" : "no padding mask:", first.loss,
                           same ? "the same bits of loss and gradients"
                                : fmt::format("other fillings move it by up to {:.3f}", moved),
                           judged(same == must_hold));
}

/// What becomes of the loss if padding has targets that are not ignored.
void targets_forgotten(const Transformer& model) {
  const Padded right(false, 0);
  const Outcome counted = learn(model, right, true);
  Padded unignored = right;
  for (Index b = 0; b < 4; ++b)
    for (Index t = 0; t < kLength; ++t)
      if (right.visible(b, t) == 0) unignored.targets(b, t) = 0;
  const Outcome wrong = learn(model, unignored, true);
  std::cout << fmt::format("  on the right, with targets of token 0 that are not ignored: loss {:.4f}{}\n",
                           wrong.loss, judged(std::abs(wrong.loss - counted.loss) > Real(0.01)));
}

/// The sequences by themselves: what the batch must add up to.
void against_unpadded(const Transformer& model, bool left, std::string_view name) {
  const Padded batch(left, 0);
  const Tensor logits = model(Pass(), batch.inputs, batch.visible).value();
  const Outcome together = learn(model, batch, true);
  Variable alone_gradients(Tensor(together.gradients.shape()));
  double alone_loss = 0;
  double far = 0;
  bool bits = true;
  for (Index b = 0; b < 4; ++b) {
    const Index length = kLengths[static_cast<std::size_t>(b)];
    const Index first = left ? kLength - length : 0;
    Tokens inputs(1, length);
    Tokens targets(1, length);
    for (Index t = 0; t < length; ++t) inputs(0, t) = batch.inputs(b, first + t);
    for (Index t = 0; t < length; ++t) targets(0, t) = batch.targets(b, first + t);
    Tape tape;
    const Variable alone = model(Pass(tape), inputs);
    const Tensor part = slice(slice(Variable(logits), 0, b, b + 1), 1, first, first + length).value();
    far = std::max(far, farthest(alone.value(), part));
    bits = bits && same_bits(alone.value(), part);
    const Variable loss = cross_entropy(alone, targets, {.divisor = 22});
    alone_loss += static_cast<double>(loss.item());
    alone_gradients = alone_gradients + Variable(tape.backward(loss));
  }
  const double loss = std::abs(static_cast<double>(together.loss) - alone_loss);
  const double gradients = farthest(together.gradients, alone_gradients.value());
  std::cout << fmt::format("  {:<32} logits {:.1e}{}, loss {:.1e}, gradients {:.1e}{}\n", name, far,
                           bits ? " (the same bits)" : "", loss, gradients,
                           judged(std::max({far, loss, gradients}) < kRounding));
}

/// A query that sees padding alone: the first of a sequence that is padded on the left.
void rows_that_see_nothing(const Transformer& model) {
  std::cout << "\na query that may see no key, T = 5: its weights\n";
  const Mask nothing(1, 5, {0, 0, 1, 1, 1});
  const Variable q(normals({1, 5, 4}, 3));
  const Variable k(normals({1, 5, 4}, 4));
  const auto show = [](std::string_view name, const Variable& pattern, auto good) {
    std::string row;
    bool all = true;
    for (Index s = 0; s < 5; ++s) {
      row += std::isnan(pattern.data()[s]) ? "   NaN" : fmt::format(" {:>5.3f}", pattern.data()[s]);
      all = all && good(pattern.data()[s]);
    }
    std::cout << fmt::format("  {:<42}{}{}\n", name, row, judged(all));
  };
  show("softmax by hand, -infinity where hidden:", handmade(q, k, 1, nothing, kInfinite),
       [](Real w) { return std::isnan(w); });
  show("the same with the lowest finite number:", handmade(q, k, 1, nothing, kLowest),
       [](Real w) { return w == Real(0.2); });
  show("our op:", attention_pattern(q, k, 1, {.causal = true, .visible = nothing}),
       [](Real w) { return w == 0; });

  std::cout << "\nwhat becomes of it in a model of two layers, padded on the left\n";
  const Padded batch(true, 0);
  const Tensor ours = model(Pass(), batch.inputs, batch.visible).value();
  const auto count = [&](Real forbidden, std::string_view name, Index expected) {
    Handmade watcher(batch.visible, forbidden);
    const Tensor logits = model(Pass().watched_by({watcher}), batch.inputs, batch.visible).value();
    Index broken = 0;
    double far = 0;
    for (Index b = 0; b < 4; ++b)
      for (Index t = 0; t < kLength; ++t) {
        const bool real = batch.visible(b, t) == 1;
        broken += real && std::isnan(logits(b, t, 0)) ? 1 : 0;
        for (Index c = 0; real && c < kVocabulary; ++c)
          far = std::max(far, std::abs(static_cast<double>(logits(b, t, c) - ours(b, t, c))));
      }
    std::cout << fmt::format("  {:<42} NaN at {} of 22 real positions{}\n", name, broken,
                             judged(broken == expected && (broken > 0 || far < kRounding)));
  };
  // One of the four sequences has no padding.
  count(kInfinite, "-infinity:", 12);
  count(kLowest, "the lowest finite number:", 0);
}

}  // namespace

int main() {
  mask_of_the_text();
  const Transformer model(with_everything(Positions::learned), 123);
  std::cout
      << "\nlengths 10, 7, 4 and 1 in one batch, a model of two layers; the padding filled in six ways\n";
  fillings(model, false, true, true);
  fillings(model, false, false, true);
  fillings(model, true, true, true);
  fillings(model, true, false, false);
  targets_forgotten(model);
  ModelConfig tiled = with_everything(Positions::learned);
  tiled.attention = AttentionForm::tiled;
  std::cout << "  the same with tiled attention:\n";
  fillings(Transformer(tiled, 123), true, true, true);
  std::cout << "\nthe batch less its four sequences, each by itself and unpadded\n";
  against_unpadded(model, false, "right, learned positions:");
  const std::pair<std::string_view, Positions> kinds[]{{"left, learned positions:", Positions::learned},
                                                       {"left, sinusoidal:", Positions::sinusoidal},
                                                       {"left, rotary:", Positions::rotary},
                                                       {"left, ALiBi:", Positions::alibi},
                                                       {"left, none:", Positions::none}};
  for (const auto& [name, positions] : kinds)
    against_unpadded(Transformer(with_everything(positions), 123), true, name);
  against_unpadded(Transformer(tiled, 123), true, "left, learned positions, tiled:");
  rows_that_see_nothing(model);
  return failed ? 1 : 0;
}
