#include "tapehead/train/config_rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "tapehead/tensor/memory.h"

namespace tapehead {

namespace {

/// That the largest arrays beside the parameters fit in half of the memory; the model checks its own.
std::vector<Rule> memory_rules(const Config& config) {
  // Inputs, targets, kinds and copies of each position.
  constexpr double kPositionBytes = 13;
  const double memory = physical_memory();
  const auto length = static_cast<double>(config.task.length);
  const auto sequences_fit = [&](const char* name, Index count) {
    return Rule{
        kPositionBytes * static_cast<double>(count) * length <= memory / 2,
        {name, "task.length"},
        fmt::format("expected sequences that fit in half of this machine's {:.3g} GB of memory, got {}",
                    memory / 1e9, count)};
  };
  const double pattern = static_cast<double>(sizeof(Real)) * length * length *
                         static_cast<double>(std::min(config.train.shard, config.train.batch)) *
                         static_cast<double>(config.model.heads);
  return {
      sequences_fit("train.batch", config.train.batch),
      sequences_fit("train.evaluation_sequences", config.train.evaluation_sequences),
      {pattern <= memory / 2,
       {"task.length", "train.shard"},
       fmt::format("expected attention patterns of a shard that fit in half of this machine's {:.3g} GB of "
                   "memory, got {}",
                   memory / 1e9, config.task.length)}};
}

}  // namespace

std::vector<Rule> rules_of(const Config& config) {
  const auto& [model, task, train] = config;
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
      at_most("task.length", task.length, "model.context", model.context),
      at_most("train.warmup", train.warmup, "train.steps", train.steps),
  };
  for (Rule& rule : memory_rules(config)) list.push_back(std::move(rule));
  if (task.name == "fixed_period_sequence")
    list.push_back(less_than("task.period", task.period, "task.length", task.length));
  if (task.name == "copied_segment")
    list.push_back({task.segment <= task.length / 2,
                    {"task.segment", "task.length"},
                    fmt::format("expected at most half of task.length ({}), got {}: there would be no places "
                                "to choose from for the copy",
                                task.length, task.segment)});
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
