/// Small models for tests, and weights set by hand.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "support/testing.h"
#include "tapehead/nn/transformer.h"

namespace tapehead::testing {

/// Two layers of two heads, attention alone, no biases.
ModelConfig attention_only();
/// The same with every part switched on, dropout too.
ModelConfig everything_on();

/// Each option that a model has, by itself on top of a config without dropout, and some that meet.
struct ModelOption {
  std::string name;
  ModelConfig config;
};
std::vector<ModelOption> every_option(const ModelConfig& base);

/// A model of this config whose parameters are all drawn at random, biases and gains too, so that a lost or
/// doubled one shows.
Transformer random_model(const ModelConfig& config, std::uint64_t seed = 1);

/// One layer and one position, whose two heads give z = (1, 2) and (3, 4), with numbers in the output
/// projection that tell heads, columns and bias apart. Its four outputs are the logits.
Transformer two_head_model();

/// Sets the parameter of that name, row by row.
void set_parameter(Transformer& model, std::string_view name, std::initializer_list<double> values);
/// Sets all parameters to 0.
void set_to_zero(Transformer& model);
/// A parameter's current values.
Tensor parameter_value(const Transformer& model, std::string_view name);

}  // namespace tapehead::testing
