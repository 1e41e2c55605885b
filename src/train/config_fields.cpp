#include "tapehead/train/config_fields.h"

#include <fmt/format.h>

#include <algorithm>
#include <type_traits>
#include <utility>

namespace tapehead {

namespace {

Allowed at_least(double low) { return {.low = low}; }
Allowed between(double low, double high) { return {.low = low, .high = high}; }
Allowed inside(double low, double high) {
  return {.low = low, .high = high, .low_itself = false, .high_itself = false};
}
Allowed fraction_below_one() { return {.low = 0, .high = 1, .high_itself = false}; }
Allowed count(double low) { return between(low, kLargestCount); }
Allowed anything() { return {}; }
/// For an enum, in the order of its values.
Allowed words(std::vector<std::string_view> list) { return {.words = std::move(list)}; }

Allowed names_of_tasks() {
  Allowed names;
  for (const TaskKind& kind : task_kinds()) names.words.push_back(kind.name);
  return names;
}

auto& part(auto& config, const ModelConfig*) { return config.model; }
auto& part(auto& config, const TaskConfig*) { return config.task; }
auto& part(auto& config, const TrainConfig*) { return config.train; }
auto& part(auto& intervention, const Intervention*) { return intervention; }
std::string_view table_of(const ModelConfig*) { return "model"; }
std::string_view table_of(const TaskConfig*) { return "task"; }
std::string_view table_of(const TrainConfig*) { return "train"; }
std::string_view table_of(const Intervention*) { return kInterventionTable; }

/// What the fields of a part are listed for.
template <class Part>
using OwnerOf = std::conditional_t<std::is_same_v<Part, Intervention>, Intervention, Config>;

template <class Part, class Member>
Field<OwnerOf<Part>> field(std::string_view key, Member Part::*member, Allowed allowed,
                           std::string_view documentation) {
  using Owner = OwnerOf<Part>;
  constexpr const Part* tag = nullptr;
  const std::vector<std::string_view> list = allowed.words;
  const auto get = [member, list](const Owner& owner) -> FieldValue {
    const Member& value = part(owner, tag).*member;
    if constexpr (std::is_enum_v<Member>)
      return std::string(list.at(static_cast<std::size_t>(value)));
    else
      return value;
  };
  const auto set = [member, list](Owner& owner, const FieldValue& value) {
    Member& place = part(owner, tag).*member;
    if constexpr (std::is_enum_v<Member>)
      place = static_cast<Member>(std::ranges::find(list, std::get<std::string>(value)) - list.begin());
    else
      place = std::get<Member>(value);
  };
  return {table_of(tag), key, std::move(allowed), documentation, get, set};
}

std::vector<ConfigField> list_fields() {
  using M = ModelConfig;
  using D = TaskConfig;
  using T = TrainConfig;
  return {
      field("vocabulary", &M::vocabulary, count(2),
            "Different tokens; their ids are 0, ..., vocabulary - 1."),
      field("context", &M::context, count(1), "The longest sequence the model can read, in tokens."),
      field("width", &M::width, count(1),
            "Numbers a token carries from layer to layer: the width of the residual stream."),
      field("heads", &M::heads, count(1),
            "Attention heads a layer. Each is width / heads wide, so width must be divisible by it."),
      field("layers", &M::layers, count(0),
            "Blocks in a row. Induction takes two: one head looks a token back, a later one uses that."),
      field("feed_forward", &M::feed_forward, count(0),
            "Hidden units of every block's feed-forward part; 0 leaves it out (attention only)."),
      field("norm", &M::norm, words({"none", "layer", "rms"}),
            "LayerNorm or RMSNorm before attention, before feed-forward, and before the unembedding."),
      field("qkv_bias", &M::qkv_bias, anything(), "A bias on queries, keys and values."),
      field("bias", &M::bias, anything(), "A bias on every other linear layer, and on LayerNorm."),
      field("tied", &M::tied, anything(),
            "Use the embedding table as the unembedding too, instead of a matrix of its own."),
      field("dropout", &M::dropout, between(0, 1),
            "Chance that a value is set to zero in training; the rest are scaled up to make up for it."),
      field("positions", &M::positions, words({"learned", "sinusoidal", "rotary", "alibi", "none"}),
            "How a position enters: a learned table or fixed sines and cosines, added to the embedding; "
            "queries "
            "and keys turned by it; scores lowered by distance; or not at all."),
      field("activation", &M::activation, words({"gelu", "swiglu"}),
            "Units of the feed-forward part: GELU, or SiLU gating a second projection."),
      field("gelu", &M::gelu, words({"tanh", "erf"}),
            "GELU of the feed-forward part: GPT-2's tanh approximation, or exact, by the error function."),
      field("attention", &M::attention, words({"pattern", "tiled"}),
            "Hold the attention weights between two kernels, where they can be seen and changed, or never: "
            "then "
            "memory grows with the length and not with its square."),
      field("scores", &M::scores, words({"dot", "bilinear", "additive"}),
            "How a query and a key give a score: their product, through a matrix a head, or v tanh(q + k)."),
      field("scaled_scores", &M::scaled_scores, anything(),
            "Divide products of queries and keys by the root of the head width."),
      field("query_key_norm", &M::query_key_norm, anything(), "RMSNorm of every head's query and key."),
      field("smeared_keys", &M::smeared_keys, anything(),
            "Mix every key with the one before it, by a learned gate a head."),
      field("initialisation", &M::initialisation, words({"fan_in", "gpt2", "imported"}),
            "Spread of starting weights: 1/sqrt(inputs), for few layers and heads; GPT-2's, for deep models; "
            "or "
            "none, since they were imported."),

      field("name", &D::name, names_of_tasks(),
            "Where the sequences come from. With a fixed period one layer is enough, by position alone."),
      field("length", &D::length, count(1),
            "Positions a sequence; the target of each is the token after it. At most model.context."),
      field("period_min", &D::period_min, count(1),
            "Shortest repeated segment, in tokens (repeated_sequence; every sequence draws its own)."),
      field("period_max", &D::period_max, count(1),
            "Longest repeated segment, in tokens (repeated_sequence)."),
      field("period", &D::period, count(1),
            "Length of the repeated segment, in tokens (fixed_period_sequence)."),
      field("segment", &D::segment, count(2), "Length of the copied segment, in tokens (copied_segment)."),
      field("file", &D::file, anything(), "A text in UTF-8, of which windows are read (text)."),
      field("tokenizer", &D::tokenizer, anything(),
            "What a token is (text): \"characters\", or a folder with GPT-2's vocab.json and merges.txt."),
      field("training_share", &D::training_share, inside(0, 1),
            "Share of the text's characters that is trained on; the rest, at its end, is held out (text)."),

      field("steps", &T::steps, count(0), "Updates of the parameters in the whole run."),
      field("batch", &T::batch, count(1), "Sequences a step, drawn fresh for each."),
      field("shard", &T::shard, count(1),
            "Sequences one thread takes at a time: a batch is cut into shards of this many, and a rest."),
      field("optimizer", &T::optimizer, words({"adamw", "adam", "sgd"}), "How a gradient becomes an update."),
      field("learning_rate", &T::learning_rate, at_least(0), "Size of an update once warm-up is over."),
      field("betas", &T::betas, fraction_below_one(),
            "Share kept each step of the running means of the gradient and of its square (adamw, adam)."),
      field("epsilon", &T::epsilon, at_least(1e-30),
            "Added to the root of the mean square before dividing by it (adamw, adam)."),
      field("momentum", &T::momentum, fraction_below_one(),
            "Share of the last update that goes into the next (sgd)."),
      field("weight_decay", &T::weight_decay, at_least(0),
            "Pull of matrices and embeddings towards zero: times learning_rate (adamw), or in the gradient."),
      field("warmup", &T::warmup, count(0),
            "Steps over which the learning rate rises from nothing to its full size."),
      field("schedule", &T::schedule, words({"constant", "cosine"}),
            "After warm-up the learning rate stays, or falls along half a cosine until the last step."),
      field("clip", &T::clip, at_least(0),
            "A gradient whose norm over all parameters is larger is scaled down to it; 0 turns this off."),
      field("initialisation_seed", &T::initialisation_seed, at_least(0), "Seed of the starting weights."),
      field("data_seed", &T::data_seed, at_least(0), "Seed of the training sequences."),
      field("dropout_seed", &T::dropout_seed, at_least(0), "Seed of what dropout drops."),
      field("evaluation_seed", &T::evaluation_seed, at_least(0),
            "Seed of the evaluation sequences, which never train."),
      field("evaluation_interval", &T::evaluation_interval, count(1),
            "Steps from one evaluation to the next."),
      field("evaluation_sequences", &T::evaluation_sequences, count(1), "Sequences an evaluation."),
      field("checkpoint_interval", &T::checkpoint_interval, count(0),
            "Steps from one saved checkpoint to the next; 0: none so. The first and the last step are always "
            "saved."),
      field("checkpoints_per_doubling", &T::checkpoints_per_doubling, between(0, 1000),
            "Further checkpoints each time the step doubles, evenly on a logarithmic scale; 0: none so."),
      field("checkpoint_steps", &T::checkpoint_steps, count(0), "Further steps that are saved."),
      field("ring_snapshots", &T::ring_snapshots, between(0, 10000),
            "Snapshots in memory, of which those around the steepest rise of ring_score become checkpoints; "
            "0: none. A kill loses those not yet saved."),
      field("ring_interval", &T::ring_interval, count(1), "Steps from one of these snapshots to the next."),
      field("ring_score", &T::ring_score, words({"accuracy_induction", "previous_token", "induction"}),
            "What is to rise, from one evaluation to the next: the accuracy on induction positions, or the "
            "best head's score of this name."),
  };
}

std::vector<InterventionField> list_intervention_fields() {
  using I = Intervention;
  return {
      field("site", &I::site, anything(),
            "Where the model is changed, such as \"blocks.0.attention.head_output\"."),
      field("head", &I::head, between(-1, kLargestCount),
            "The head whose part of it is changed, from 0; -1: all of it."),
      field("kind", &I::kind, words({"zero", "scale", "mean", "uniform", "previous_token"}),
            "What is put there: 0; the value times factor; its mean over the sequences of a shard, for each "
            "position; or, in a pattern, even attention, or attention to the position before."),
      field("factor", &I::factor, between(-1e6, 1e6), "What scale multiplies by."),
      field("from", &I::from, count(0), "The first step whose update is made so."),
      field("to", &I::to, between(-1, kLargestCount),
            "The first step after that whose update is made without; -1: none. An evaluation is made as the "
            "update after it; commands that look at a run later see the plain model."),
  };
}

}  // namespace

const std::vector<ConfigField>& config_fields() {
  static const std::vector<ConfigField> fields = list_fields();
  return fields;
}

const std::vector<InterventionField>& intervention_fields() {
  static const std::vector<InterventionField> fields = list_intervention_fields();
  return fields;
}

std::string intervention_name(std::size_t index, std::string_view key) {
  return fmt::format("{}[{}]{}{}", kInterventionTable, index, key.empty() ? "" : ".", key);
}

std::string written(const std::vector<Intervention>& interventions) {
  std::string list;
  for (const Intervention& intervention : interventions) {
    std::string one;
    for (const InterventionField& field : intervention_fields())
      one += fmt::format("{}{} = {}", one.empty() ? "" : ", ", field.key, written(field.get(intervention)));
    list += fmt::format("{}{{{}}}", list.empty() ? "" : ", ", one);
  }
  return fmt::format("[{}]", list);
}

std::vector<FieldDifference> differences(const Config& first, const Config& second) {
  std::vector<FieldDifference> found;
  for (const ConfigField& field : config_fields())
    if (field.get(first) != field.get(second))
      found.push_back({field.name(), written(field.get(first)), written(field.get(second))});
  if (first.interventions != second.interventions)
    found.push_back(
        {std::string(kInterventionTable), written(first.interventions), written(second.interventions)});
  return found;
}

}  // namespace tapehead
