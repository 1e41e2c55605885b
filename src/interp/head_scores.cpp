#include "tapehead/interp/head_scores.h"

#include <algorithm>
#include <limits>

#include "tapehead/base/require.h"
#include "tapehead/interp/copying.h"

namespace tapehead {

namespace {

/// What the scores ask of one query, whatever the head: which keys stand for what.
struct Query {
  Index position = 0;
  bool is_induction = false;
  std::vector<Index> equal = {};   ///< earlier positions of the same token
  std::vector<Index> copies = {};  ///< those of them that are there by repetition
};

/// Calls f(query) for every query of sequence `b` of the batch.
template <class F>
void for_each_query(const Batch& batch, Index b, const F& f) {
  Query query;
  for (query.position = 0; query.position < batch.length(); ++query.position) {
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
void add_query(ScoreTally& tally, const Query& query, const Weight& weight) {
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

/// Of the heads of sequence `b`, from its patterns, a (T, T) each, one after the other.
void tally_sequence(std::span<ScoreTally> heads, const Real* patterns, const Batch& batch, Index b) {
  const Index length = batch.length();
  for_each_query(batch, b, [&](const Query& query) {
    const Real* row = patterns + query.position * length;
    for (ScoreTally& head : heads) {
      add_query(head, query, [&](Index k) { return static_cast<double>(row[k]); });
      row += length * length;
    }
  });
}

/// Sets of that many heads each, one a sequence, as one set.
std::vector<HeadScores> scores_of(std::span<const ScoreTally> sequences, std::size_t heads, Index layer) {
  std::vector<HeadScores> scores;
  for (std::size_t head = 0; head < heads; ++head) {
    ScoreTally total;
    for (std::size_t i = head; i < sequences.size(); i += heads) total.add(sequences[i]);
    scores.push_back({layer, static_cast<Index>(head), total.means()});
  }
  return scores;
}

}  // namespace

void ScoreTally::add(Score score, double weight) {
  sums_[static_cast<std::size_t>(score)] += weight;
  ++queries_[static_cast<std::size_t>(score)];
}

void ScoreTally::add(const ScoreTally& other) {
  for (std::size_t i = 0; i < sums_.size(); ++i) {
    sums_[i] += other.sums_[i];
    queries_[i] += other.queries_[i];
  }
}

bool ScoreTally::is_empty() const { return queries_ == ScoreTally{}.queries_; }

ScoreValues ScoreTally::means() const {
  ScoreValues means{};
  for (std::size_t i = 0; i < means.size(); ++i)
    means[i] = queries_[i] == 0 ? std::numeric_limits<double>::quiet_NaN()
                                : sums_[i] / static_cast<double>(queries_[i]);
  return means;
}

std::vector<HeadScores> score_pattern(const Tensor& pattern, const Batch& batch, Index layer) {
  const Shape& shape = pattern.shape();
  const Index length = batch.length();
  require(shape.rank() == 4 && shape[0] == batch.size() && shape[2] == length && shape[3] == length,
          "[heads] expected a pattern ({}, H, {}, {}), got {}", batch.size(), length, length, shape);
  const auto heads = static_cast<std::size_t>(shape[1]);
  std::vector<ScoreTally> tallies(static_cast<std::size_t>(batch.size()) * heads);
  for (Index b = 0; b < batch.size(); ++b)
    tally_sequence(std::span(tallies).subspan(static_cast<std::size_t>(b) * heads, heads),
                   pattern.data() + b * shape[1] * length * length, batch, b);
  return scores_of(tallies, heads, layer);
}

HeadScorer::HeadScorer(const ModelConfig& config, const Batch& batch)
    : layers_(config.layers),
      heads_(config.heads),
      batch_(batch),
      tallies_(static_cast<std::size_t>(layers_ * batch.size() * heads_)) {}

std::size_t HeadScorer::place(Index layer, Index sequence) const {
  return static_cast<std::size_t>((layer * batch_.size() + sequence) * heads_);
}

void HeadScorer::check(const ModelConfig& config) const {
  require(config.layers == layers_ && config.heads == heads_,
          "[heads] expected a model of {} layers of {} heads, got {} of {}", layers_, heads_, config.layers,
          config.heads);
  for (Index layer = 0; layer < config.layers; ++layer) require_site(pattern(layer), config);
}

Variable HeadScorer::visit(const Visit& at, const Variable& value) {
  if (at.site.kind != SiteKind::pattern) return value;
  const Shape& shape = value.shape();
  require(at.first_sequence + shape[0] <= batch_.size() && shape[2] == batch_.length(),
          "[heads] expected patterns of the batch ({}, {}, {}, {}), got {} from sequence {} on",
          batch_.size(), heads_, batch_.length(), batch_.length(), shape, at.first_sequence);
  for (Index i = 0; i < shape[0]; ++i) {
    const Index sequence = at.first_sequence + i;
    // Shards write to sequences of their own.
    const auto tallies =
        std::span(tallies_).subspan(place(at.site.layer, sequence), static_cast<std::size_t>(heads_));
    std::ranges::fill(tallies, ScoreTally{});
    tally_sequence(tallies, value.data() + i * heads_ * shape[2] * shape[2], batch_, sequence);
  }
  return value;
}

void HeadScorer::finish(const std::vector<Site>& visited) const {
  for (Index layer = 0; layer < layers_; ++layer)
    require(std::ranges::find(visited, pattern(layer)) != visited.end(),
            "[heads] the pass did not come by {}", pattern(layer));
}

void HeadScorer::bring_together(Ranks& ranks, std::span<const Index> bounds) {
  static_assert(std::is_trivially_copyable_v<ScoreTally>);
  const Index size = heads_ * static_cast<Index>(sizeof(ScoreTally));
  std::vector<Index> bytes;
  for (const Index bound : bounds) bytes.push_back(size * bound);
  for (Index layer = 0; layer < layers_; ++layer)
    ranks.collect(std::as_writable_bytes(std::span(tallies_).subspan(
                      place(layer, 0), static_cast<std::size_t>(batch_.size() * heads_))),
                  bytes, "head scores");
}

std::vector<HeadScores> HeadScorer::scores(std::span<const double> copying) const {
  require(copying.empty() || static_cast<Index>(copying.size()) == layers_ * heads_,
          "[heads] expected a copying score for each of {} heads, got {}", layers_ * heads_, copying.size());
  require(std::ranges::none_of(tallies_, &ScoreTally::is_empty),
          "[heads] expected an evaluation of all {} sequences before their scores", batch_.size());
  std::vector<HeadScores> scores;
  for (Index layer = 0; layer < layers_; ++layer) {
    const auto of_layer =
        std::span(tallies_).subspan(place(layer, 0), static_cast<std::size_t>(batch_.size() * heads_));
    for (const HeadScores& head : scores_of(of_layer, static_cast<std::size_t>(heads_), layer))
      scores.push_back(head);
  }
  for (std::size_t i = 0; i < copying.size(); ++i)
    scores[i].values[static_cast<std::size_t>(Score::copying)] = copying[i];
  return scores;
}

std::vector<HeadScores> score_heads(const Transformer& model, const Batch& batch,
                                    const EvaluateOptions& options) {
  HeadScorer scorer(model.config(), batch);
  evaluate(model, batch, {scorer}, options);
  return scorer.scores(copying_scores(model, options.threads));
}

ScoreValues chance_scores(const Batch& batch, Index vocabulary) {
  ScoreTally total;
  for (Index b = 0; b < batch.size(); ++b) {
    ScoreTally tally;
    for_each_query(batch, b, [&](const Query& query) {
      const double weight = 1 / static_cast<double>(query.position + 1);
      add_query(tally, query, [&](Index) { return weight; });
    });
    total.add(tally);
  }
  ScoreValues scores = total.means();
  scores[static_cast<std::size_t>(Score::copying)] = chance_copying(vocabulary);
  return scores;
}

}  // namespace tapehead
