#include "tapehead/interp/head_scores.h"

#include <limits>

#include "tapehead/base/require.h"
#include "tapehead/interp/copying.h"

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

/// What the scores ask of one query, whatever the head: which keys stand for what.
struct Query {
  Index sequence = 0;
  Index position = 0;
  bool is_induction = false;
  std::vector<Index> equal = {};   ///< earlier positions of the same token
  std::vector<Index> copies = {};  ///< those of them that are there by repetition
};

/// Calls f(query) for every query of the batch.
template <class F>
void for_each_query(const Batch& batch, const F& f) {
  Query query;
  for (query.sequence = 0; query.sequence < batch.size(); ++query.sequence)
    for (query.position = 0; query.position < batch.length(); ++query.position) {
      const Index b = query.sequence;
      const Index q = query.position;
      query.is_induction = batch.kinds(b, q) == Kind::induction;
      query.equal.clear();
      query.copies.clear();
      if (query.is_induction) {
        for (Index k = 0; k < q; ++k)
          if (batch.inputs(b, k) == batch.inputs(b, q)) query.equal.push_back(k);
        for (Index k = batch.earlier_copy(b, q); k >= 0; k = batch.earlier_copy(b, k))
          query.copies.push_back(k);
      }
      f(query);
    }
}

/// Adds one query's row of weights, given by `weight(key)`, to the tally.
template <class Weight>
void add_query(Tally& tally, const Query& query, const Weight& weight) {
  const Index q = query.position;
  tally.add(Score::current_token, weight(q));
  tally.add(Score::first_token, weight(0));
  if (q >= 1) tally.add(Score::previous_token, weight(q - 1));
  if (!query.is_induction) return;

  double duplicate = 0;
  double after_equal = 0;
  for (const Index k : query.equal) {
    duplicate += weight(k);
    after_equal += weight(k + 1);
  }
  double after_copy = 0;
  for (const Index k : query.copies) after_copy += weight(k + 1);
  tally.add(Score::duplicate_token, duplicate);
  tally.add(Score::prefix_matching, after_equal);
  tally.add(Score::induction, after_copy);
}

}  // namespace

std::vector<HeadScores> score_pattern(const Tensor& pattern, const Batch& batch, Index layer) {
  const Shape& shape = pattern.shape();
  const Index length = batch.length();
  require(shape.rank() == 4 && shape[0] == batch.size() && shape[2] == length && shape[3] == length,
          "[heads] expected a pattern ({}, H, {}, {}), got {}", batch.size(), length, length, shape);
  std::vector<Tally> tallies(static_cast<std::size_t>(shape[1]));
  for_each_query(batch, [&](const Query& query) {
    for (std::size_t head = 0; head < tallies.size(); ++head) {
      const Index matrix = query.sequence * shape[1] + static_cast<Index>(head);
      const Real* row = pattern.data() + (matrix * length + query.position) * length;
      add_query(tallies[head], query, [&](Index k) { return static_cast<double>(row[k]); });
    }
  });
  std::vector<HeadScores> scores;
  for (std::size_t head = 0; head < tallies.size(); ++head)
    scores.push_back({layer, static_cast<Index>(head), tallies[head].means()});
  return scores;
}

Recorder pattern_recorder(const ModelConfig& config) {
  std::vector<Site> sites;
  for (Index layer = 0; layer < config.layers; ++layer) sites.push_back(pattern(layer));
  return Recorder(std::move(sites));
}

std::vector<HeadScores> score_heads(const Recorder& recorder, const ModelConfig& config, const Batch& batch,
                                    std::span<const double> copying) {
  require(copying.empty() || static_cast<Index>(copying.size()) == config.layers * config.heads,
          "[heads] expected a copying score for each of {} heads, got {}", config.layers * config.heads,
          copying.size());
  std::vector<HeadScores> scores;
  for (Index layer = 0; layer < config.layers; ++layer) {
    const std::vector<HeadScores> heads = score_pattern(recorder.at(pattern(layer)), batch, layer);
    scores.insert(scores.end(), heads.begin(), heads.end());
  }
  for (std::size_t i = 0; i < copying.size(); ++i)
    scores[i].values[static_cast<std::size_t>(Score::copying)] = copying[i];
  return scores;
}

std::vector<HeadScores> score_heads(const Transformer& model, const Batch& batch,
                                    const EvaluateOptions& options) {
  Recorder recorder = pattern_recorder(model.config());
  evaluate(model, batch, {recorder}, options);
  return score_heads(recorder, model.config(), batch, copying_scores(model, options.threads));
}

ScoreValues chance_scores(const Batch& batch, Index vocabulary) {
  Tally tally;
  for_each_query(batch, [&](const Query& query) {
    const double weight = 1 / static_cast<double>(query.position + 1);
    add_query(tally, query, [&](Index) { return weight; });
  });
  ScoreValues scores = tally.means();
  scores[static_cast<std::size_t>(Score::copying)] = chance_copying(vocabulary);
  return scores;
}

}  // namespace tapehead
