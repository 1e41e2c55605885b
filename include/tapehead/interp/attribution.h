/// Direct logit attribution: which part of the model gives the right token how much of its logit.
///
/// The final residual stream is a sum of what its parts wrote: the token's embedding, the position's, every
/// head, the biases of the output projections, the feed-forward parts. A logit is linear in it, so it is the
/// sum of a part for each (Elhage et al. 2021); the final layer norm's factor is held at its value at that
/// position, and its bias is a part of its own. A head's part has its value's bias in it. These are direct
/// parts: what a head does to the logit by way of later heads is counted there.
///
/// A softmax sees only differences between logits, so beside the part of the logit stands the part above the
/// mean: the same, less what that component gives to all tokens on average. It is the one to compare.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "tapehead/train/csv.h"
#include "tapehead/train/evaluate.h"

namespace tapehead {

/// Kinds of position that means are taken over.
inline constexpr std::array<std::string_view, 3> kAttributionKinds{"all", "induction", "noise"};

/// Means over positions; NaN where there are none of the kind.
struct AttributedPart {
  double logit = 0;       ///< of the right token's logit
  double above_mean = 0;  ///< the same less the mean over the vocabulary
};

struct Component {
  std::string name;  ///< token_embedding, positions, head, attention_bias, feed_forward, final_norm_bias
  Index layer = kNoLayer;
  Index head = kAllHeads;
  std::array<AttributedPart, kAttributionKinds.size()> parts{};
};

struct Attribution {
  std::vector<Component> components;
  /// What the model gave: the right token's logit, and how far it is above the mean of all.
  std::array<AttributedPart, kAttributionKinds.size()> logits{};
  std::array<Index, kAttributionKinds.size()> positions{};
  double largest_error = 0;   ///< of any position: the sum of its parts less its logit, in absolute value
  double relative_error = 0;  ///< the same, over 1 and the sum of the parts' absolute values
};

/// Throws Error if at some position the parts do not sum to the model's logit (relative_error above 1e-4, in
/// double 1e-10), and as evaluate does. The same bits for any number of threads.
Attribution attribute_logits(const Transformer& model, const Batch& batch,
                             const EvaluateOptions& options = {});

/// One row a component and kind of position: component, layer, head, kind, logit, above_mean, positions (how
/// many), largest_error (of all), step, sequences. The last rows, `sum`, are the model's own logits.
CsvTable attribution_table(const Attribution& attribution, Index step, Index sequences);

}  // namespace tapehead
