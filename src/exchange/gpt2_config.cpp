#include "tapehead/exchange/gpt2_config.h"

#include <fmt/format.h>

#include <array>
#include <nlohmann/json.hpp>
#include <set>

#include "tapehead/base/require.h"
#include "tapehead/exchange/json_object.h"

namespace tapehead {

namespace {

constexpr std::string_view kTag = "gpt2";
constexpr double kEpsilon = 1e-5;
constexpr double kDropout = 0.1;
/// The id of <|endoftext|> in GPT-2's vocabulary, which is what readers assume unless told otherwise.
constexpr Index kEndOfText = 50256;

const std::set<std::string_view> kKeys{"model_type",
                                       "n_layer",
                                       "n_head",
                                       "n_embd",
                                       "vocab_size",
                                       "n_positions",
                                       "n_ctx",
                                       "n_inner",
                                       "activation_function",
                                       "layer_norm_epsilon",
                                       "tie_word_embeddings",
                                       "scale_attn_weights",
                                       "resid_pdrop",
                                       "scale_attn_by_inverse_layer_idx",
                                       "embd_pdrop",
                                       "attn_pdrop"};

GeluForm gelu_of(const JsonObject& json) {
  const std::string name = json.text("activation_function", "gelu_new");
  if (name == "gelu_new" || name == "gelu_pytorch_tanh") return GeluForm::tanh;
  if (name != "gelu") json.refuse("activation_function", "\"gelu_new\", \"gelu_pytorch_tanh\" or \"gelu\"");
  return GeluForm::erf;
}

/// One number for all three, if they agree.
double dropout_of(const JsonObject& json, std::vector<std::string>& notes) {
  constexpr std::array<const char*, 3> keys{"resid_pdrop", "embd_pdrop", "attn_pdrop"};
  std::array<double, 3> values{};
  for (std::size_t i = 0; i < keys.size(); ++i) {
    values[i] = json.number(keys[i], kDropout);
    if (!(values[i] >= 0 && values[i] <= 1)) json.refuse(keys[i], "a number from 0 to 1");
  }
  if (values[0] == values[1] && values[1] == values[2]) return values[0];
  notes.push_back(
      fmt::format("resid_pdrop, embd_pdrop and attn_pdrop differ ({}, {}, {}), and a model of ours has one "
                  "dropout for all: it is 0",
                  values[0], values[1], values[2]));
  return 0;
}

/// What ours cannot do otherwise.
void require_our_gpt2(const JsonObject& json) {
  if (json.text("model_type", "gpt2") != "gpt2") json.refuse("model_type", "\"gpt2\"");
  if (json.number("layer_norm_epsilon", kEpsilon) != kEpsilon)
    json.refuse("layer_norm_epsilon", "1e-5, the only one that this program has");
  if (!json.truth("scale_attn_weights", true))
    json.refuse("scale_attn_weights", "true, the only way that this program has");
  if (json.truth("scale_attn_by_inverse_layer_idx", false))
    json.refuse("scale_attn_by_inverse_layer_idx", "false, the only way that this program has");
}

}  // namespace

Gpt2Config parse_gpt2_config(std::string_view text, const std::string& name) {
  require(text.size() <= kMaxConfigJson, "[{}] {}: expected at most {} bytes, got {}", kTag, name,
          kMaxConfigJson, text.size());
  const JsonObject json(text, kKeys, kTag, name);
  require_our_gpt2(json);
  Gpt2Config config;
  ModelConfig& model = config.model;
  model.vocabulary = json.count("vocab_size", 1);
  model.context = json.count(json.has("n_positions") || !json.has("n_ctx") ? "n_positions" : "n_ctx", 1);
  model.width = json.count("n_embd", 1);
  model.heads = json.count("n_head", 1);
  model.layers = json.count("n_layer", 0);
  if (model.width % model.heads != 0)
    json.refuse("n_embd", fmt::format("a multiple of n_head ({})", model.heads));
  const bool is_default = !json.has("n_inner") || json.is_null("n_inner");
  model.feed_forward = is_default ? 4 * model.width : json.count("n_inner", 1);
  model.gelu = gelu_of(json);
  model.tied = json.truth("tie_word_embeddings", true);
  model.dropout = dropout_of(json, config.notes);
  model.norm = NormKind::layer;
  model.qkv_bias = true;
  model.bias = true;
  model.initialisation = Initialisation::gpt2;
  return config;
}

std::string format_gpt2_config(const ModelConfig& model) {
  nlohmann::ordered_json json{
      {"architectures", {"GPT2LMHeadModel"}},
      {"model_type", "gpt2"},
      {"n_layer", model.layers},
      {"n_head", model.heads},
      {"n_embd", model.width},
      {"n_inner", model.feed_forward},
      {"vocab_size", model.vocabulary},
      {"n_positions", model.context},
      {"n_ctx", model.context},
      {"activation_function", model.gelu == GeluForm::tanh ? "gelu_new" : "gelu"},
      {"layer_norm_epsilon", kEpsilon},
      {"tie_word_embeddings", model.tied},
      {"scale_attn_weights", true},
      {"scale_attn_by_inverse_layer_idx", false},
      {"resid_pdrop", model.dropout},
      {"embd_pdrop", model.dropout},
      {"attn_pdrop", model.dropout},
      {"torch_dtype", sizeof(Real) == 8 ? "float64" : "float32"},
  };
  if (model.vocabulary <= kEndOfText) {
    json["bos_token_id"] = nullptr;
    json["eos_token_id"] = nullptr;
  }
  return json.dump(2) + "\n";
}

}  // namespace tapehead
