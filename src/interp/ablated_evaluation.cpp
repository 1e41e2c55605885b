#include "tapehead/interp/ablated_evaluation.h"

#include <algorithm>
#include <map>

#include "tapehead/base/parallel.h"
#include "tapehead/base/require.h"
#include "tapehead/nn/edits.h"
#include "tapehead/nn/recorder.h"

namespace tapehead {

namespace {

/// What one thread may keep of a shard, in bytes.
constexpr Index kMostKept = Index{1} << 28;

/// The site that a component is the whole or a head of.
Site whole(const Site& component) { return {component.kind, component.layer, kAllHeads}; }

Index first_layer(const Removal& removal) {
  return std::min_element(removal.components.begin(), removal.components.end(),
                          [](const Site& a, const Site& b) { return a.layer < b.layer; })
      ->layer;
}

/// What is held at its plain values in the layers after the first.
std::vector<Site> held_sites(const Removal& removal, Index layers) {
  std::vector<Site> sites;
  for (Index layer = first_layer(removal) + 1; layer < layers; ++layer) {
    if (removal.kind == AblationKind::pattern_preserving) sites.push_back(pattern(layer));
    if (removal.kind == AblationKind::value_preserving) sites.push_back(values(layer));
  }
  return sites;
}

/// Which sites have to be recorded for the removals, each once.
struct Needs {
  std::vector<Site> plain;   ///< of the plain run
  std::vector<Site> others;  ///< of the run on the reference sequences
  std::vector<Site> means;   ///< of the same, all sequences together
};

void add_once(std::vector<Site>& sites, const Site& site) {
  if (std::find(sites.begin(), sites.end(), site) == sites.end()) sites.push_back(site);
}

Needs needs_of(const std::vector<Removal>& removals, Index layers) {
  Needs needs;
  for (const Removal& removal : removals) {
    if (removal.components.empty()) continue;
    add_once(needs.plain, residual_before(first_layer(removal)));
    for (const Site& site : held_sites(removal, layers)) add_once(needs.plain, site);
    for (const Site& component : removal.components) {
      if (removal.kind == AblationKind::resample) add_once(needs.others, whole(component));
      if (removal.kind == AblationKind::mean) add_once(needs.means, whole(component));
    }
  }
  return needs;
}

void check(const Transformer& model, const Batch& batch, const Batch& reference,
           const std::vector<Removal>& removals, const Needs& needs) {
  for (const Removal& removal : removals)
    for (const Site& component : removal.components) {
      require_site(component, model.config());
      require(component.kind == SiteKind::head_output || component.kind == SiteKind::feed_forward_output,
              "[ablation] expected heads or feed-forward outputs to take out, got {}", component);
    }
  if (needs.others.empty() && needs.means.empty()) return;
  require(reference.size() == batch.size() && reference.length() == batch.length(),
          "[ablation] expected a reference of {} sequences of {} positions as the batch has, got {} of {}",
          batch.size(), batch.length(), reference.size(), reference.length());
}

/// How many sequences a thread takes at once.
Index shard_size(const Needs& needs, const Batch& batch, const ModelConfig& config, Index wanted) {
  const Index numbers = 1 + recorded_numbers(needs.plain, config, batch.length()) +
                        recorded_numbers(needs.others, config, batch.length());
  return std::clamp<Index>(kMostKept / (numbers * static_cast<Index>(sizeof(Real))), 1, wanted);
}

/// Runs body(first, count, shard) for every shard of `sequences`.
template <class Body>
void for_each_shard(Index sequences, Index size, int threads, const Body& body) {
  parallel_for((sequences + size - 1) / size, threads,
               [&](Index shard) { body(shard * size, std::min(size, sequences - shard * size), shard); });
}

using Means = std::map<std::string, Tensor>;  // by the site's name, (1, T, width)

/// The mean over all reference sequences of what comes by each site. Shards are added up in order.
Means means_of(const Transformer& model, const Batch& reference, const std::vector<Site>& sites,
               const EvaluateOptions& options) {
  Means means;
  if (sites.empty()) return means;
  const Index shards = (reference.size() + options.shard - 1) / options.shard;
  std::vector<std::vector<std::vector<double>>> sums(static_cast<std::size_t>(shards));
  for_each_shard(reference.size(), options.shard, options.threads,
                 [&](Index first, Index count, Index shard) {
                   Recorder recorder(sites);
                   evaluate(model, reference.rows(first, count), {recorder}, {.shard = count});
                   for (const Site& site : sites) {
                     const Tensor seen = recorder.at(site);
                     const Index row = seen.count() / count;
                     std::vector<double> sum(static_cast<std::size_t>(row), 0);
                     for (Index i = 0; i < seen.count(); ++i)
                       sum[static_cast<std::size_t>(i % row)] += static_cast<double>(seen.data()[i]);
                     sums[static_cast<std::size_t>(shard)].push_back(std::move(sum));
                   }
                 });
  for (std::size_t site = 0; site < sites.size(); ++site) {
    Tensor mean({1, reference.length(), model.config().width});
    for (Index i = 0; i < mean.count(); ++i) {
      double total = 0;
      for (const auto& shard : sums) total += shard[site][static_cast<std::size_t>(i)];
      mean.data()[i] = static_cast<Real>(total / static_cast<double>(reference.size()));
    }
    means.emplace(to_string(sites[site]), std::move(mean));
  }
  return means;
}

Edits edits_for(const Removal& removal, const Recorder& plain, const Recorder& others, const Means& means,
                Index layers) {
  Edits edits;
  for (const Site& component : removal.components) {
    if (removal.kind == AblationKind::mean)
      edits.mean(component, means.at(to_string(whole(component))));
    else if (removal.kind == AblationKind::resample)
      edits.put(component, others.at(whole(component)));
    else
      edits.zero(component);
  }
  for (const Site& site : held_sites(removal, layers)) edits.put(site, plain.at(site));
  return edits;
}

Evaluation blank(const Batch& batch) {
  return {Tensor({batch.size(), batch.length()}), Tensor({batch.size(), batch.length()}), batch.kinds};
}

void put_rows(Evaluation& into, Index first, const Evaluation& part) {
  const Index offset = first * into.losses.shape()[1];
  std::copy_n(part.losses.data(), part.losses.count(), into.losses.data() + offset);
  std::copy_n(part.hits.data(), part.hits.count(), into.hits.data() + offset);
}

}  // namespace

const AblationDefinition& definition_of(AblationKind kind) {
  return kAblationKinds[static_cast<std::size_t>(kind)];
}

std::string component_name(const Site& component) {
  if (component.kind == SiteKind::feed_forward_output)
    return fmt::format("layer {} feed-forward", component.layer);
  return component.head == kAllHeads ? fmt::format("layer {} all heads", component.layer)
                                     : fmt::format("layer {} head {}", component.layer, component.head);
}

std::vector<Site> all_components(const ModelConfig& config) {
  std::vector<Site> components;
  for (Index layer = 0; layer < config.layers; ++layer) {
    for (Index head = 0; head < config.heads; ++head) components.push_back(head_output(layer, head));
    components.push_back(head_output(layer));
    if (config.feed_forward > 0) components.push_back(feed_forward_output(layer));
  }
  return components;
}

Batch reference_batch(const Task& task, const Batch& batch, std::uint64_t evaluation_seed) {
  constexpr Index kStream = 1;  // the evaluation batch has stream 0
  Generator generator(evaluation_seed, Purpose::evaluation, 0, kStream);
  return task.resample(batch, generator);
}

AblatedEvaluations evaluate_ablated(const Transformer& model, const Batch& batch, const Batch& reference,
                                    const std::vector<Removal>& removals, const EvaluateOptions& options) {
  require(options.shard >= 1, "[ablation] expected shards of at least 1 sequence, got {}", options.shard);
  require(batch.size() >= 1, "[ablation] a batch without sequences");
  const Index layers = model.config().layers;
  const Needs needs = needs_of(removals, layers);
  check(model, batch, reference, removals, needs);
  const Means means = means_of(model, reference, needs.means, options);
  AblatedEvaluations result{blank(batch), std::vector<Evaluation>(removals.size(), blank(batch))};
  const Index size = shard_size(needs, batch, model.config(), options.shard);
  for_each_shard(batch.size(), size, options.threads, [&](Index first, Index count, Index) {
    const EvaluateOptions whole_shard{.threads = 1, .shard = count};
    const Batch part = batch.rows(first, count);
    Recorder plain(needs.plain);
    const Evaluation intact = evaluate(model, part, {plain}, whole_shard);
    put_rows(result.plain, first, intact);
    Recorder others(needs.others);
    if (!needs.others.empty()) evaluate(model, reference.rows(first, count), {others}, whole_shard);
    for (std::size_t i = 0; i < removals.size(); ++i) {
      const Removal& removal = removals[i];
      if (removal.components.empty()) {
        put_rows(result.ablated[i], first, intact);
        continue;
      }
      const Index layer = first_layer(removal);
      Edits edits = edits_for(removal, plain, others, means, layers);
      put_rows(result.ablated[i], first,
               evaluate_from(model, part, layer, plain.at(residual_before(layer)), {edits}, whole_shard));
    }
  });
  return result;
}

}  // namespace tapehead
