/// A model as TransformerLens keeps it, in a folder with `config.json` and `model.safetensors`.
///
/// Names and shapes are those of its HookedTransformer: `blocks.0.attn.W_Q` (heads, width, head width), and
/// so on, every matrix (inputs, outputs). With `load_file` of safetensors.torch it is opened by
///     model = HookedTransformer(HookedTransformerConfig(**json.load(open("config.json"))))
///     model.load_state_dict(load_file("model.safetensors"), strict=False)
/// where only the buffers `attn.mask` and `attn.IGNORE` are missing. Nothing is folded or centred: the logits
/// are the model's own.
#pragma once

#include <filesystem>

#include "tapehead/nn/transformer.h"

namespace tapehead {

/// Writes a model of any config into `folder`, which is made if it is not there. Biases that the model does
/// not have are written as zeros, positions that are not learned as the table they are, and a tied head as a
/// matrix of its own. Throws Error for what the disk refuses.
void export_transformer_lens(const Transformer& model, const std::filesystem::path& folder);

}  // namespace tapehead
