#include "tapehead/exchange/transformer_lens.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "tapehead/base/require.h"
#include "tapehead/exchange/model_folder.h"
#include "tapehead/nn/sinusoids.h"

namespace tapehead {

namespace {

/// The listing in the making: names there, parameters of ours, and what becomes of their axes.
class Listing {
 public:
  explicit Listing(const Transformer& model) : model_(model), config_(model.config()) {}

  void as_is(std::string name, std::string_view parameter) { list_.add(std::move(name), ours(parameter)); }
  void swapped(std::string name, std::string_view parameter) {
    list_.add(std::move(name), transposed(ours(parameter)));
  }
  /// A bias, or zeros where the model has none.
  void bias(std::string name, std::string_view parameter, const Shape& shape, Index first = 0) {
    const Parameter bias = find_or_none(model_.parameters(), parameter);
    if (bias.owner == nullptr)
      list_.add(std::move(name), Tensor(shape));
    else
      list_.add(std::move(name), Parameter{bias.owner, bias.offset + first, shape});
  }
  void norm(const std::string& name, const std::string& parameter) {
    if (config_.norm == NormKind::none) return;
    as_is(name + ".w", parameter + ".gain");
    bias(name + ".b", parameter + ".bias", {config_.width});
  }
  void linear(const std::string& in_or_out, const std::string& parameter, const std::string& block,
              Index outputs) {
    swapped(block + "W_" + in_or_out, parameter + ".weight");
    bias(block + "b_" + in_or_out, parameter + ".bias", {outputs});
  }

  void positions() {
    if (config_.positions == Positions::learned)
      as_is("pos_embed.W_pos", "positions.weight");
    else if (config_.positions == Positions::sinusoidal)
      list_.add("pos_embed.W_pos", sinusoids(config_.context, config_.width));
    else
      list_.add("pos_embed.W_pos", Tensor({config_.context, config_.width}));
  }
  /// Queries, keys and values, head by head, each (C, D); then the way out, (D, C) a head.
  void attention(const std::string& theirs, const std::string& parameter) {
    const Index width = config_.width, heads = config_.heads, head = width / heads;
    const Parameter qkv = ours(parameter + ".qkv.weight");
    for (Index part = 0; part < 3; ++part) {
      const char letter = "QKV"[part];
      Tensor weights = Tensor::uninitialised({heads, width, head});
      for (Index h = 0; h < heads; ++h)
        transpose(qkv.rows(part * width + h * head, head).data(), head, width,
                  weights.data() + h * width * head);
      list_.add(fmt::format("{}W_{}", theirs, letter), std::move(weights));
      bias(fmt::format("{}b_{}", theirs, letter), parameter + ".qkv.bias", {heads, head}, part * width);
    }
    list_.add(theirs + "W_O", transposed(ours(parameter + ".output.weight")).reshaped({heads, head, width}));
    bias(theirs + "b_O", parameter + ".output.bias", {width});
  }

  TensorList take() { return std::move(list_); }

 private:
  Parameter ours(std::string_view parameter) const { return model_.parameters().find(parameter); }

  const Transformer& model_;
  const ModelConfig& config_;
  TensorList list_;
};

TensorList tensors_of(const Transformer& model) {
  const ModelConfig& config = model.config();
  Listing list(model);
  list.as_is("embed.W_E", "embedding.weight");
  list.positions();
  for (Index layer = 0; layer < config.layers; ++layer) {
    const std::string block = fmt::format("blocks.{}.", layer);
    list.norm(block + "ln1", block + "attention_norm");
    list.attention(block + "attn.", block + "attention");
    if (config.feed_forward == 0) continue;
    list.norm(block + "ln2", block + "feed_forward_norm");
    list.linear("in", block + "feed_forward.input", block + "mlp.", config.feed_forward);
    list.linear("out", block + "feed_forward.output", block + "mlp.", config.width);
  }
  list.norm("ln_final", "final_norm");
  list.swapped("unembed.W_U", config.tied ? "embedding.weight" : "unembedding.weight");
  list.bias("unembed.b_U", "unembedding.bias", {config.vocabulary});
  return list.take();
}

std::string config_text(const ModelConfig& config) {
  nlohmann::ordered_json json{
      {"n_layers", config.layers},
      {"d_model", config.width},
      {"n_ctx", config.context},
      {"d_head", config.width / config.heads},
      {"n_heads", config.heads},
      {"d_mlp", nullptr},
      {"d_vocab", config.vocabulary},
      {"act_fn", nullptr},
      {"eps", 1e-5},
      {"normalization_type", nullptr},
      {"attn_only", config.feed_forward == 0},
      {"attention_dir", "causal"},
      {"positional_embedding_type", "standard"},
      {"default_prepend_bos", false},
  };
  if (config.norm == NormKind::layer) json["normalization_type"] = "LN";
  if (config.feed_forward > 0) {
    json["d_mlp"] = config.feed_forward;
    json["act_fn"] = config.gelu == GeluForm::tanh ? "gelu_new" : "gelu";
  }
  return json.dump(2) + "\n";
}

}  // namespace

void export_transformer_lens(const Transformer& model, const std::filesystem::path& folder) {
  const std::string beyond = beyond_gpt2(model.config());
  if (!beyond.empty())
    throw UsageError(fmt::format(
        "[transformer-lens] this model cannot be said in that format:{}\nexport it as npz", beyond));
  write_model_folder(folder, tensors_of(model), {{"format", "pt"}}, config_text(model.config()));
}

}  // namespace tapehead
