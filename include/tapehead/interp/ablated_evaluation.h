/// Evaluations of a model without some of its components: what is taken out, and what stands in its place.
///
/// A component is a head, `head_output(l, h)`, all heads of a layer together, `head_output(l)`, or what a
/// layer's feed-forward part adds, `feed_forward_output(l)`. A head is replaced before the output projection,
/// whose bias stays. "Plain" is the model with nothing taken out.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "tapehead/nn/site.h"
#include "tapehead/train/evaluate.h"

namespace tapehead {

enum class AblationKind { zero, mean, resample, pattern_preserving, value_preserving };

struct AblationDefinition {
  AblationKind kind;
  std::string_view name;         ///< as in the tables, and at the command line
  std::string_view replacement;  ///< what the output is replaced by
};

inline constexpr std::array<AblationDefinition, 5> kAblationKinds{{
    {AblationKind::zero, "zero", "0"},
    {AblationKind::mean, "mean", "its plain mean over the reference sequences, per position"},
    {AblationKind::resample, "resample",
     "its plain output on another, independent sequence of the same structure (the reference sequence)"},
    {AblationKind::pattern_preserving, "pattern-preserving",
     "0, while all attention patterns are held at their plain values: only value paths change"},
    {AblationKind::value_preserving, "value-preserving",
     "0, while later layers' values are held at their plain values: only query and key paths change"},
}};

const AblationDefinition& definition_of(AblationKind kind);

/// These components are replaced together. "Later layers" are those after the first of their layers.
struct Removal {
  AblationKind kind = AblationKind::zero;
  std::vector<Site> components = {};  ///< none: the plain model
};

/// "layer 0 head 1", "layer 0 all heads", "layer 0 feed-forward".
std::string component_name(const Site& component);

/// Layer by layer every head alone, all of them, and the feed-forward output where there is one.
std::vector<Site> all_components(const ModelConfig& config);

/// For every sequence of the evaluation batch an independent one of the same structure, by Task::resample,
/// from a stream of its own of the evaluation seed.
Batch reference_batch(const Task& task, const Batch& batch, std::uint64_t evaluation_seed);

struct AblatedEvaluations {
  Evaluation plain;
  std::vector<Evaluation> ablated;  ///< one a removal
};

/// Evaluates the model plain and with each removal, on the same sequences. What lies below the first layer
/// of a removal is run only once, so all are as `evaluate` makes them with the edits, to the bit where it
/// takes the same shards (fewer sequences a shard are taken where their patterns would fill the memory).
/// `reference` has as many sequences as `batch`; it may be empty if no removal is of kind mean or resample.
/// The result does not depend on the number of threads.
/// Throws Error for components that the model does not have, and for a reference of another shape.
AblatedEvaluations evaluate_ablated(const Transformer& model, const Batch& batch, const Batch& reference,
                                    const std::vector<Removal>& removals,
                                    const EvaluateOptions& options = {});

}  // namespace tapehead
