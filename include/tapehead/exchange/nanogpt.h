/// A model as the GPT classes of nanoGPT and minGPT keep it, in a folder with `config.json` and
/// `model.safetensors`.
///
/// Both name their tensors as Hugging Face's GPT-2 does, but keep matrices (outputs, inputs), and always have
/// both `transformer.wte.weight` and `lm_head.weight`. With `load_file` of safetensors.torch, nanoGPT opens
/// it by
///     model = GPT(GPTConfig(**json.load(open("config.json"))))
///     model.load_state_dict(load_file("model.safetensors"))
/// (under PyTorch 1, where it has a buffer with the mask, with strict=False) and minGPT by
///     config = GPT.get_default_config()
///     config.model_type = None
///     config.merge_from_dict(json.load(open("config.json")))
///     GPT(config).load_state_dict(load_file("model.safetensors"), strict=False)
/// where only the buffers `attn.bias` with the mask are missing, and the biases of a model that has none:
/// minGPT starts them at 0. nanoGPT computes GELU exactly and shares the embedding with the head; minGPT uses
/// the tanh form and shares nothing.
#pragma once

#include <filesystem>
#include <string>

#include "tapehead/nn/transformer.h"

namespace tapehead {

/// Writes the model into `folder`, which is made if it is not there. config.json has nanoGPT's argument
/// names; the archive's metadata names the form of GELU. A model with some biases gets the others as zeros.
/// Returns, in words, which of the two classes computes what the model does. Throws UsageError, naming each
/// setting, for a model without layer norms or whose feed-forward part is not four times as wide as the
/// model, and Error for what the disk refuses.
std::string export_nanogpt(const Transformer& model, const std::filesystem::path& folder);

}  // namespace tapehead
