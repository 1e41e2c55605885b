#include "tapehead/nn/pass_cost.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "tapehead/base/require.h"
#include "tapehead/kernels/tiled_attention_cost.h"
#include "tapehead/tensor/memory.h"

namespace tapehead {

namespace {

/// An array that an op made: its number.
using Array = std::size_t;

/// What an op takes beside its result and the gradients of its inputs. All but operations are bytes.
struct OpCost {
  Index forward_operations = 0;
  Index backward_operations = 0;
  Index kept = 0;           // until its step has run back
  Index masks = 0;          // the same, in what memory_use does not see
  Index forward_room = 0;   // while it computes
  Index backward_room = 0;  // while its step runs back
  bool hands_over = false;  // its own gradient becomes that of its last input, which has none yet
};

/// A Tape of sizes: every result stays until its step has run back, and gets a gradient when the first step
/// that reads it runs back; a step that has run takes both with it.
class SizeTape {
 public:
  /// Records an op with a result of `count` numbers, made of `inputs`; parameters and constants are none.
  Array op(Index count, std::vector<Array> inputs, const OpCost& cost = {}) {
    take(block_bytes(count) + cost.kept + cost.forward_room);
    give(cost.forward_room);
    cost_.operations += cost.forward_operations + cost.backward_operations;
    cost_.mask_bytes += cost.masks;
    steps_.push_back({std::move(inputs), cost, block_bytes(count)});
    return steps_.size() - 1;
  }

  /// Goes back from the last result, the loss, which whoever asked for it holds on to; returns what all cost.
  PassCost backward() {
    const Array loss = steps_.size() - 1;
    need_gradient(loss);
    for (Array at = loss + 1; at-- > 0;) {
      const Step& step = steps_[at];
      for (const Array input : step.inputs)
        if (step.cost.hands_over && input == step.inputs.back())
          steps_[input].has_gradient = true;
        else
          need_gradient(input);
      take(step.cost.backward_room);
      give(step.cost.backward_room + step.cost.kept);
      if (at != loss) give(step.cost.hands_over ? step.bytes : 2 * step.bytes);  // value and gradient
    }
    return cost_;
  }

 private:
  struct Step {
    std::vector<Array> inputs;
    OpCost cost;
    Index bytes;  // of the result
    bool has_gradient = false;
  };

  void need_gradient(Array array) {
    if (!std::exchange(steps_[array].has_gradient, true)) take(steps_[array].bytes);
  }
  void take(Index bytes) {
    now_ += bytes;
    cost_.array_bytes = std::max(cost_.array_bytes, now_);
  }
  void give(Index bytes) { now_ -= bytes; }

  std::vector<Step> steps_;
  Index now_ = 0;
  PassCost cost_;
};

Index bytes_of(const std::vector<Index>& counts) {
  Index bytes = 0;
  for (const Index count : counts) bytes += block_bytes(count);
  return bytes;
}

/// The model, module by module. Every function is what the module of its name, or the op, records.
class Walk {
 public:
  Walk(const ModelConfig& config, Index batch, Index length)
      : config_(config),
        batch_(batch),
        length_(length),
        rows_(batch * length),
        stream_(rows_ * config.width) {}

  PassCost transformer() {
    Array x = tape_.op(stream_, {});  // embedding
    // The table of positions is stretched to the batch on the way there; on the way back, where it is learnt,
    // the gradient is copied to be summed over the batch.
    if (adds_positions(config_)) {
      const Index room = block_bytes(stream_);
      x = tape_.op(stream_, {x},
                   {.forward_room = room,
                    .backward_room = config_.positions == Positions::learned ? room : 0,
                    .hands_over = true});
    }
    x = dropout(x, stream_);
    for (Index layer = 0; layer < config_.layers; ++layer) x = block(x);
    cross_entropy(linear(norm(x), config_.width, config_.vocabulary));
    return tape_.backward();
  }

 private:
  Array block(Array x) {
    x = add(x, dropout(attention(norm(x)), stream_));
    if (config_.feed_forward > 0) x = add(x, dropout(feed_forward(norm(x)), stream_));
    return x;
  }

  Array attention(Array x) {
    const Index width = config_.width;
    const Array queries = linear(x, width, width);
    const Array keys = linear(x, width, width);
    const Array values = linear(x, width, width);
    return linear(heads(queries, keys, values), width, width);
  }

  Array heads(Array queries, Array keys, Array values) {
    if (config_.smeared_keys) keys = smear(keys);
    if (config_.scores == ScoreForm::bilinear) queries = head_linear(queries);
    if (config_.query_key_norm) {
      queries = norm_of_heads(queries);
      keys = norm_of_heads(keys);
    }
    if (config_.positions == Positions::rotary) {
      queries = tape_.op(stream_, {queries});
      keys = tape_.op(stream_, {keys});
    }
    if (config_.attention == AttentionForm::tiled) return tiled_attention(queries, keys, values);
    return attention_mix(dropout(pattern(queries, keys), pattern_count()), values);
  }

  Array pattern(Array queries, Array keys) {
    // Additive scores are sums, no product, and stand beside the weights that are made of them.
    if (config_.scores == ScoreForm::additive)
      return tape_.op(pattern_count(), {tape_.op(pattern_count(), {queries, keys})});
    OpCost cost = product(rows_, config_.width, length_);
    cost.backward_room = block_bytes(length_ * length_);  // of one head's gradients of scores
    return tape_.op(pattern_count(), {queries, keys}, cost);
  }

  Array attention_mix(Array weights, Array values) {
    return tape_.op(stream_, {weights, values}, product(rows_, length_, config_.width));
  }

