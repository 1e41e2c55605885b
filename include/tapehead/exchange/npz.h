/// NumPy's archive, .npz: arrays by name in one zip file, not compressed, each as NumPy's .npy.
///
/// Written only. What the arrays mean is decided elsewhere.
#pragma once

#include <filesystem>
#include <vector>

#include "tapehead/nn/transformer.h"
#include "tapehead/tensor/safetensors.h"

namespace tapehead {

/// Writes the tensors, in their order, as little-endian floats ('<f4'; '<f8' where Real is double). Equal
/// tensors give equal bytes. The file is built beside `path` and put in its place whole. Throws Error for two
/// tensors of one name, and, with the reason, for what the disk refuses.
void write_npz(const std::filesystem::path& path, const std::vector<NamedTensor>& tensors);

/// Writes the parameters under our names, `model.npz`, and the [model] table of the config, `config.json`,
/// into `folder`, which is made if it is not there. Throws Error for what the disk refuses.
void export_npz(const Transformer& model, const std::filesystem::path& folder);

}  // namespace tapehead
