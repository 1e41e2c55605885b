/// The position-wise feed-forward part of a block.
#pragma once

#include <optional>

#include "tapehead/nn/linear.h"
#include "tapehead/nn/model_config.h"

namespace tapehead {

/// (B, T, C) to (B, T, C) through `hidden` units: output(gelu(input(x))), or, gated,
/// output(SiLU(gate(x)) * input(x)).
class FeedForward {
 public:
  struct Config {
    Index width = 64;
    Index hidden = 256;
    Activation activation = Activation::gelu;
    GeluForm gelu = GeluForm::tanh;
    bool bias = true;
    double output_deviation = 0;  ///< of the second layer's starting weights; 0: 1/sqrt(hidden)
    double input_deviation = 0;   ///< of the first layers'; 0: 1/sqrt(width)
  };

  /// Registers `gate` where there is one, `input` and `output`.
  FeedForward(const Scope& scope, const Config& config);

  Variable operator()(const Pass& pass, const Variable& x) const;

 private:
  std::optional<Linear> gate_;
  Linear input_;
  Linear output_;
  GeluForm gelu_;
};

}  // namespace tapehead
