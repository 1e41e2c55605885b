/// The position-wise feed-forward part of a block.
#pragma once

#include "tapehead/kernels/gelu.h"
#include "tapehead/nn/linear.h"

namespace tapehead {

/// (B, T, C) to (B, T, C) through `hidden` GELU units: output(gelu(input(x))).
class FeedForward {
 public:
  struct Config {
    Index width = 64;
    Index hidden = 256;
    GeluForm gelu = GeluForm::tanh;
    bool bias = true;
    double output_deviation = 0;  ///< of the second layer's starting weights; 0: 1/sqrt(hidden)
    double input_deviation = 0;   ///< of the first layer's; 0: 1/sqrt(width)
  };

  FeedForward(const Scope& scope, const Config& config);

  Variable operator()(const Pass& pass, const Variable& x) const;

 private:
  Linear input_;
  Linear output_;
  GeluForm gelu_;
};

}  // namespace tapehead