  Array tiled_attention(Array queries, Array keys, Array values) {
    const kernels::AttentionSizes sizes{batch_, length_, config_.heads, config_.width / config_.heads};
    const auto forward = kernels::tiled_attention_forward_cost(sizes, true);
    const auto backward = kernels::tiled_attention_backward_cost(sizes, true);
    return tape_.op(stream_, {queries, keys, values},
                    {.forward_operations = forward.operations,
                     .backward_operations = backward.operations,
                     .kept = 2 * block_bytes(rows_ * config_.heads),  // two numbers a query and head
                     .forward_room = bytes_of(forward.room),
                     .backward_room = bytes_of(backward.room)});
  }

  Array smear(Array keys) {
    const Index shares = block_bytes(config_.heads);
    return tape_.op(stream_, {keys}, {.kept = shares, .backward_room = shares});
  }

  Array head_linear(Array x) {
    return tape_.op(stream_, {x}, product(rows_, config_.width, config_.width / config_.heads));
  }

  Array norm_of_heads(Array x) {
    const Array apart = tape_.op(stream_, {x}, {.hands_over = true});  // reshape
    const Array normed = tape_.op(stream_, {apart}, {.kept = block_bytes(rows_ * config_.heads)});
    return tape_.op(stream_, {normed}, {.hands_over = true});
  }

  /// A number a row is kept for the way back, of LayerNorm two.
  Array norm(Array x) {
    if (config_.norm == NormKind::none) return x;
    const Index numbers = config_.norm == NormKind::layer ? 2 : 1;
    return tape_.op(stream_, {x}, {.kept = numbers * block_bytes(rows_)});
  }

  Array feed_forward(Array x) {
    const Index hidden = config_.feed_forward;
    const Array inner = linear(x, config_.width, hidden);
    std::vector<Array> inputs{inner};
    if (config_.activation == Activation::swiglu) inputs = {linear(x, config_.width, hidden), inner};
    return linear(tape_.op(rows_ * hidden, std::move(inputs)), hidden, config_.width);
  }

  Array linear(Array x, Index inputs, Index outputs) {
    return tape_.op(rows_ * outputs, {x}, product(rows_, inputs, outputs));
  }

  /// The residual goes back through the sum as it is; what was added to it gets a copy.
  Array add(Array residual, Array x) { return tape_.op(stream_, {x, residual}, {.hands_over = true}); }

  Array dropout(Array x, Index count) {
    return config_.dropout == 0 ? x : tape_.op(count, {x}, {.masks = count});
  }

  /// It keeps a number a position, holds the positions' losses meanwhile, and, both ways, a row of the
  /// kernel's.
  Array cross_entropy(Array logits) {
    const Index row = block_bytes(config_.vocabulary);
    return tape_.op(
        1, {logits},
        {.kept = block_bytes(rows_), .forward_room = block_bytes(rows_) + row, .backward_room = row});
  }

  /// On the way back a product has two more, one for each factor's gradient.
  static OpCost product(Index m, Index n, Index k) {
    return {.forward_operations = 2 * m * n * k, .backward_operations = 4 * m * n * k};
  }

  Index pattern_count() const { return rows_ * config_.heads * length_; }

  const ModelConfig& config_;
  Index batch_;
  Index length_;
  Index rows_;
  Index stream_;
  SizeTape tape_;
};

PassCost walked(ModelConfig config, Index layers, Index batch, Index length) {
  config.layers = layers;
  return Walk(config, batch, length).transformer();
}

constexpr double kMost = 0x1.0p62;

/// The largest number on the way has this factor to spare below what an Index holds.
void require_countable(const ModelConfig& config, Index batch, Index length) {
  constexpr double kSpare = 256;
  const auto tokens = static_cast<double>(batch) * static_cast<double>(length);
  const double pairs = static_cast<double>(config.layers) * static_cast<double>(length) *
                       static_cast<double>(config.width + config.heads);
  require(kSpare * tokens * (count_parameters(config) + pairs) < kMost,
          "[model] {} sequences of {} tokens through {:.3g} parameters take more than can be counted", batch,
          length, count_parameters(config));
}

}  // namespace

PassCost pass_cost(const ModelConfig& config, Index batch, Index length) {
  require(batch >= 1 && length >= 1, "[model] expected at least one token, got ({}, {})", batch, length);
  require(config.heads >= 1 && config.width % config.heads == 0,
          "[model] expected width to be divisible by heads, got width {} and {} heads", config.width,
          config.heads);
  require_countable(config, batch, length);
  const Index first = std::min<Index>(config.layers, 1);
  PassCost cost = walked(config, first, batch, length);
  if (config.layers < 2) return cost;
  // Every further layer is the same again: it keeps as much, and the way back through it holds as much.
  const PassCost two = walked(config, 2, batch, length);
  const Index further = config.layers - 1;
  const auto extend = [further](Index& one, Index both) { one += further * (both - one); };
  extend(cost.operations, two.operations);
  extend(cost.array_bytes, two.array_bytes);
  extend(cost.mask_bytes, two.mask_bytes);
  return cost;
}

Index model_bytes(const ModelConfig& config) {
  const double numbers = count_parameters(config) + count_fixed_positions(config);
  require(2 * sizeof(Real) * numbers < kMost, "[model] {:.3g} parameters are more than can be counted",
          numbers);
  const Index context = config.context;
  Index bytes = block_bytes(static_cast<Index>(count_parameters(config)));
  if (config.positions == Positions::sinusoidal) bytes += block_bytes(context * config.width);
  if (config.positions == Positions::rotary)  // every layer has its own
    bytes += config.layers * block_bytes(context * (config.width / config.heads));
  return bytes;
}

}  // namespace tapehead
