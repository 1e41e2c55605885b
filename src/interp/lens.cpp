#include "tapehead/interp/lens.h"

#include <algorithm>
#include <numeric>

#include "tapehead/autograd/elementary.h"
#include "tapehead/base/require.h"

namespace tapehead {

namespace {

/// Where the stream is read out, from below.
std::vector<Site> read_outs(const ModelConfig& config) {
  if (config.layers == 0) return {embedding_site()};
  std::vector<Site> sites;
  for (Index layer = 0; layer < config.layers; ++layer) sites.push_back(residual_before(layer));
  sites.push_back(residual_after(config.layers - 1));
  return sites;
}

/// Calls `read(i, stream, first_sequence)` for every place of read-out i that a pass comes by.
template <class Read>
class Reader : public Watcher {
 public:
  Reader(std::vector<Site> sites, Read read) : sites_(std::move(sites)), read_(std::move(read)) {}

  void check(const ModelConfig&) const override {}
  Variable visit(const Visit& at, const Variable& value) override {
    const auto place = std::ranges::find(sites_, at.site);
    if (place != sites_.end())
      read_(static_cast<std::size_t>(place - sites_.begin()), value, at.first_sequence);
    return value;
  }
  void finish(const std::vector<Site>&) const override {}

 private:
  std::vector<Site> sites_;
  Read read_;
};

void copy_rows(const Tensor& rows, Index first, Tensor& whole) {
  std::copy_n(rows.data(), rows.count(), whole.data() + first * whole.shape()[1]);
}

}  // namespace

std::vector<Evaluation> lens(const Transformer& model, const Batch& batch, const EvaluateOptions& options) {
  const std::vector<Site> sites = read_outs(model.config());
  const Shape shape{batch.size(), batch.length()};
  std::vector<Evaluation> evaluations(sites.size(), {Tensor(shape), Tensor(shape), batch.kinds});
  // A shard writes its own rows alone, so shards may come at the same time.
  Reader reader(sites, [&](std::size_t place, const Variable& stream, Index first) {
    const Index count = stream.shape()[0];
    const Evaluation part = evaluate_from(model, batch.rows(first, count), model.config().layers,
                                          stream.value(), {}, {.threads = 1, .shard = count});
    copy_rows(part.losses, first, evaluations[place].losses);
    copy_rows(part.hits, first, evaluations[place].hits);
  });
  evaluate(model, batch, {reader}, options);
  return evaluations;
}

Tensor lens_at(const Transformer& model, const Tokens& tokens, Index position) {
  require(tokens.batch() == 1 && position >= 0 && position < tokens.length(),
          "[lens] expected one sequence and a position of it, got ({}, {}) and {}", tokens.batch(),
          tokens.length(), position);
  const std::vector<Site> sites = read_outs(model.config());
  const Index vocabulary = model.config().vocabulary;
  Tensor probabilities({static_cast<Index>(sites.size()), vocabulary});
  Reader reader(sites, [&](std::size_t place, const Variable& stream, Index) {
    const Variable here = slice(stream, 1, position, position + 1);
    const Variable row = softmax(model.from_layer(Pass(), model.config().layers, here));
    std::copy_n(row.data(), vocabulary, probabilities.data() + static_cast<Index>(place) * vocabulary);
  });
  model(Pass().watched_by({reader}), tokens);
  return probabilities;
}

std::vector<Guess> likeliest(const Tensor& probabilities, Index row, Index count) {
  std::vector<std::int32_t> ids(static_cast<std::size_t>(probabilities.shape()[1]));
  std::iota(ids.begin(), ids.end(), 0);
  const auto shown = std::min(static_cast<std::size_t>(std::max<Index>(count, 0)), ids.size());
  const auto middle = ids.begin() + static_cast<std::ptrdiff_t>(shown);
  std::partial_sort(ids.begin(), middle, ids.end(), [&](std::int32_t a, std::int32_t b) {
    const Real of_a = probabilities(row, a);
    const Real of_b = probabilities(row, b);
    return of_a > of_b || (of_a == of_b && a < b);
  });
  std::vector<Guess> guesses;
  for (std::size_t i = 0; i < shown; ++i)
    guesses.push_back({ids[i], static_cast<double>(probabilities(row, ids[i]))});
  return guesses;
}

CsvTable lens_table(const std::vector<Evaluation>& evaluations, Index step) {
  CsvTable table({"layer", "loss", "loss_induction", "loss_noise", "accuracy_induction", "accuracy_noise",
                  "step", "sequences"});
  for (std::size_t layer = 0; layer < evaluations.size(); ++layer) {
    const Evaluation& evaluation = evaluations[layer];
    table.add({std::to_string(layer), csv_cell(evaluation.loss()), csv_cell(evaluation.loss(Kind::induction)),
               csv_cell(evaluation.loss(Kind::noise)), csv_cell(evaluation.accuracy(Kind::induction)),
               csv_cell(evaluation.accuracy(Kind::noise)), std::to_string(step),
               std::to_string(evaluation.kinds.batch())});
  }
  return table;
}

}  // namespace tapehead
