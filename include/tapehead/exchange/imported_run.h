/// A run directory made of somebody else's model, as if it had been trained here for no steps, so that
/// everything that looks at a run can look at it.
#pragma once

#include <filesystem>
#include <span>
#include <string>

#include "tapehead/exchange/gpt2.h"
#include "tapehead/train/run_directory.h"

namespace tapehead {

/// The run's config: the model's sizes, the task repeated_sequence as long as fits (48 at most), for texts
/// the tokenizer in the model's folder if there is one, no steps, and overrides `table.key=value` on top.
/// Throws UsageError for overrides that read_config refuses, for one that changes a field of [model] other
/// than dropout, and for a context in which nothing can repeat.
Config imported_config(const ModelConfig& model, const std::filesystem::path& folder,
                       std::span<const std::string> overrides = {});

/// Makes the run `out`: the config, a checkpoint of step 0, and in `tokenizer/` that of the task, or else the
/// one whose files lie beside the model, if there is one (see load_tokenizer). Throws UsageError as
/// imported_config, make_task and RunDirectory::create do, and Error for a tokenizer that is damaged or
/// larger than the model's vocabulary, all before anything is written; and for what the disk refuses.
RunDirectory create_imported_run(const ImportedModel& imported, const std::filesystem::path& out,
                                 std::span<const std::string> overrides = {}, bool overwrite = false);

}  // namespace tapehead
