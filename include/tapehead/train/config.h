/// Everything that decides a run: the model, the task and the training, read from one TOML file.
///
/// The fields are listed once, in config_fields.h; reading, `--set`, the help text, the saved copy and the
/// errors all follow that listing. A field that is not given keeps its default. Nothing else is ever filled
/// in: what cannot be understood is a UsageError that says where it stands, what was expected and what came:
///     configs/induction.toml:12:9: model.heads: expected an integer of at least 1, got 2.5
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tapehead/base/number.h"
#include "tapehead/nn/model_config.h"
#include "tapehead/tasks/task.h"

namespace tapehead {

/// The [train] table of a config; the listing has the units and the meaning of each.
struct TrainConfig {
  Index steps = 2000;
  Index batch = 32;
  Index shard = 8;
  std::string optimizer = "adamw";
  double learning_rate = 3e-3;
  std::array<double, 2> betas = {0.9, 0.98};
  double epsilon = 1e-8;
  double momentum = 0.9;
  double weight_decay = 0.01;
  Index warmup = 0;
  std::string schedule = "constant";
  double clip = 1.0;
  std::uint64_t initialisation_seed = 1;
  std::uint64_t data_seed = 1;
  std::uint64_t dropout_seed = 1;
  std::uint64_t evaluation_seed = 1;
  Index evaluation_interval = 20;
  Index evaluation_sequences = 256;
  Index checkpoint_interval = 500;
  Index checkpoints_per_doubling = 0;
  std::vector<Index> checkpoint_steps = {};
  Index ring_snapshots = 0;
  Index ring_interval = 1;
  std::string ring_score = "accuracy_induction";

  friend bool operator==(const TrainConfig&, const TrainConfig&) = default;
};

/// One [[intervention]] of a config: a change made to the model while it trains. What each does is in
/// train/intervention.h.
struct Intervention {
  std::string site;
  Index head = -1;
  std::string kind = "zero";
  double factor = 1;
  Index from = 0;
  Index to = -1;

  friend bool operator==(const Intervention&, const Intervention&) = default;
};

struct Config {
  ModelConfig model;
  TaskConfig task;
  TrainConfig train;
  std::vector<Intervention> interventions = {};

  friend bool operator==(const Config&, const Config&) = default;
};

/// The config of a file, with overrides `table.key=value` on top; of two for one key the later counts. A
/// value is written as in TOML, but a bare word needs no quotes; `intervention=[{site="...", ...}]` replaces
/// all interventions. Throws UsageError for a file that cannot be
/// read, and as parse_config does.
Config read_config(const std::filesystem::path& file, std::span<const std::string> overrides = {});

/// The same from text; `name` stands for the file in errors. Throws UsageError for text that is not TOML, an
/// unknown table or key (with the nearest known one), a wrong type, a value out of range, and as validate
/// does.
Config parse_config(std::string_view text, std::string_view name,
                    std::span<const std::string> overrides = {});

/// Throws UsageError where a value is out of range, or where sizes do not fit together.
void validate(const Config& config);

/// Every field with its documentation; parsing it gives an equal Config. Throws UsageError as validate does.
std::string to_toml(const Config& config);

/// What `train --help` says about the config: every field by table, with type, range, default and meaning.
std::string describe_fields();

}  // namespace tapehead
