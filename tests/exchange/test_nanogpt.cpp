#include "tapehead/exchange/nanogpt.h"

#include <nlohmann/json.hpp>

#include "exchange/foreign.h"
#include "support/models.h"

using namespace tapehead;
using namespace tapehead::testing;

namespace {

namespace fs = std::filesystem;

/// A small model whose feed-forward part is as wide as nanoGPT's.
ModelConfig small_nanogpt() {
  ModelConfig config = small_gpt2();
  config.feed_forward = 4 * config.width;
  return config;
}

std::vector<std::string> names_in(const fs::path& folder) {
  std::vector<std::string> names;
  const SafetensorsFile archive(folder / "model.safetensors");
  for (const SafetensorsEntry& entry : archive.entries()) names.push_back(entry.name);
  return names;
}

}  // namespace

TEST_CASE("PyTorch computes the same from a model exported for nanoGPT, by the layout alone") {
  const Folder folder;
  std::vector<Exported> all;
  for (const ModelConfig& config : variants(small_nanogpt())) {
    if (config.layers == 0) continue;
    all.push_back({random_model(config, 5), folder / std::to_string(all.size())});
    export_nanogpt(all.back().model, all.back().folder);
  }
  CHECK(all.size() == 19);
  check_in_pytorch(all);
}

TEST_CASE("matrices lie as ours do, and embedding and head are both in the file") {
  const Folder folder;
  for (const bool tied : {true, false}) {
    ModelConfig config = small_nanogpt();
    config.tied = tied;
    const Transformer model = random_model(config);
    export_nanogpt(model, folder.path());
    const SafetensorsFile archive(folder / "model.safetensors");
    CHECK(same_bits(archive.read("transformer.h.1.attn.c_attn.weight"),
                    parameter_value(model, "blocks.1.attention.qkv.weight")));
    CHECK(same_bits(archive.read("transformer.h.1.mlp.c_proj.weight"),
                    parameter_value(model, "blocks.1.feed_forward.output.weight")));
    CHECK(same_bits(archive.read("transformer.wte.weight"), parameter_value(model, "embedding.weight")));
    CHECK(same_bits(archive.read("lm_head.weight"),
                    parameter_value(model, tied ? "embedding.weight" : "unembedding.weight")));
  }
}

TEST_CASE("config.json has the arguments of nanoGPT's GPTConfig and no others") {
  const Folder folder;
  export_nanogpt(random_model(small_nanogpt()), folder.path());
  CHECK(nlohmann::json::parse(text_of(folder / "config.json")) == nlohmann::json{{"block_size", 10},
                                                                                 {"vocab_size", 7},
                                                                                 {"n_layer", 2},
                                                                                 {"n_head", 2},
                                                                                 {"n_embd", 8},
                                                                                 {"dropout", 0.25},
                                                                                 {"bias", true}});
}

TEST_CASE("biases are all there or none") {
  const Folder folder;
  ModelConfig config = small_nanogpt();
  config.qkv_bias = config.bias = false;
  export_nanogpt(random_model(config), folder / "none");
  CHECK(nlohmann::json::parse(text_of(folder / "none/config.json")).at("bias") == false);
  for (const std::string& name : names_in(folder / "none")) CHECK_FALSE(name.ends_with(".bias"));
  CHECK(names_in(folder / "none").size() == 3 + 2 * 6 + 1);
  config.qkv_bias = true;
  export_nanogpt(random_model(config), folder / "some");
  CHECK(nlohmann::json::parse(text_of(folder / "some/config.json")).at("bias") == true);
  CHECK(names_in(folder / "some").size() == 3 + 2 * 12 + 2);
  CHECK(same_bits(SafetensorsFile(folder / "some/model.safetensors").read("transformer.ln_f.bias"),
                  Tensor({8})));
}

TEST_CASE("it is said which class computes what the model does") {
  const Folder folder;
  const auto note = [&](GeluForm gelu, bool tied) {
    ModelConfig config = small_nanogpt();
    config.gelu = gelu;
    config.tied = tied;
    const std::string text = export_nanogpt(random_model(config), folder.path());
    CHECK(SafetensorsFile(folder / "model.safetensors").metadata() ==
          std::map<std::string, std::string>{{"format", "pt"},
                                             {"gelu", gelu == GeluForm::tanh ? "tanh" : "erf"}});
    return text;
  };
  CHECK(note(GeluForm::tanh, true) ==
        "minGPT's GPT computes what this model does; nanoGPT's has the exact GELU in place of the tanh form");
  CHECK(note(GeluForm::tanh, false) ==
        "minGPT's GPT computes what this model does; nanoGPT's has the exact GELU in place of the tanh form "
        "and ties "
        "the head to the embedding");
  CHECK(note(GeluForm::erf, true) ==
        "nanoGPT's GPT computes what this model does; minGPT's has the tanh form of GELU in place of the "
        "exact one");
  CHECK(note(GeluForm::erf, false) ==
        "neither GPT class computes what this model does: nanoGPT's ties the head to the embedding, minGPT's "
        "has the "
        "tanh form of GELU in place of the exact one");
}

TEST_CASE("a model that is no nanoGPT is refused, and nothing is written") {
  const Folder folder;
  const auto complaint = [&](const ModelConfig& config) {
    return complaint_of([&] { export_nanogpt(random_model(config), folder / "out"); });
  };
  CHECK(complaint(small_gpt2()) ==
        "[nanogpt] model.feed_forward: expected 4 * model.width (32), which is all there is in nanoGPT and "
        "minGPT, "
        "got 12; export it as gpt2");
  CHECK(complaint(attention_only()).starts_with("[nanogpt] this model cannot be said in the GPT-2 layout:"));
  CHECK_FALSE(fs::exists(folder / "out"));
}
