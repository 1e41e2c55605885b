/// What every head looks at, as numbers between 0 and 1.
///
/// All are means of attention weights over sequences and over the queries named; "induction queries" are the
/// positions whose target can be copied, by the task's own account. A hand-built perfect head scores 1, a
/// head that attends evenly scores the chance level.
#pragma once

#include <array>
#include <string_view>
#include <vector>

#include "tapehead/nn/recorder.h"
#include "tapehead/nn/transformer.h"
#include "tapehead/tasks/task.h"
#include "tapehead/train/evaluate.h"

namespace tapehead {

enum class Score { previous_token, current_token, first_token, duplicate_token, induction, prefix_matching };

struct ScoreDefinition {
  Score score;
  std::string_view name;        ///< as in the tables
  std::string_view definition;  ///< in a line
};

inline constexpr std::array<ScoreDefinition, 6> kScores{{
    {Score::previous_token, "previous_token", "mean weight on position q - 1, over queries q >= 1"},
    {Score::current_token, "current_token", "mean weight on position q itself, over all queries"},
    {Score::first_token, "first_token", "mean weight on position 0, over all queries"},
    {Score::duplicate_token, "duplicate_token",
     "mean weight on earlier positions that hold the query's token, over induction queries"},
    {Score::induction, "induction",
     "mean weight on the positions after earlier copies of the query, by repetition, over induction queries"},
    {Score::prefix_matching, "prefix_matching",
     "the same, after every earlier position that holds the query's token, by repetition or by accident"},
}};

/// One value a score, in the order of kScores; NaN where no query qualifies.
using ScoreValues = std::array<double, kScores.size()>;

struct HeadScores {
  Index layer = 0;
  Index head = 0;
  ScoreValues values{};

  double operator[](Score score) const { return values[static_cast<std::size_t>(score)]; }
};

/// Scores of one layer's heads from its pattern (B, H, T, T) on the batch.
std::vector<HeadScores> score_pattern(const Tensor& pattern, const Batch& batch, Index layer);

/// A recorder of all patterns of a model, for an evaluation that is made anyway.
Recorder pattern_recorder(const ModelConfig& config);

/// Scores of all heads, layer by layer, from what such a recorder saw of the batch.
std::vector<HeadScores> score_heads(const Recorder& recorder, const ModelConfig& config, const Batch& batch);

/// The same from an evaluation of its own.
std::vector<HeadScores> score_heads(const Transformer& model, const Batch& batch,
                                    const EvaluateOptions& options = {});

/// What a head scores that attends evenly to all positions up to its own.
ScoreValues chance_scores(const Batch& batch);

}  // namespace tapehead
