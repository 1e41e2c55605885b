#include "tapehead/interp/head_scores.h"

#include <limits>

#include "tapehead/base/require.h"

namespace tapehead {

namespace {

/// Sums of attention weights, and over how many queries, for each score.
struct Tally {
  ScoreValues sums{};
  std::array<Index, kScores.size()> queries{};

  void add(Score score, double weight) {
    sums[static_cast<std::size_t>(score)] += weight;
    ++queries[static_cast<std::size_t>(score)];
  }
  ScoreValues means() const {
    ScoreValues means{};
    for (std::size_t i = 0; i < means.size(); ++i)
      means[i] = queries[i] == 0 ? std::numeric_limits<double>::quiet_NaN()
                                 : sums[i] / static_cast<double>(queries[i]);
    return means;
  }
};

/// Adds one query's row of weights, given by `weight(key)`, to the tally.
template <class Weight>
void add_query(Tally& tally, const Batch& batch, Index b, Index q, const Weight& weight) {
  tally.add(Score::current_token, weight(q));
  tally.add(Score::first_token, weight(0));
  if (q >= 1) tally.add(Score::previous_token, weight(q - 1));
  if (batch.kinds(b, q) != Kind::induction) return;

  double duplicate = 0;
  double after_equal = 0;
  for (Index k = 0; k < q; ++k) {
    if (batch.inputs(b, k) != batch.inputs(b, q)) continue;
    duplicate += weight(k);
    after_equal += weight(k + 1);
  }
  double after_copy = 0;
  for (Index k = batch.earlier_copy(b, q); k >= 0; k = batch.earlier_copy(b, k)) after_copy += weight(k + 1);
  tally.add(Score::duplicate_token, duplicate);
  tally.add(Score::prefix_matching, after_equal);
  tally.add(Score::induction, after_copy);
}

/// The scores of a head whose weights are given by `weight(sequence, query, key)`.
template <class Weight>
ScoreValues scores_of(const Batch& batch, const Weight& weight) {
  Tally tally;
  for (Index b = 0; b < batch.size(); ++b)
    for (Index q = 0; q < batch.length(); ++q)
      add_query(tally, batch, b, q, [&](Index k) { return weight(b, q, k); });
  return tally.means();
}

}  // namespace

std::vector<HeadScores> score_pattern(const Tensor& pattern, const Batch& batch, Index layer) {
  const Shape& shape = pattern.shape();
  const Index length = batch.length();
  require(shape.rank() == 4 && shape[0] == batch.size() && shape[2] == length && shape[3] == length,
          "[heads] expected a pattern ({}, H, {}, {}), got {}", batch.size(), length, length, shape);
  std::vector<HeadScores> scores;
  for (Index head = 0; head < shape[1]; ++head) {
    const auto weight = [&](Index b, Index q, Index k) {
      return static_cast<double>(pattern.data()[((b * shape[1] + head) * length + q) * length + k]);
    };
    scores.push_back({layer, head, scores_of(batch, weight)});
  }
  return scores;
}

Recorder pattern_recorder(const ModelConfig& config) {
  std::vector<Site> sites;
  for (Index layer = 0; layer < config.layers; ++layer) sites.push_back(pattern(layer));
  return Recorder(std::move(sites));
}

std::vector<HeadScores> score_heads(const Recorder& recorder, const ModelConfig& config, const Batch& batch) {
  std::vector<HeadScores> scores;
  for (Index layer = 0; layer < config.layers; ++layer) {
    const std::vector<HeadScores> heads = score_pattern(recorder.at(pattern(layer)), batch, layer);
    scores.insert(scores.end(), heads.begin(), heads.end());
  }
  return scores;
}

std::vector<HeadScores> score_heads(const Transformer& model, const Batch& batch,
                                    const EvaluateOptions& options) {
  Recorder recorder = pattern_recorder(model.config());
  evaluate(model, batch, {&recorder}, options);
  return score_heads(recorder, model.config(), batch);
}

ScoreValues chance_scores(const Batch& batch) {
  return scores_of(batch,
                   [](Index, Index q, Index k) { return k <= q ? 1 / static_cast<double>(q + 1) : 0.0; });
}

}  // namespace tapehead
