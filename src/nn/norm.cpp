#include "tapehead/nn/norm.h"

namespace tapehead {

double Norm::scale_of(NormKind kind, std::span<const Real> row) {
  switch (kind) {
    case NormKind::layer:
      return LayerNorm::scale_of(row);
    case NormKind::rms:
      return RmsNorm::scale_of(row);
    case NormKind::none:
      break;
  }
  return 1;
}

Norm::Norm(const Scope& scope, const ModelConfig& config) {
  if (config.norm == NormKind::layer) norm_.emplace<LayerNorm>(scope, config.width, config.bias);
  if (config.norm == NormKind::rms) norm_.emplace<RmsNorm>(scope, config.width);
}

Variable Norm::operator()(const Pass& pass, const Variable& x) const {
  if (const auto* layer = std::get_if<LayerNorm>(&norm_)) return (*layer)(pass, x);
  if (const auto* rms = std::get_if<RmsNorm>(&norm_)) return (*rms)(pass, x);
  return x;
}

}  // namespace tapehead
