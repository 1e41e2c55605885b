/// The ops that a transformer is made of, but for those of attention: each one kernel forward and one
/// backward.
///
/// Each is the same function as a short formula in elementary ops, and is tested against it. All throw Error
/// for shapes that do not fit, naming the op, what was expected and what came.
#pragma once

#include "tapehead/autograd/variable.h"
#include "tapehead/base/random.h"
#include "tapehead/kernels/gelu.h"
#include "tapehead/tensor/tokens.h"

namespace tapehead {

/// y = x Wᵀ + b for x (..., inputs), weight (outputs, inputs) and bias (outputs) or none.
Variable linear(const Variable& x, const Variable& weight, const Variable& bias = {});

/// The rows of table (V, C) named by ids (B, T), as (B, T, C). Throws Error for an id outside [0, V).
Variable embedding(const Variable& table, const Tokens& ids);

/// (x - mean) / sqrt(variance + epsilon) * gain + bias over the last axis (Ba et al. 2016); the variance is
/// the population's. gain and bias (C); bias may be none.
Variable layer_norm(const Variable& x, const Variable& gain, const Variable& bias, Real epsilon);

/// x / sqrt(mean of x² + epsilon) * gain over the last axis (Zhang and Sennrich 2019, equation 4). gain (C).
Variable rms_norm(const Variable& x, const Variable& gain, Real epsilon);

/// Sets each number to 0 with probability p and scales the others by 1/(1 - p), so that the expected value
/// stays (Srivastava et al. 2014, section 10). p = 0 is the identity, p = 1 gives zeros; others throw Error.
Variable dropout(const Variable& x, double p, Generator& generator);

/// x Φ(x) (Hendrycks and Gimpel 2016).
Variable gelu(const Variable& x, GeluForm form);

/// SiLU(gate) * x, number by number, with SiLU(g) = g / (1 + exp(-g)) (Shazeer 2020, equation 6).
Variable swiglu(const Variable& gate, const Variable& x);

/// The usual target of what counts for nothing.
inline constexpr std::int32_t kIgnored = -1;

struct CrossEntropyOptions {
  Tensor weights = {};  ///< (B, T), how much each position counts, at least 0; empty: all count 1
  double divisor = 0;   ///< what the weighted sum is divided by; 0: the sum of the weights that count
  std::int32_t ignored = kIgnored;  ///< targets that count for nothing; may be a token's id, as padding's is
};

/// The mean of -log softmax(logits)[target] over the positions that count, in nats, of shape (). logits
/// (B, T, V), targets (B, T) below V or `ignored`. Where nothing counts the loss is 0 and passes no gradient.
Variable cross_entropy(const Variable& logits, const Tokens& targets,
                       const CrossEntropyOptions& options = {});

}  // namespace tapehead
