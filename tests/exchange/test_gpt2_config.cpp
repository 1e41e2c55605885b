#include "tapehead/exchange/gpt2_config.h"

#include <nlohmann/json.hpp>

#include "exchange/foreign.h"

using namespace tapehead;
using namespace tapehead::testing;

namespace {

/// As it lies beside GPT-2 small, but for what says nothing of the model.
const std::string kGpt2Small = R"({
  "activation_function": "gelu_new", "architectures": ["GPT2LMHeadModel"], "attn_pdrop": 0.1,
  "bos_token_id": 50256, "embd_pdrop": 0.1, "eos_token_id": 50256, "initializer_range": 0.02,
  "layer_norm_epsilon": 1e-05, "model_type": "gpt2", "n_ctx": 1024, "n_embd": 768, "n_head": 12, "n_layer": 12,
  "n_positions": 1024, "resid_pdrop": 0.1, "summary_activation": null, "summary_first_dropout": 0.1,
  "task_specific_params": {"text-generation": {"do_sample": true, "n_layer": 50}}, "vocab_size": 50257
})";
const std::string kLeast = R"("n_layer": 2, "n_head": 2, "n_embd": 8, "vocab_size": 7, "n_positions": 10)";

ModelConfig model_of(const std::string& more) {
  return parse_gpt2_config("{" + kLeast + more + "}", "config.json").model;
}

/// What is said against the least config with something more, after the file's name.
std::string refusal(const std::string& more, const std::string& least = kLeast) {
  try {
    parse_gpt2_config("{" + least + more + "}", "config.json");
  } catch (const Error& error) {
    const std::string text = error.what();
    const std::string start = "[gpt2] config.json: ";
    REQUIRE(text.starts_with(start));
    return text.substr(start.size());
  }
  return "accepted";
}

std::string without(const std::string& key) {
  nlohmann::ordered_json json = nlohmann::ordered_json::parse("{" + kLeast + "}");
  json.erase(key);
  const std::string text = json.dump();
  return text.substr(1, text.size() - 2);
}

}  // namespace

TEST_CASE("GPT-2 small's config.json is understood") {
  const Gpt2Config config = parse_gpt2_config(kGpt2Small, "config.json");
  const ModelConfig expected{.vocabulary = 50257,
                             .context = 1024,
                             .width = 768,
                             .heads = 12,
                             .layers = 12,
                             .feed_forward = 3072,
                             .norm = NormKind::layer,
                             .qkv_bias = true,
                             .bias = true,
                             .tied = true,
                             .dropout = 0.1,
                             .initialisation = Initialisation::gpt2};
  CHECK(config.model == expected);
  CHECK(config.notes.empty());
}

TEST_CASE("what is left out has GPT-2's value") {
  const ModelConfig model = model_of("");
  CHECK(model.feed_forward == 32);
  CHECK(model.gelu == GeluForm::tanh);
  CHECK(model.tied);
  CHECK(model.dropout == 0.1);
  CHECK(model_of(R"(, "n_inner": null)").feed_forward == 32);
  CHECK(model_of(R"(, "n_inner": 12)").feed_forward == 12);
}

TEST_CASE("each size is needed, and is a whole number") {
  for (const char* key : {"n_layer", "n_head", "n_embd", "vocab_size", "n_positions"}) {
    CAPTURE(key);
    CHECK(refusal("", without(key)) ==
          fmt::format("{}: expected a whole number from {} to 1000000000, got nothing", key,
                      std::string(key) == "n_layer" ? 0 : 1));
  }
  CHECK(refusal(R"(, "n_ctx": 9)", without("n_positions")) == "accepted");
  CHECK(parse_gpt2_config("{" + without("n_positions") + R"(, "n_ctx": 9})", "").model.context == 9);
  CHECK(model_of(R"(, "n_ctx": 9)").context == 10);
  CHECK(refusal(R"(, "n_layer": -1)", without("n_layer")) ==
        "n_layer: expected a whole number from 0 to 1000000000, got -1");
  CHECK(refusal(R"(, "n_embd": 8.5)", without("n_embd")) ==
        "n_embd: expected a whole number from 1 to 1000000000, got 8.5");
  CHECK(refusal(R"(, "vocab_size": "7")", without("vocab_size")) ==
        "vocab_size: expected a whole number from 1 to 1000000000, got \"7\"");
  CHECK(refusal(R"(, "n_inner": 0)") == "n_inner: expected a whole number from 1 to 1000000000, got 0");
  CHECK(refusal(R"(, "n_head": 3)", without("n_head")) == "n_embd: expected a multiple of n_head (3), got 8");
  CHECK(refusal(R"(, "n_head": 2)") == "duplicate key \"n_head\"");
}

