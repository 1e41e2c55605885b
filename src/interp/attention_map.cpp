#include "tapehead/interp/attention_map.h"

#include <algorithm>

#include "tapehead/base/require.h"
#include "tapehead/nn/recorder.h"

namespace tapehead {

std::vector<AttentionMap> attention_maps(const Transformer& model, const Tokens& sequence,
                                         const std::vector<Site>& heads) {
  require(sequence.batch() == 1, "[attention] expected one sequence, got {}", sequence.batch());
  std::vector<Site> sites;
  for (const Site& head : heads) {
    require_site(head, model.config());
    if (std::ranges::find(sites, pattern(head.layer)) == sites.end()) sites.push_back(pattern(head.layer));
  }
  Recorder recorder(sites);
  model(Pass().watched_by({recorder}), sequence);
  std::vector<AttentionMap> maps;
  for (const Site& head : heads) {
    const Tensor weights = recorder.at(pattern(head.layer));
    AttentionMap map{head.layer, head.head};
    for (Index query = 0; query < sequence.length(); ++query) {
      std::vector<double>& row = map.weights.emplace_back();
      for (Index key = 0; key < sequence.length(); ++key)
        row.push_back(static_cast<double>(weights(0, head.head, query, key)));
    }
    maps.push_back(std::move(map));
  }
  return maps;
}

std::vector<std::vector<Index>> induction_targets(const Batch& batch, Index b) {
  std::vector<std::vector<Index>> targets(static_cast<std::size_t>(batch.length()));
  for (Index query = 0; query < batch.length(); ++query) {
    if (batch.kinds(b, query) != Kind::induction) continue;
    for (Index at = batch.earlier_copy(b, query); at >= 0; at = batch.earlier_copy(b, at))
      targets[static_cast<std::size_t>(query)].push_back(at + 1);
  }
  return targets;
}

}  // namespace tapehead
