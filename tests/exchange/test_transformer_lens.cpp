#include "tapehead/exchange/transformer_lens.h"

#include <nlohmann/json.hpp>

#include "exchange/foreign.h"
#include "support/models.h"

using namespace tapehead;
using namespace tapehead::testing;

namespace {

/// Each tensor's name and shape.
std::string listing_of(const ModelConfig& config) {
  const Folder folder;
  export_transformer_lens(random_model(config), folder.path());
  std::string text;
  const SafetensorsFile archive(folder / "model.safetensors");
  for (const SafetensorsEntry& entry : archive.entries())
    text += fmt::format("{} ({})\n", entry.name, fmt::join(entry.shape, ", "));
  return text;
}

nlohmann::json config_of(const ModelConfig& config) {
  const Folder folder;
  export_transformer_lens(random_model(config), folder.path());
  return nlohmann::json::parse(text_of(folder / "config.json"));
}

}  // namespace

TEST_CASE("PyTorch computes the same from a model exported for TransformerLens, by the layout alone") {
  const Folder folder;
  std::vector<Exported> all;
  std::vector<ModelConfig> configs = variants(small_gpt2());
  for (const ModelConfig& config : variants(attention_only())) configs.push_back(config);
  configs.push_back(attention_only());
  configs.back().norm = NormKind::layer;
  configs.push_back(small_gpt2());
  configs.back().norm = NormKind::none;
  for (const ModelConfig& config : configs) {
    if (config.layers == 0 || config.width % config.heads != 0) continue;
    all.push_back({random_model(config, 5), folder / std::to_string(all.size())});
    export_transformer_lens(all.back().model, all.back().folder);
  }
  CHECK(all.size() == 39);
  check_in_pytorch(all);
}

TEST_CASE("names and shapes are those of HookedTransformer") {
  ModelConfig config = small_gpt2();
  config.layers = 1;
  CHECK(listing_of(config) ==
        "blocks.0.attn.W_K (2, 8, 4)\n"
        "blocks.0.attn.W_O (2, 4, 8)\n"
        "blocks.0.attn.W_Q (2, 8, 4)\n"
        "blocks.0.attn.W_V (2, 8, 4)\n"
        "blocks.0.attn.b_K (2, 4)\n"
        "blocks.0.attn.b_O (8)\n"
        "blocks.0.attn.b_Q (2, 4)\n"
        "blocks.0.attn.b_V (2, 4)\n"
        "blocks.0.ln1.b (8)\n"
        "blocks.0.ln1.w (8)\n"
        "blocks.0.ln2.b (8)\n"
        "blocks.0.ln2.w (8)\n"
        "blocks.0.mlp.W_in (8, 12)\n"
        "blocks.0.mlp.W_out (12, 8)\n"
        "blocks.0.mlp.b_in (12)\n"
        "blocks.0.mlp.b_out (8)\n"
        "embed.W_E (7, 8)\n"
        "ln_final.b (8)\n"
        "ln_final.w (8)\n"
        "pos_embed.W_pos (10, 8)\n"
        "unembed.W_U (8, 7)\n"
        "unembed.b_U (7)\n");
  config = attention_only();
  config.layers = 1;
  CHECK(listing_of(config) ==
        "blocks.0.attn.W_K (2, 6, 3)\n"
        "blocks.0.attn.W_O (2, 3, 6)\n"
        "blocks.0.attn.W_Q (2, 6, 3)\n"
        "blocks.0.attn.W_V (2, 6, 3)\n"
        "blocks.0.attn.b_K (2, 3)\n"
        "blocks.0.attn.b_O (6)\n"
        "blocks.0.attn.b_Q (2, 3)\n"
        "blocks.0.attn.b_V (2, 3)\n"
        "embed.W_E (7, 6)\n"
        "pos_embed.W_pos (10, 6)\n"
        "unembed.W_U (6, 7)\n"
        "unembed.b_U (7)\n");
}

TEST_CASE("config.json has the fields of HookedTransformerConfig") {
  CHECK(config_of(small_gpt2()) == nlohmann::json{{"n_layers", 2},
                                                  {"d_model", 8},
                                                  {"n_ctx", 10},
                                                  {"d_head", 4},
                                                  {"n_heads", 2},
                                                  {"d_mlp", 12},
                                                  {"d_vocab", 7},
                                                  {"act_fn", "gelu_new"},
                                                  {"eps", 1e-5},
                                                  {"normalization_type", "LN"},
                                                  {"attn_only", false},
                                                  {"attention_dir", "causal"},
                                                  {"positional_embedding_type", "standard"},
                                                  {"default_prepend_bos", false}});
  ModelConfig config = small_gpt2();
  config.gelu = GeluForm::erf;
  CHECK(config_of(config).at("act_fn") == "gelu");
  const nlohmann::json attention = config_of(attention_only());
  CHECK(attention.at("attn_only") == true);
  CHECK(attention.at("normalization_type").is_null());
  CHECK(attention.at("act_fn").is_null());
  CHECK(attention.at("d_mlp").is_null());
}

TEST_CASE("each head has its own part of queries, keys, values and of the way out") {
  const Folder folder;
  const Transformer model = random_model(small_gpt2());
  export_transformer_lens(model, folder.path());
  const SafetensorsFile archive(folder / "model.safetensors");
  const Tensor qkv = parameter_value(model, "blocks.1.attention.qkv.weight");
  const Tensor qkv_bias = parameter_value(model, "blocks.1.attention.qkv.bias");
  const Tensor output = parameter_value(model, "blocks.1.attention.output.weight");
  Index unequal = 0;
  for (Index part = 0; part < 3; ++part) {
    const Tensor weight = archive.read(fmt::format("blocks.1.attn.W_{}", "QKV"[part]));
    const Tensor bias = archive.read(fmt::format("blocks.1.attn.b_{}", "QKV"[part]));
    for (Index h = 0; h < 2; ++h)
      for (Index d = 0; d < 4; ++d) {
        unequal += bias(h, d) == qkv_bias(part * 8 + h * 4 + d) ? 0 : 1;
        for (Index c = 0; c < 8; ++c) unequal += weight(h, c, d) == qkv(part * 8 + h * 4 + d, c) ? 0 : 1;
      }
  }
  const Tensor out = archive.read("blocks.1.attn.W_O");
  for (Index h = 0; h < 2; ++h)
    for (Index d = 0; d < 4; ++d)
      for (Index c = 0; c < 8; ++c) unequal += out(h, d, c) == output(c, h * 4 + d) ? 0 : 1;
  CHECK(unequal == 0);
}

TEST_CASE("a model that TransformerLens has no names for is refused, and nothing is written") {
  const Folder folder;
  ModelConfig config = attention_only();
  config.positions = Positions::alibi;
  CHECK(
      complaint_of([&] { export_transformer_lens(random_model(config), folder / "out"); }) ==
      "[transformer-lens] this model cannot be said in that format:\n  model.positions = alibi\nexport it as "
      "npz");
  CHECK_FALSE(std::filesystem::exists(folder / "out"));
}
