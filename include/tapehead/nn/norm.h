/// The norm that a model's config asks for.
#pragma once

#include <span>
#include <variant>

#include "tapehead/nn/layer_norm.h"
#include "tapehead/nn/model_config.h"
#include "tapehead/nn/rms_norm.h"

namespace tapehead {

/// (..., C) to (..., C): a LayerNorm, an RmsNorm, or nothing at all.
class Norm {
 public:
  /// The factor that depends on what is normalised: the rest of either norm is linear. 1 for none.
  static double scale_of(NormKind kind, std::span<const Real> row);

  Norm(const Scope& scope, const ModelConfig& config);

  Variable operator()(const Pass& pass, const Variable& x) const;

 private:
  std::variant<std::monostate, LayerNorm, RmsNorm> norm_;
};

}  // namespace tapehead
