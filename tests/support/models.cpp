#include "support/models.h"

#include <algorithm>

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
