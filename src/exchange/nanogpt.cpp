#include "tapehead/exchange/nanogpt.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <vector>

#include "tapehead/base/require.h"
#include "tapehead/exchange/gpt2_layout.h"

namespace tapehead {

namespace {

constexpr std::string_view kTag = "nanogpt";

void require_nanogpt(const ModelConfig& config) {
  require_gpt2_layout(config, kTag);
  if (config.feed_forward != 4 * config.width)
    throw UsageError(fmt::format(
        "[{}] model.feed_forward: expected 4 * model.width ({}), which is all there is in nanoGPT "
        "and minGPT, got {}; export it as gpt2",
        kTag, 4 * config.width, config.feed_forward));
}

std::string whose_numbers(const ModelConfig& config) {
  const std::string nanogpt_ties = config.tied ? "" : " and ties the head to the embedding";
  if (config.gelu == GeluForm::tanh)
    return "minGPT's GPT computes what this model does; nanoGPT's has the exact GELU in place of the tanh "
           "form" +
           nanogpt_ties;
  const std::string mingpt = "minGPT's has the tanh form of GELU in place of the exact one";
  if (config.tied) return "nanoGPT's GPT computes what this model does; " + mingpt;
  return "neither GPT class computes what this model does: nanoGPT's ties the head to the embedding, " +
         mingpt;
}

}  // namespace

std::string export_nanogpt(const Transformer& model, const std::filesystem::path& folder) {
  const ModelConfig& config = model.config();
  require_nanogpt(config);
  const bool has_biases = config.qkv_bias || config.bias;
  std::vector<Gpt2Tensor> tensors = gpt2_tensors(config, MatrixOrder::outputs_first);
  if (!has_biases) std::erase_if(tensors, [](const auto& tensor) { return tensor.name.ends_with(".bias"); });
  const nlohmann::ordered_json json{
      {"block_size", config.context}, {"vocab_size", config.vocabulary}, {"n_layer", config.layers},
      {"n_head", config.heads},       {"n_embd", config.width},          {"dropout", config.dropout},
      {"bias", has_biases},
  };
  write_model_folder(folder, in_gpt2_layout(model, tensors),
                     {{"format", "pt"}, {"gelu", config.gelu == GeluForm::tanh ? "tanh" : "erf"}},
                     json.dump(2) + "\n");
  return whose_numbers(config);
}

}  // namespace tapehead
