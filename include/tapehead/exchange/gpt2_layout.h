/// The tensors of the GPT-2 layout: what they are called there, and which parameters of ours they are.
///
/// One listing serves reading and writing, Hugging Face's files and nanoGPT's, so they cannot disagree. It
/// knows names and sizes; files are the business of gpt2.h and nanogpt.h.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tapehead/exchange/model_folder.h"
#include "tapehead/nn/transformer.h"

namespace tapehead {

/// How a file keeps the matrices of the blocks' linear layers.
enum class MatrixOrder {
  inputs_first,   ///< (inputs, outputs): Hugging Face's GPT-2, whose linear layers are its Conv1D
  outputs_first,  ///< (outputs, inputs), as ours: torch.nn.Linear, so nanoGPT and minGPT
};

struct Gpt2Tensor {
  std::string name;          ///< "transformer.h.0.attn.c_attn.weight"
  std::string parameter;     ///< "blocks.0.attention.qkv.weight"
  std::vector<Index> shape;  ///< in the file
  bool is_transposed;        ///< whether its axes are those of ours, swapped
};

/// What stands before every name but the head's; some files leave it out.
inline constexpr std::string_view kGpt2Prefix = "transformer.";
inline constexpr std::string_view kGpt2Embedding = "transformer.wte.weight";
/// Listed last, also where the head is tied; its parameter is then the embedding.
inline constexpr std::string_view kGpt2Head = "lm_head.weight";

/// Every tensor of a GPT-2 of these sizes, with all its biases, whatever the config says of biases and norms.
std::vector<Gpt2Tensor> gpt2_tensors(const ModelConfig& config, MatrixOrder order);

/// The model's parameters as tensors of the layout. A GPT-2 has some that a model of ours may lack: biases
/// are then zeros, and positions the fixed table that they are, or zeros.
TensorList in_gpt2_layout(const Transformer& model, const std::vector<Gpt2Tensor>& tensors);

/// Throws UsageError, naming each setting, for a model without the layer norms or the feed-forward part that
/// a GPT-2 always has. `format` begins the message.
void require_gpt2_layout(const ModelConfig& config, std::string_view format);

}  // namespace tapehead
