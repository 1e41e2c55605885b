#include "tapehead/train/fork.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <vector>

#include "tapehead/base/require.h"
#include "tapehead/nn/site.h"
#include "tapehead/train/config_fields.h"
#include "tapehead/train/run_checkpoint.h"
#include "tapehead/train/run_tables.h"
#include "tapehead/train/trainer.h"

namespace tapehead {

namespace {

namespace fs = std::filesystem;

/// Why a field, or all of a table, cannot change in a fork.
struct Fixed {
  std::string_view name;
  std::string_view reason;
};

constexpr std::array<Fixed, 8> kFixed{{
    {"model.", "it is part of the model that goes on"},
    {"task.", "the data to come are the parent's"},
    {"train.batch", "the data to come are the parent's"},
    {"train.data_seed", "the data to come are the parent's"},
    {"train.initialisation_seed", "the weights were drawn from it"},
    {"train.optimizer", "the optimizer goes on with its averages"},
    {"train.evaluation_seed", "the curves up to here were measured with it"},
    {"train.evaluation_sequences", "the curves up to here were measured with it"},
}};

const Fixed* fixed(std::string_view name) {
  // Neither has a part in the parameters.
  if (name == "model.dropout" || name == "model.attention") return nullptr;
  const auto found = std::ranges::find_if(kFixed, [&](const Fixed& one) {
    return one.name.ends_with('.') ? name.starts_with(one.name) : name == one.name;
  });
  return found == kFixed.end() ? nullptr : &*found;
}

/// The parent's checkpoint, whose config is that of the run.
Checkpoint checkpoint_at(const RunDirectory& parent, Index step) {
  const std::vector<Index> steps = parent.checkpoint_steps();
  if (std::ranges::find(steps, step) == steps.end())
    throw UsageError(fmt::format("[fork] {} has no checkpoint of step {}; it has {}", parent.path().string(),
                                 step, steps.empty() ? "none" : fmt::format("{}", fmt::join(steps, " "))));
  return run_checkpoint(parent, step);
}

/// The parent's tables up to `step`, cut there.
void copy_tables(const RunDirectory& parent, Index step, const RunDirectory& child) {
  if (fs::exists(parent.table_file("floors")))
    fs::copy_file(parent.table_file("floors"), child.table_file("floors"));
  if (step == 0) return;
  metrics_until(parent, step).write(child.metrics_file());
  if (!fs::exists(parent.heads_file())) return;
  const CsvTable heads = heads_until(parent, step);
  // A child that holds no patterns has no scores, not even from before.
  (holds_patterns(child.config().model) ? heads : CsvTable(heads.columns())).write(child.heads_file());
}

}  // namespace

void require_forkable(const Config& parent, const Config& child) {
  for (const FieldDifference& field : differences(parent, child))
    if (const Fixed* found = fixed(field.name))
      throw UsageError(fmt::format("[fork] {} cannot change from {} to {} in a fork: {}", field.name,
                                   field.first, field.second, found->reason));
}

RunDirectory fork_run(const RunDirectory& parent, Index step, std::span<const std::string> overrides,
                      const fs::path& out, bool overwrite) {
  const Config config = read_config(parent.path() / "config.toml", overrides);
  require_forkable(parent.config(), config);
  // Another form of attention is a way to look at the model, with nothing to train.
  const bool is_finished =
      step == config.train.steps && config.model.attention != parent.config().model.attention;
  if (step >= config.train.steps && !is_finished)
    throw UsageError(
        fmt::format("[fork] nothing is left to train after step {} of {}; set train.steps to more", step,
                    config.train.steps));
  if (fs::exists(out) && fs::equivalent(out, parent.path()))
    throw UsageError(
        fmt::format("[fork] {} cannot be its own child; choose another folder", parent.path().string()));
  const fs::path file = parent.checkpoint_file(step);
  const Trainer trainer(checkpoint_at(parent, step), file, 1);
  return RunDirectory::create(out, config, overwrite, [&](const RunDirectory& child) {
    save_checkpoint(child.checkpoint_file(step), config, trainer.model(), trainer.optimizer(), step,
                    trainer.task().fingerprint());
    copy_tables(parent, step, child);
    write_parent(child.parent_file(), {fs::proximate(parent.path(), out).generic_string(), step});
  });
}

}  // namespace tapehead
