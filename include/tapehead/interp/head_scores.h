/// What every head looks at, and what it makes of it.
///
/// All scores but copying are means of attention weights, from 0 to 1, over sequences and over the queries
/// named; "induction queries" are the positions whose target can be copied, by the task's own account.
/// Copying is from -1 to 1, and of the model alone: see copying.h. A hand-built perfect head scores 1, a head
/// that attends evenly and raises all tokens alike scores the chance level.
#pragma once

#include <array>
#include <span>
#include <string_view>
#include <vector>

#include "tapehead/nn/pass.h"
#include "tapehead/nn/transformer.h"
#include "tapehead/tasks/task.h"
#include "tapehead/train/evaluate.h"

namespace tapehead {

enum class Score {
  previous_token,
  current_token,
  first_token,
  duplicate_token,
  induction,
  prefix_matching,
  copying
};

struct ScoreDefinition {
  Score score;
  std::string_view name;        ///< as in the tables
  std::string_view definition;  ///< in a line
};

inline constexpr std::array<ScoreDefinition, 7> kScores{{
    {Score::previous_token, "previous_token", "mean weight on position q - 1, over queries q >= 1"},
    {Score::current_token, "current_token", "mean weight on position q itself, over all queries"},
    {Score::first_token, "first_token", "mean weight on position 0, over all queries"},
    {Score::duplicate_token, "duplicate_token",
     "mean weight on earlier positions that hold the query's token, over induction queries"},
    {Score::induction, "induction",
     "mean weight on the positions after earlier copies of the query, by repetition, over induction queries"},
    {Score::prefix_matching, "prefix_matching",
     "the same, after every earlier position that holds the query's token, by repetition or by accident"},
    {Score::copying, "copying",
     "share of what the head adds to logits above their mean that falls on the token looked at, from -1 to "
     "1"},
}};

/// One value a score, in the order of kScores; NaN where no query qualifies.
using ScoreValues = std::array<double, kScores.size()>;

struct HeadScores {
  Index layer = 0;
  Index head = 0;
  ScoreValues values{};

  double operator[](Score score) const { return values[static_cast<std::size_t>(score)]; }
};

/// Sums of attention weights, and over how many queries, for each score. Scores of a batch are sums of its
/// sequences' sums, in their order, so that no bit depends on how it was cut.
class ScoreTally {
 public:
  void add(Score score, double weight);
  void add(const ScoreTally& other);
  bool is_empty() const;
  /// NaN where there was no query.
  ScoreValues means() const;

 private:
  ScoreValues sums_{};
  std::array<Index, kScores.size()> queries_{};
};

/// Scores of one layer's heads from its pattern (B, H, T, T) on the batch; copying, which a pattern does not
/// tell, is NaN.
std::vector<HeadScores> score_pattern(const Tensor& pattern, const Batch& batch, Index layer);

/// Scores all heads of a model from an evaluation of the batch that is made anyway. It keeps a few sums a
/// head and sequence, and no pattern, so a batch may be as large as an evaluation's.
class HeadScorer : public Watcher {
 public:
  /// `batch` has to outlive it.
  HeadScorer(const ModelConfig& config, const Batch& batch);

  /// Layer by layer, of the last evaluation. `copying` are the model's copying_scores; without them these
  /// scores are NaN. Throws Error for another number of them, and before an evaluation of the whole batch.
  std::vector<HeadScores> scores(std::span<const double> copying = {}) const;

  void check(const ModelConfig& config) const override;
  Variable visit(const Visit& at, const Variable& value) override;
  void finish(const std::vector<Site>& visited) const override;
  void bring_together(Ranks& ranks, std::span<const Index> bounds) override;

 private:
  /// Where the sums of that layer's first head for that sequence are.
  std::size_t place(Index layer, Index sequence) const;

  Index layers_;
  Index heads_;
  const Batch& batch_;
  std::vector<ScoreTally> tallies_;  // by layer, sequence, head
};

/// The scores of all heads, copying with them, from an evaluation of its own.
std::vector<HeadScores> score_heads(const Transformer& model, const Batch& batch,
                                    const EvaluateOptions& options = {});

/// What a head scores that attends evenly to all positions up to its own, and raises all tokens of the
/// vocabulary alike.
ScoreValues chance_scores(const Batch& batch, Index vocabulary);

}  // namespace tapehead
