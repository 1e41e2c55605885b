/// config.json of Hugging Face's GPT-2, as text: what it says of a model, and how a model says it.
///
/// Read strictly: a key that matters has one value of the right type, or the file is refused by the key's
/// name. Keys that say nothing of the model's numbers are passed over. Which tensors belong to the sizes is
/// decided in gpt2_layout.h.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tapehead/nn/model_config.h"

namespace tapehead {

/// The longest config.json that is read, in bytes.
inline constexpr std::size_t kMaxConfigJson = 1 << 20;

struct Gpt2Config {
  ModelConfig model;
  std::vector<std::string> notes;  ///< what the file says and the model cannot
};

/// Reads the text of the file `name` (named in errors). A key that is left out has the value that GPT-2 has
/// there; the sizes cannot be left out. Throws Error for text that is too long or no JSON object, for a key
/// that stands twice, for a value of another type or out of range, and for a GPT-2 that computes something
/// else than ours.
Gpt2Config parse_gpt2_config(std::string_view text, const std::string& name);

/// The text for a model of this config that has layer norms and a feed-forward part.
std::string format_gpt2_config(const ModelConfig& model);

}  // namespace tapehead
