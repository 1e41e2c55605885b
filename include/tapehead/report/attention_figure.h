/// Attention maps of every head on one sequence: who looks where.
#pragma once

#include "tapehead/interp/head_scores.h"
#include "tapehead/nn/transformer.h"
#include "tapehead/report/style.h"
#include "tapehead/tasks/task.h"
#include "tapehead/train/config.h"

namespace tapehead {

/// The longest sequence that is drawn, in positions.
inline constexpr Index kMapLength = 24;

/// Which sequence of the batch to show: the first with 8 to 12 different tokens that then repeat, or else the
/// one that repeats most within the first kMapLength positions. Throws Error for an empty batch.
Index number_to_show(const Batch& batch);
/// That sequence, cut to its first kMapLength positions.
Batch sequence_to_show(const Batch& batch);

/// The tokens (1, T) of one sequence as signs on an axis: what they say, where there is a tokenizer, and
/// "#37" for an id that it does not use; else letters and digits for a vocabulary of up to 64, and the ids
/// beyond. What a token says is cut to `most` characters, by default as many as an id has digits. A character
/// that cannot be seen is "·", or its code, "U+202E", where there is room `with_codes`.
std::vector<std::string> token_signs(const Tokens& tokens, Index vocabulary,
                                     const Tokenizer* tokenizer = nullptr, std::size_t most = 5,
                                     bool with_codes = false);

/// One sequence, its tokens as signs, and where it is from: "sequence 3 of the evaluation batch".
struct ShownSequence {
  Batch sequence;
  std::vector<std::string> signs;
  std::string where;
};

/// Layers are rows and heads columns of maps. In a map, a row is a query and a column a key, all on one scale
/// from 0 to 1; keys after the query are grey. `scores` of the model's heads stand in the titles, where they
/// are well above `chance`, those of an even head.
Figure attention_figure(const Transformer& model, const ShownSequence& shown,
                        const std::vector<HeadScores>& scores, const ScoreValues& chance,
                        const Config& config, Index step, const FigureSize& size = kPageSize);

}  // namespace tapehead
