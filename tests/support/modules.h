/// Modules under test: their gradients, and somebody who watches them.
#pragma once

#include <functional>
#include <utility>
#include <vector>

#include "support/functions.h"
#include "tapehead/nn/model_config.h"
#include "tapehead/nn/pass.h"

namespace tapehead::testing {

/// The least a model can have, and all it can.
inline const ModelConfig kAttentionOnly{.vocabulary = 7, .context = 6, .width = 8, .heads = 2, .layers = 2};
inline const ModelConfig kEverything{.vocabulary = 7,
                                     .context = 6,
                                     .width = 8,
                                     .heads = 2,
                                     .layers = 2,
                                     .feed_forward = 12,
                                     .norm = NormKind::layer,
                                     .qkv_bias = true,
                                     .bias = true,
                                     .tied = true,
                                     .dropout = 0.3,
                                     .gelu = GeluForm::erf,
                                     .initialisation = Initialisation::gpt2};

/// A config changed in each option that has a test of its own, one or a few at a time: norm, activation, what
/// becomes of queries and keys, and the form of attention.
std::vector<ModelConfig> other_options(const ModelConfig& config);

/// Adds noise to every parameter, so that no bias is 0 and no gain 1.
void shake(Parameters& parameters);

/// The worse of two gradient checks of a module: for its parameters, and for its input x.
double module_error(Parameters& parameters, const std::function<Variable(Pass&, const Variable&)>& module,
                    const Tensor& x);

/// The name, shape and count of every parameter, one a line: `qkv.bias (6) 6`.
std::string listing_of(const Parameters& parameters);

/// Keeps a copy of what comes by, and puts `change` of it in its place if there is one.
class Onlooker : public Watcher {
 public:
  using Change = std::function<Variable(const Visit&, const Variable&)>;
  explicit Onlooker(Change change = {}) : change_(std::move(change)) {}

  void check(const ModelConfig&) const override {}
  Variable visit(const Visit& at, const Variable& value) override;
  void finish(const std::vector<Site>&) const override {}

  const std::vector<Site>& sites() const { return sites_; }
  /// What came by at a site, before the change.
  const Tensor& seen_at(const Site& site) const;

 private:
  Change change_;
  std::vector<Site> sites_;
  std::vector<Tensor> values_;
};

/// Makes one head's columns of (B, T, H*D) 0, by an op.
Variable without_head(const Variable& z, Index head, Index heads);

}  // namespace tapehead::testing
