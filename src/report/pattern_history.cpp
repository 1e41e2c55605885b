#include "tapehead/report/pattern_history.h"

#include <algorithm>

#include "tapehead/base/parallel.h"
#include "tapehead/base/require.h"
#include "tapehead/nn/recorder.h"
#include "tapehead/train/evaluate.h"
#include "tapehead/train/run_checkpoint.h"
#include "tapehead/train/trainer.h"

namespace tapehead {

namespace {

Batch sequences_of(const Batch& batch, const PatternHistoryOptions& options) {
  return batch.rows(0, std::min(batch.size(), options.sequences))
      .shortened(std::min(batch.length(), options.positions));
}

/// Of so many evenly, with the first and the last of them.
std::vector<Index> thinned(const std::vector<Index>& steps, Index most) {
  const auto count = static_cast<Index>(steps.size());
  if (count <= most) return steps;
  if (most <= 1) return {steps.back()};
  std::vector<Index> kept;
  for (Index i = 0; i < most; ++i)
    kept.push_back(steps[static_cast<std::size_t>((i * (count - 1) + (most - 1) / 2) / (most - 1))]);
  return kept;
}

Packed weights_of(const Transformer& model, const Batch& sequences) {
  const ModelConfig& config = model.config();
  std::vector<Site> sites;
  for (Index layer = 0; layer < config.layers; ++layer) sites.push_back(pattern(layer));
  Recorder recorder(sites);
  evaluate(model, sequences, {recorder});
  const Index length = sequences.length();
  std::vector<Real> weights;
  for (Index b = 0; b < sequences.size(); ++b)
    for (Index layer = 0; layer < config.layers; ++layer) {
      const Tensor values = recorder.at(pattern(layer));
      for (Index head = 0; head < config.heads; ++head)
        for (Index query = 0; query < length; ++query) {
          const Real* row = values.data() + ((b * config.heads + head) * length + query) * length;
          weights.insert(weights.end(), row, row + query + 1);
        }
    }
  return packed_shares(weights);
}

}  // namespace

PatternHistory pattern_history(const RunDirectory& run, const Task& task,
                               const PatternHistoryOptions& options) {
  const ModelConfig& model = run.config().model;
  const std::vector<Index> steps = run.checkpoint_steps();
  const Batch batch = evaluation_batch(run.config(), task);
  PatternHistory history{.sequences = sequences_of(batch, options),
                         .of_positions = batch.length(),
                         .steps = {},
                         .weights = {},
                         .checkpoints = static_cast<Index>(steps.size()),
                         .faults = {}};
  const Index length = history.sequences.length();
  const Index each = history.sequences.size() * model.layers * model.heads * length * (length + 1) / 2;
  const std::vector<Index> kept = thinned(steps, std::max<Index>(1, options.most / std::max<Index>(1, each)));
  std::vector<Packed> weights(kept.size());
  std::vector<std::string> faults(kept.size());
  parallel_for(static_cast<Index>(kept.size()), options.threads, [&](Index i) {
    const auto at = static_cast<std::size_t>(i);
    try {
      weights[at] = weights_of(run_checkpoint(run, kept[at]).model, history.sequences);
    } catch (const Error& error) {
      faults[at] = error.what();
    }
  });
  for (std::size_t i = 0; i < kept.size(); ++i)
    if (faults[i].empty()) {
      history.steps.push_back(kept[i]);
      history.weights.push_back(std::move(weights[i]));
    } else {
      history.faults.push_back(std::move(faults[i]));
    }
  require(!history.steps.empty(), "[page] no checkpoint of {} can be read{}{}", run.path().string(),
          history.faults.empty() ? "" : ": ", history.faults.empty() ? "" : history.faults.front());
  return history;
}

}  // namespace tapehead
