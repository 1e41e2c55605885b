#include "support/models.h"

#include <algorithm>
#include <utility>

#include "tapehead/base/random.h"

namespace tapehead::testing {

ModelConfig attention_only() { return {.vocabulary = 7, .context = 10, .width = 6, .heads = 2, .layers = 2}; }

ModelConfig everything_on() {
  ModelConfig config = attention_only();
  config.feed_forward = 5;
  config.norm = NormKind::layer;
  config.qkv_bias = true;
  config.bias = true;
  config.tied = true;
  config.dropout = 0.2;
  return config;
}

std::vector<ModelOption> every_option(const ModelConfig& base) {
  std::vector<ModelOption> options{{"nothing else", base}};
  const auto add = [&](const char* name, auto change) {
    ModelConfig config = base;
    change(config);
    options.push_back({name, config});
  };
  using M = ModelConfig;
  add("no layers", [](M& m) { m.layers = 0; });
  add("one layer", [](M& m) { m.layers = 1; });
  add("five layers", [](M& m) { m.layers = 5; });
  add("no norm", [](M& m) { m.norm = NormKind::none; });
  add("layer norm", [](M& m) { m.norm = NormKind::layer; });
  add("rms norm", [](M& m) { m.norm = NormKind::rms; });
  add("no feed-forward", [](M& m) { m.feed_forward = 0; });
  add("swiglu", [](M& m) { m.activation = Activation::swiglu; });
  add("erf", [](M& m) { m.gelu = GeluForm::erf; });
  add("untied", [](M& m) { m.tied = false; });
  add("no biases", [](M& m) { m.bias = m.qkv_bias = false; });
  add("dropout", [](M& m) { m.dropout = 0.2; });
  add("sinusoidal", [](M& m) { m.positions = Positions::sinusoidal; });
  add("rotary", [](M& m) { m.positions = Positions::rotary; });
  add("alibi", [](M& m) { m.positions = Positions::alibi; });
  add("no positions", [](M& m) { m.positions = Positions::none; });
  add("bilinear", [](M& m) { m.scores = ScoreForm::bilinear; });
  add("additive", [](M& m) { m.scores = ScoreForm::additive; });
  add("unscaled", [](M& m) { m.scaled_scores = false; });
  add("query-key norm", [](M& m) { m.query_key_norm = true; });
  add("smeared keys", [](M& m) { m.smeared_keys = true; });
  add("tiled", [](M& m) { m.attention = AttentionForm::tiled; });
  add("gpt2 start", [](M& m) { m.initialisation = Initialisation::gpt2; });
  const auto all_scores = [](M& m) {
    m.positions = Positions::rotary;
    m.scores = ScoreForm::bilinear;
    m.query_key_norm = m.smeared_keys = true;
    m.activation = Activation::swiglu;
  };
  add("all that meets in scores", all_scores);
  add("the same, tiled", [&](M& m) {
    all_scores(m);
    m.attention = AttentionForm::tiled;
  });
  add("additive with dropout and no norm", [](M& m) {
    m.scores = ScoreForm::additive;
    m.norm = NormKind::none;
    m.dropout = 0.2;
    m.query_key_norm = m.smeared_keys = true;
  });
  return options;
}

Transformer random_model(const ModelConfig& config, std::uint64_t seed) {
  Transformer model(config, seed);
  Generator generator(seed);
  for (Real& value : model.parameters().change()) value += static_cast<Real>(0.3 * generator.normal());
  return model;
}

Transformer two_head_model() {
  Transformer model({.vocabulary = 4,
                     .context = 1,
                     .width = 4,
                     .heads = 2,
                     .layers = 1,
                     .qkv_bias = true,
                     .bias = true,
                     .positions = Positions::none},
                    1);
  set_to_zero(model);
  set_parameter(model, "blocks.0.attention.qkv.bias", {0, 0, 0, 0, 0, 0, 0, 0, 1, 2, 3, 4});
  set_parameter(model, "blocks.0.attention.output.weight",
                {1, 0, 1, 2, 0, 1, 1, 0, 2, 1, 0, -1, -1, 0, 2, 1});
  set_parameter(model, "blocks.0.attention.output.bias", {0.1, 0.2, 0.3, 0.4});
  set_parameter(model, "unembedding.weight", {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1});
  return model;
}

void set_parameter(Transformer& model, std::string_view name, std::initializer_list<double> values) {
  const Parameter parameter = model.parameters().find(name);
  REQUIRE(parameter.shape.count() == static_cast<Index>(values.size()));
  Real* place = model.parameters().change().data() + parameter.offset;
  for (const double value : values) *place++ = static_cast<Real>(value);
}

void set_to_zero(Transformer& model) {
  const std::span<Real> values = model.parameters().change();
  std::fill(values.begin(), values.end(), Real{0});
}

Tensor parameter_value(const Transformer& model, std::string_view name) {
  return constant(model.parameters().find(name)).value();
}

}  // namespace tapehead::testing
