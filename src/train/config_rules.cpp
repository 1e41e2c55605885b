#include "tapehead/train/config_rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "tapehead/base/require.h"
#include "tapehead/nn/site.h"
#include "tapehead/nn/transformer.h"
#include "tapehead/tasks/identifier.h"
#include "tapehead/tensor/memory.h"
#include "tapehead/train/config_fields.h"

namespace tapehead {

namespace {

/// That the largest arrays beside the parameters fit in half of the memory; the model checks its own.
std::vector<Rule> memory_rules(const Config& config) {
  const double memory = physical_memory();
  const auto length = static_cast<double>(config.task.length);
  const auto sequences_fit = [&](const char* name, Index count) {
    std::string complaint = complaint_about_sequences(count, config.task.length);
    return Rule{complaint.empty(), {name, "task.length"}, std::move(complaint)};
  };
  const double pattern = static_cast<double>(sizeof(Real)) * length * length *
                         static_cast<double>(std::min(config.train.shard, config.train.batch)) *
                         static_cast<double>(config.model.heads) *
                         (config.model.scores == ScoreForm::additive ? 2 : 1);  // the scores beside it
  return {
      sequences_fit("train.batch", config.train.batch),
      sequences_fit("train.evaluation_sequences", config.train.evaluation_sequences),
      {!holds_patterns(config.model) || pattern <= memory / 2,
       {"task.length", "train.shard"},
       fmt::format("expected attention patterns of a shard that fit in half of this machine's {:.3g} GB of "
                   "memory, got {}",
                   memory / 1e9, config.task.length)}};
}

/// The site of that name, or the complaint, without its tag, that there is none.
std::pair<Site, std::string> named_site(const std::string& name) {
  try {
    return {parse_site(name), ""};
  } catch (const Error& error) {
    const std::string_view message = error.what();
    return {Site{}, std::string(message.substr(message.find(' ') + 1))};
  }
}

/// That the site is one of this model's, and what is put there means something at such a site.
std::vector<Rule> site_rules(const Intervention& intervention, std::size_t index, const ModelConfig& model) {
  const auto name = [index](const char* key) { return intervention_name(index, key); };
  const auto& [text, head, kind, factor, from, to] = intervention;
  const auto [site, complaint] = named_site(text);
  if (!complaint.empty())
    return {{false,
             {name("site"), intervention_name(index)},
             text.empty() ? "expected a site such as \"blocks.0.attention.head_output\", got nothing"
                          : complaint}};
  const bool of_a_head = has_heads(site.kind);
  const bool pattern_kind = kind == "uniform" || kind == "previous_token";
  return {
      {site.head == kAllHeads,
       {name("site"), name("head")},
       fmt::format("expected the whole site, with head = {} beside it, got \"{}\"", site.head, text)},
      {site.layer < model.layers,
       {name("site"), "model.layers"},
       fmt::format("expected a layer below model.layers ({}), got {}", model.layers, site.layer)},
      {site.kind != SiteKind::feed_forward_output || model.feed_forward > 0,
       {name("site"), "model.feed_forward"},
       fmt::format("expected a site of this model, which has no feed-forward part, got \"{}\"", text)},
      {site.kind != SiteKind::pattern || holds_patterns(model),
       {name("site"), "model.attention"},
       fmt::format("expected a site of the tiled attention, which holds no patterns, got \"{}\"", text)},
      {head == kAllHeads || of_a_head,
       {name("head"), name("site")},
       fmt::format("expected {} (all), since {} has no heads, got {}", kAllHeads, text, head)},
      {head < model.heads,
       {name("head"), "model.heads"},
       fmt::format("expected less than model.heads ({}), got {}", model.heads, head)},
      {!pattern_kind || site.kind == SiteKind::pattern,
       {name("kind"), name("site")},
       fmt::format("expected a site \"blocks.0.attention.pattern\" for {}, got \"{}\"", kind, text)},
      {site.kind != SiteKind::logits || (kind != "zero" && factor != 0),
       {name(kind == "zero" ? "kind" : "factor"), name("site")},
       "expected something to be left to learn from: not zero at the logits"},
  };
}

std::vector<Rule> intervention_rules(const Config& config) {
  std::vector<Rule> list{{config.interventions.size() <= kMostInterventions,
                          {intervention_name(kMostInterventions), intervention_name(0)},
                          fmt::format("expected at most {} interventions, got {}", kMostInterventions,
                                      config.interventions.size())}};
  for (std::size_t i = 0; i < config.interventions.size(); ++i) {
    const Intervention& one = config.interventions[i];
    const auto name = [i](const char* key) { return intervention_name(i, key); };
    for (Rule& rule : site_rules(one, i, config.model)) list.push_back(std::move(rule));
    list.push_back({one.kind != "scale" || one.factor != 1,
                    {name("factor"), name("kind")},
                    "expected a factor other than 1 for scale"});
    list.push_back({one.kind == "scale" || one.factor == 1,
                    {name("factor"), name("kind")},
                    fmt::format("expected none for {}, which multiplies by nothing", one.kind)});
    list.push_back(
        {one.from < config.train.steps,
         {name("from"), "train.steps"},
         fmt::format("expected less than train.steps ({}), got {}", config.train.steps, one.from)});
    list.push_back({one.to == -1 || one.from < one.to,
                    {name("to"), name("from")},
                    fmt::format("expected more than from ({}), or -1, got {}", one.from, one.to)});
  }
  return list;
}

/// What the ring of snapshots needs, and the steps that are listed for checkpoints.
std::vector<Rule> checkpoint_rules(const Config& config) {
  const TrainConfig& train = config.train;
  const Index last = train.checkpoint_steps.empty() ? 0 : std::ranges::max(train.checkpoint_steps);
  const double averages = train.optimizer == "sgd" ? 1 : 2;
  const double snapshot = (1 + averages) * count_parameters(config.model) * sizeof(Real);
  const double memory = physical_memory();
  const Index reach = train.ring_snapshots * train.ring_interval;
  return {
      {last <= train.steps,
       {"train.checkpoint_steps", "train.steps"},
       fmt::format("expected none above train.steps ({}), got {}", train.steps, last)},
      {snapshot * static_cast<double>(train.ring_snapshots) <= memory / 2,
       {"train.ring_snapshots", "model.width"},
       fmt::format("expected snapshots, of {:.3g} MB each, that fit in half of this machine's {:.3g} GB of "
                   "memory, got {}",
                   snapshot / 1e6, memory / 1e9, train.ring_snapshots)},
      {train.ring_snapshots == 0 || reach >= 2 * train.evaluation_interval,
       {"train.ring_snapshots", "train.evaluation_interval"},
       fmt::format("expected snapshots that reach back over two evaluations, each of {} steps, got {} of {} "
                   "steps",
                   train.evaluation_interval, train.ring_snapshots, train.ring_interval)},
      {train.ring_snapshots == 0 || train.ring_score == "accuracy_induction" || holds_patterns(config.model),
       {"train.ring_score", "model.attention"},
       fmt::format(
           "expected accuracy_induction for the tiled attention, which has no patterns to score, got {}",
           train.ring_score)},
      {train.ring_snapshots == 0 || train.steps == 0 || train.ring_interval <= train.steps,
       {"train.ring_interval", "train.steps"},
       fmt::format("expected an interval within train.steps ({}), got {}", train.steps, train.ring_interval)},
  };
}

}  // namespace

std::string complaint_about_sequences(Index count, Index length) {
  // Inputs, targets, kinds and copies of each position.
  constexpr double kPositionBytes = 13;
  const double memory = physical_memory();
  if (kPositionBytes * static_cast<double>(count) * static_cast<double>(length) <= memory / 2) return "";
  return fmt::format("expected sequences that fit in half of this machine's {:.3g} GB of memory, got {}",
                     memory / 1e9, count);
}

std::vector<Rule> rules_of(const Config& config) {
  const ModelConfig& model = config.model;
  const TaskConfig& task = config.task;
  const TrainConfig& train = config.train;
  const auto at_most = [](const char* name, Index value, const char* other, Index most) {
    return Rule{
        value <= most, {name, other}, fmt::format("expected at most {} ({}), got {}", other, most, value)};
  };
  const auto less_than = [](const char* name, Index value, const char* other, Index bound) {
    return Rule{
        value < bound, {name, other}, fmt::format("expected less than {} ({}), got {}", other, bound, value)};
  };
  std::vector<Rule> list{
      {model.width % model.heads == 0,
       {"model.width", "model.heads"},
       fmt::format("expected a multiple of model.heads ({}), got {}", model.heads, model.width)},
      {model.positions != Positions::rotary || model.width / model.heads % 2 == 0,
       {"model.positions", "model.heads"},
       fmt::format("expected heads of an even width for rotary, which turns pairs, got {}",
                   model.width / model.heads)},
      {model.positions != Positions::rotary || model.scores != ScoreForm::additive,
       {"model.positions", "model.scores"},
       "expected positions other than rotary, which acts through the product of query and key, for additive "
       "scores"},
      {model.scaled_scores || model.scores != ScoreForm::additive,
       {"model.scaled_scores", "model.scores"},
       "expected true for additive scores, which are no products to be left as they are"},
      {model.attention != AttentionForm::tiled || model.scores != ScoreForm::additive,
       {"model.attention", "model.scores"},
       "expected pattern for additive scores: the tiled attention has products alone"},
      {model.attention != AttentionForm::tiled || model.dropout == 0,
       {"model.attention", "model.dropout"},
       fmt::format("expected pattern for a dropout of {}: the tiled attention has no weights to drop",
                   model.dropout)},
      at_most("task.length", task.length, "model.context", model.context),
      at_most("train.warmup", train.warmup, "train.steps", train.steps),
  };
  for (const auto& rules : {memory_rules, checkpoint_rules, intervention_rules})
    for (Rule& rule : rules(config)) list.push_back(std::move(rule));
  if (task.name == "fixed_period_sequence")
    list.push_back(less_than("task.period", task.period, "task.length", task.length));
  if (task.name == "copied_segment")
    list.push_back({task.segment <= task.length / 2,
                    {"task.segment", "task.length"},
                    fmt::format("expected at most half of task.length ({}), got {}: there would be no places "
                                "to choose from for the copy",
                                task.length, task.segment)});
  if (task.name == "identifier") {
    list.push_back({task.length >= Identifier::shortest_length(),
                    {"task.length", "task.name"},
                    fmt::format("expected at least {}, in which the shortest line returns to its identifier, "
                                "got {}",
                                Identifier::shortest_length(), task.length)});
    list.push_back({model.vocabulary >= Identifier::characters(),
                    {"model.vocabulary", "task.name"},
                    fmt::format("expected at least {}, the number of different characters, got {}",
                                Identifier::characters(), model.vocabulary)});
  }
  if (task.name == "text") {
    list.push_back(
        {!task.file.empty(), {"task.file", "task.name"}, "expected the path of a text, got nothing"});
    list.push_back({!task.tokenizer.empty(),
                    {"task.tokenizer", "task.name"},
                    "expected \"characters\" or the path of a folder, got nothing"});
  }
  if (task.name == "repeated_sequence") {
    list.push_back(less_than("task.period_max", task.period_max, "task.length", task.length));
    list.push_back(less_than("task.period_min", task.period_min, "task.period_max", task.period_max));
    if (task.period_min == task.period_max)
      list.back().message +=
          ": with one period for all, one layer solves the task by position; if that is wanted, the task is "
          "\"fixed_period_sequence\"";
  }
  return list;
}

}  // namespace tapehead
