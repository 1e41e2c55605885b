/// GPT-2 as Hugging Face keeps it: `config.json` and `model.safetensors`, opened and written.
///
/// Reading is all or nothing: every tensor is where it belongs, or an Error lists everything that is not, and
/// there is no model. What is trained further, and where it is kept, is decided elsewhere (imported_run.h).
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "tapehead/nn/transformer.h"

namespace tapehead {

struct ImportedModel {
  Transformer model;
  std::vector<std::string> notes;  ///< what somebody who uses it should be told
  std::filesystem::path folder;    ///< where its config.json was
};

/// The GPT-2 in a folder with config.json and model.safetensors, or in a safetensors file with config.json
/// beside it. Names may begin with `transformer.` or not; numbers are F32, F64, F16 or BF16; buffers with
/// attention masks are passed over. Where config.json ties the head to the embedding (as it does unless it
/// says otherwise), the file need not hold the head. Throws UsageError where there are no such files; Error
/// for a config.json that is refused (gpt2_config.h), for a damaged archive, and, listing them all, for
/// tensors that are missing, unexpected, or of another shape or dtype, for numbers that are not finite, and
/// for a head that should be the embedding and is not.
ImportedModel import_gpt2(const std::filesystem::path& path);

/// Writes the model as GPT2LMHeadModel reads it, into `folder`, which is made if it is not there. Biases that
/// the model does not have are written as zeros, and positions that are not learned as the table they are.
/// Throws UsageError, naming each setting, for a model without layer norms or without a feed-forward part,
/// and Error for what the disk refuses.
void export_gpt2(const Transformer& model, const std::filesystem::path& folder);

}  // namespace tapehead
