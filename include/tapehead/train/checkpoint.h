/// A model on its way, in one safetensors file: parameters by name, the optimizer's averages, and in the
/// metadata the resolved config, the step, the task, the fingerprint of its data, the version, and a checksum
/// of all that, by which damage is found.
#pragma once

#include <filesystem>

#include "tapehead/nn/transformer.h"
#include "tapehead/train/config.h"
#include "tapehead/train/optimizer.h"

namespace tapehead {

/// Written beside its place and renamed, so the file is whole or absent. `data` is the task's fingerprint.
/// Throws Error if the disk refuses.
void save_checkpoint(const std::filesystem::path& file, const Config& config, const Transformer& model,
                     const Optimizer& optimizer, Index step, const std::string& data = {});

/// What a checkpoint keeps of a model on its way, in memory.
struct Snapshot {
  Index step = 0;
  Tensor values = {};                           ///< of all parameters, in their layout
  std::vector<Optimizer::State> averages = {};  ///< of the optimizer
  Index updates = 0;                            ///< it has done
};
Snapshot snapshot_of(const Transformer& model, const Optimizer& optimizer, Index step);

/// Writes the file that save_checkpoint wrote when the snapshot was made; `parameters` gives the layout.
void save_snapshot(const std::filesystem::path& file, const Config& config, const Parameters& parameters,
                   const Snapshot& snapshot, const std::string& data = {});

struct Checkpoint {
  Config config;
  Index step = 0;
  Transformer model;
  std::string data;
};

/// Throws Error for a file that is damaged, and, listing them all, for parameters that are missing,
/// unexpected or of another shape than the config's model has.
Checkpoint load_checkpoint(const std::filesystem::path& file);

/// Gives the optimizer the averages and the count of updates that the file holds. Throws Error if they do not
/// fit.
void restore_optimizer(const std::filesystem::path& file, const Parameters& parameters, Optimizer& optimizer);

}  // namespace tapehead
