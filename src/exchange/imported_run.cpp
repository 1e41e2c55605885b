#include "tapehead/exchange/imported_run.h"

#include <algorithm>

#include "tapehead/base/require.h"
#include "tapehead/text/tokenizer.h"
#include "tapehead/train/checkpoint.h"
#include "tapehead/train/config_fields.h"

namespace tapehead {

namespace {

namespace fs = std::filesystem;

constexpr std::string_view kTag = "import";

/// A task on which induction heads show, in the proportions of the default one.
TaskConfig task_that_fits(const ModelConfig& model) {
  constexpr Index shortest = 3;  // two periods, 1 and 2, and one more token
  if (model.context < shortest)
    throw UsageError(fmt::format("[{}] a context of {} is too short to make a run of: expected at least {}",
                                 kTag, model.context, shortest));
  TaskConfig task;
  task.length = std::min(model.context, task.length);
  task.period_min = std::max(Index{1}, task.length / 8);
  task.period_max = std::max(Index{2}, task.length / 2);
  return task;
}

/// What the numbers in the file mean is not to be changed; dropout only counts in training.
void require_same_model(const Config& config, const Config& changed) {
  for (const ConfigField& field : config_fields()) {
    if (field.table != "model" || field.key == "dropout" || field.get(config) == field.get(changed)) continue;
    throw UsageError(
        fmt::format("--set {}: the model that is imported has {}, and only its dropout can be changed",
                    field.name(), written(field.get(config))));
  }
}

}  // namespace

Config imported_config(const ModelConfig& model, const fs::path& folder,
                       std::span<const std::string> overrides) {
  Config config{.model = model, .task = task_that_fits(model), .train = {}};
  config.model.initialisation = Initialisation::imported;
  config.train.steps = 0;
  if (is_tokenizer_folder(folder)) config.task.tokenizer = folder.string();
  Config changed = parse_config(to_toml(config), "config.toml", overrides);
  require_same_model(config, changed);
  return changed;
}

RunDirectory create_imported_run(const ImportedModel& imported, const fs::path& out,
                                 std::span<const std::string> overrides, bool overwrite) {
  // All that can be refused is refused before anything is written.
  std::shared_ptr<const Tokenizer> tokenizer;
  if (is_tokenizer_folder(imported.folder)) tokenizer = load_tokenizer(imported.folder);
  const Config config = imported_config(imported.model.config(), imported.folder, overrides);
  const std::unique_ptr<Task> task = make_task(config.task, config.model.vocabulary);
  if (task->tokenizer() != nullptr) tokenizer = task->tokenizer();
  require(tokenizer == nullptr || tokenizer->size() <= config.model.vocabulary,
          "[import] the tokenizer in {} has {} tokens, more than the model's {}", imported.folder.string(),
          tokenizer == nullptr ? 0 : tokenizer->size(), config.model.vocabulary);
  return RunDirectory::create(out, config, overwrite, [&](const RunDirectory& run) {
    if (tokenizer != nullptr) {
      fs::create_directories(run.tokenizer_folder());
      tokenizer->save(run.tokenizer_folder());
    }
    save_checkpoint(run.checkpoint_file(0), config, imported.model, AdamW(AdamConfig{}), 0,
                    task->fingerprint());
  });
}

}  // namespace tapehead
