#include "tapehead/interp/ablation.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "tapehead/base/random.h"
#include "tapehead/base/require.h"
#include "tapehead/nn/recorder.h"

namespace tapehead {

namespace {

constexpr int kResamples = 2000;
constexpr std::uint64_t kBootstrapSeed = 1;
constexpr double kMissing = std::numeric_limits<double>::quiet_NaN();

std::vector<double> differences(const std::vector<double>& with, const std::vector<double>& without) {
  std::vector<double> result(with.size());
  std::transform(with.begin(), with.end(), without.begin(), result.begin(), std::minus<>());
  return result;
}

std::vector<double> without_missing(const std::vector<double>& values) {
  std::vector<double> there;
  std::copy_if(values.begin(), values.end(), std::back_inserter(there),
               [](double v) { return !std::isnan(v); });
  return there;
}

/// NaN where there is nothing.
double mean(const std::vector<double>& values) {
  double total = 0;
  for (const double value : values) total += value;
  return total / static_cast<double>(values.size());
}

/// What an ablation did, against the plain evaluation of the same batch.
Ablation compared(const Evaluation& ablated, const Evaluation& plain, Index layer, Index head) {
  const auto change = [&](Kind kind) {
    return bootstrap(differences(ablated.loss_by_sequence(kind), plain.loss_by_sequence(kind)),
                     kBootstrapSeed);
  };
  const auto change_accuracy = [&](Kind kind) {
    return bootstrap(differences(ablated.accuracy_by_sequence(kind), plain.accuracy_by_sequence(kind)),
                     kBootstrapSeed);
  };
  return {.layer = layer,
          .head = head,
          .change_loss =
              bootstrap(differences(ablated.loss_by_sequence(), plain.loss_by_sequence()), kBootstrapSeed),
          .change_induction = change(Kind::induction),
          .change_noise = change(Kind::noise),
          .change_accuracy_induction = change_accuracy(Kind::induction),
          .change_accuracy_noise = change_accuracy(Kind::noise),
          .accuracy_induction = bootstrap(ablated.accuracy_by_sequence(Kind::induction), kBootstrapSeed),
          .accuracy_plain = mean(without_missing(plain.accuracy_by_sequence(Kind::induction)))};
}

void require_same_batch(const Batch& batch, const Evaluation& plain) {
  require(plain.kinds == batch.kinds,
          "[ablation] expected the plain evaluation of the same batch, got one of another");
}

Edits zeroed(Index layer, Index head) {
  Edits edits;
  edits.zero(head_output(layer, head));
  return edits;
}

}  // namespace

Estimate bootstrap(const std::vector<double>& values, std::uint64_t seed) {
  const std::vector<double> there = without_missing(values);
  if (there.empty()) return {kMissing, kMissing, kMissing};
  Generator generator(seed, Purpose::bootstrap);
  std::vector<double> means;
  std::vector<double> resample(there.size());
  for (int i = 0; i < kResamples; ++i) {
    for (double& value : resample)
      value = there[static_cast<std::size_t>(generator.below(static_cast<Index>(there.size())))];
    means.push_back(mean(resample));
  }
  std::sort(means.begin(), means.end());
  const auto quantile = [&](double share) {
    return means[static_cast<std::size_t>(std::lround(share * static_cast<double>(kResamples - 1)))];
  };
  return {mean(there), quantile(0.025), quantile(0.975)};
}

Ablation zero_ablation(const Transformer& model, const Batch& batch, const Evaluation& plain, Index layer,
                       Index head, const EvaluateOptions& options) {
  require_same_batch(batch, plain);
  Edits edits = zeroed(layer, head);
  return compared(evaluate(model, batch, {edits}, options), plain, layer, head);
}

std::vector<Ablation> ablate_all_heads(const Transformer& model, const Batch& batch, const Evaluation& plain,
                                       const EvaluateOptions& options) {
  require_same_batch(batch, plain);
  const Index layers = model.config().layers;
  std::vector<Index> heads(static_cast<std::size_t>(model.config().heads));
  std::iota(heads.begin(), heads.end(), 0);
  heads.push_back(kAllHeads);
  std::vector<Ablation> ablations;
  if (layers == 0) return ablations;

  Recorder below({residual_before(0)});
  evaluate(model, batch, {below}, options);
  Tensor residual = below.at(residual_before(0));
  for (Index layer = 0; layer < layers; ++layer) {
    for (const Index head : heads) {
      Edits edits = zeroed(layer, head);
      ablations.push_back(
          compared(evaluate_from(model, batch, layer, residual, {edits}, options), plain, layer, head));
    }
    if (layer + 1 == layers) break;
    Recorder next({residual_before(layer + 1)});
    evaluate_from(model, batch, layer, residual, {next}, options);
    residual = next.at(residual_before(layer + 1));
  }
  return ablations;
}

CsvTable ablation_table(const std::vector<Ablation>& ablations, Index step, Index sequences) {
  CsvTable table({"kind", "layer", "head", "change_loss", "change_induction", "low", "high", "change_noise",
                  "accuracy_induction", "loss_low", "loss_high", "noise_low", "noise_high",
                  "change_accuracy_induction", "change_accuracy_noise", "accuracy_plain", "step",
                  "sequences"});
  for (const Ablation& a : ablations)
    table.add({"zero", std::to_string(a.layer), a.head == kAllHeads ? "all" : std::to_string(a.head),
               csv_cell(a.change_loss.mean), csv_cell(a.change_induction.mean),
               csv_cell(a.change_induction.low), csv_cell(a.change_induction.high),
               csv_cell(a.change_noise.mean), csv_cell(a.accuracy_induction.mean),
               csv_cell(a.change_loss.low), csv_cell(a.change_loss.high), csv_cell(a.change_noise.low),
               csv_cell(a.change_noise.high), csv_cell(a.change_accuracy_induction.mean),
               csv_cell(a.change_accuracy_noise.mean), csv_cell(a.accuracy_plain), std::to_string(step),
               std::to_string(sequences)});
  return table;
}

}  // namespace tapehead