TEST_CASE("both forms of GELU have their names, and no other activation is accepted") {
  CHECK(model_of(R"(, "activation_function": "gelu_new")").gelu == GeluForm::tanh);
  CHECK(model_of(R"(, "activation_function": "gelu_pytorch_tanh")").gelu == GeluForm::tanh);
  CHECK(model_of(R"(, "activation_function": "gelu")").gelu == GeluForm::erf);
  const std::string expected =
      "activation_function: expected \"gelu_new\", \"gelu_pytorch_tanh\" or \"gelu\", got ";
  CHECK(refusal(R"(, "activation_function": "relu")") == expected + "\"relu\"");
  CHECK(refusal(R"(, "activation_function": "")") == expected + "\"\"");
  CHECK(refusal(R"(, "activation_function": null)") == "activation_function: expected a string, got null");
}

TEST_CASE("what a model of ours computes otherwise is refused") {
  CHECK(refusal(R"(, "layer_norm_epsilon": 0.00001)") == "accepted");
  CHECK(refusal(R"(, "layer_norm_epsilon": 1e-06)") ==
        "layer_norm_epsilon: expected 1e-5, the only one that this program has, got 1e-6");
  CHECK(refusal(R"(, "layer_norm_epsilon": "1e-05")") ==
        "layer_norm_epsilon: expected a number, got \"1e-05\"");
  CHECK(refusal(R"(, "scale_attn_weights": true, "scale_attn_by_inverse_layer_idx": false)") == "accepted");
  CHECK(refusal(R"(, "scale_attn_weights": false)") ==
        "scale_attn_weights: expected true, the only way that this program has, got false");
  CHECK(refusal(R"(, "scale_attn_by_inverse_layer_idx": true)") ==
        "scale_attn_by_inverse_layer_idx: expected false, the only way that this program has, got true");
  CHECK(refusal(R"(, "scale_attn_weights": 1)") == "scale_attn_weights: expected true or false, got 1");
  CHECK(refusal(R"(, "model_type": "gpt2")") == "accepted");
  CHECK(refusal(R"(, "model_type": "llama")") == "model_type: expected \"gpt2\", got \"llama\"");
  CHECK(refusal(R"(, "tie_word_embeddings": "yes")") ==
        "tie_word_embeddings: expected true or false, got \"yes\"");
}

TEST_CASE("three equal dropouts are one, and unequal ones are none and a note") {
  CHECK(model_of(R"(, "resid_pdrop": 0.2, "embd_pdrop": 0.2, "attn_pdrop": 0.2)").dropout == 0.2);
  CHECK(model_of(R"(, "resid_pdrop": 0, "embd_pdrop": 0.0, "attn_pdrop": 0)").dropout == 0);
  const Gpt2Config config = parse_gpt2_config("{" + kLeast + R"(, "embd_pdrop": 0})", "");
  CHECK(config.model.dropout == 0);
  CHECK(config.notes ==
        std::vector<std::string>{"resid_pdrop, embd_pdrop and attn_pdrop differ (0.1, 0, 0.1), and a "
                                 "model of ours has one dropout for all: it is 0"});
  for (const char* value : {"-0.1", "1.5"})
    CHECK(refusal(fmt::format(R"(, "attn_pdrop": {})", value)) ==
          fmt::format("attn_pdrop: expected a number from 0 to 1, got {}", value));
}

TEST_CASE("a file of more than a mebibyte is not read") {
  const std::string start = "{" + kLeast + "}";
  const std::string most = start + std::string((1 << 20) - start.size(), ' ');
  CHECK(parse_gpt2_config(most, "config.json").model.layers == 2);
  CHECK_THROWS_WITH_AS(parse_gpt2_config(most + " ", "config.json"),
                       "[gpt2] config.json: expected at most 1048576 bytes, got 1048577", Error);
  CHECK(refusal("", R"("n_layer": )") == "not valid JSON, at its byte 13");
}

TEST_CASE("a config that is written is read as the same") {
  for (const ModelConfig& config : variants(small_gpt2())) {
    const Gpt2Config back = parse_gpt2_config(format_gpt2_config(config), "");
    ModelConfig expected = config;
    // The layout has all biases and a table of positions, as export_gpt2 fills them.
    expected.qkv_bias = expected.bias = true;
    expected.positions = Positions::learned;
    CHECK(back.model == expected);
    CHECK(back.notes.empty());
  }
}

TEST_CASE("a written config has the keys and values that transformers reads") {
  ModelConfig config = small_gpt2();
  nlohmann::json json = nlohmann::json::parse(format_gpt2_config(config));
  CHECK(json["architectures"] == nlohmann::json{"GPT2LMHeadModel"});
  CHECK(json["model_type"] == "gpt2");
  CHECK(json["n_inner"] == 12);
  CHECK(json["activation_function"] == "gelu_new");
  CHECK(json["tie_word_embeddings"] == true);
  CHECK(json["resid_pdrop"] == 0.25);
  // Readers take the first and last token for 50256 unless told otherwise, which this vocabulary does not
  // have.
  CHECK(json["bos_token_id"].is_null());
  CHECK(json["eos_token_id"].is_null());
  config.vocabulary = 50257;
  config.gelu = GeluForm::erf;
  config.tied = false;
  json = nlohmann::json::parse(format_gpt2_config(config));
  CHECK_FALSE(json.contains("bos_token_id"));
  CHECK(json["activation_function"] == "gelu");
  CHECK(json["tie_word_embeddings"] == false);
}
