#include "support/modules.h"

#include <fmt/core.h>

#include <algorithm>

#include "tapehead/autograd/elementary.h"
#include "tapehead/autograd/gradient_check.h"

namespace tapehead::testing {

std::vector<ModelConfig> other_options(const ModelConfig& config) {
  std::vector<ModelConfig> configs;
  const auto add = [&](const auto& change) {
    configs.push_back(config);
    change(configs.back());
  };
  add([](ModelConfig& c) {
    c.norm = NormKind::rms;
    c.activation = Activation::swiglu;
  });
  add([](ModelConfig& c) { c.scores = ScoreForm::bilinear; });
  add([](ModelConfig& c) {
    c.scores = ScoreForm::additive;
    c.positions = Positions::alibi;
  });
  add([](ModelConfig& c) {
    c.scaled_scores = false;
    c.smeared_keys = true;
  });
  add([](ModelConfig& c) {
    c.query_key_norm = true;
    c.positions = Positions::rotary;
  });
  add([](ModelConfig& c) {
    c.attention = AttentionForm::tiled;
    c.dropout = 0;
    c.positions = Positions::alibi;
  });
  return configs;
}

void shake(Parameters& parameters) {
  Generator generator(99);
  for (Real& value : parameters.change()) value += static_cast<Real>(0.3 * generator.normal());
}

double module_error(Parameters& parameters, const std::function<Variable(Pass&, const Variable&)>& module,
                    const Tensor& x) {
  const double of_parameters = gradient_check(parameters, [&](Tape& tape) {
    Pass pass(tape);
    return weighed(module(pass, Variable(x)));
  });
  const double of_input = gradient_check({x}, [&](Tape& tape, const Inputs& in) {
    Pass pass(tape);
    return weighed(module(pass, in[0]));
  });
  return std::max(of_parameters, of_input);
}

std::string listing_of(const Parameters& parameters) {
  std::string listing;
  for (const Parameters::Entry& entry : parameters.entries())
    listing += fmt::format("{} {} {}\n", entry.name, entry.shape, entry.count());
  return listing;
}

Variable Onlooker::visit(const Visit& at, const Variable& value) {
  sites_.push_back(at.site);
  values_.push_back(value.value());
  return change_ ? change_(at, value) : value;
}

const Tensor& Onlooker::seen_at(const Site& site) const {
  const auto found = std::find(sites_.begin(), sites_.end(), site);
  REQUIRE(found != sites_.end());
  return values_[static_cast<std::size_t>(found - sites_.begin())];
}

Variable without_head(const Variable& z, Index head, Index heads) {
  const Index width = z.shape()[-1];
  Tensor kept(Shape{width});
  for (Index i = 0; i < width; ++i) kept(i) = i / (width / heads) == head ? 0 : 1;
  return z * Variable(kept);
}

}  // namespace tapehead::testing
