/// A decoder-only Transformer: token ids in, logits of the next token out.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "tapehead/nn/block.h"
#include "tapehead/nn/embedding.h"
#include "tapehead/nn/model_config.h"

namespace tapehead {

/// Owns its parameters; can be moved, not copied. Const in use: any number of passes may run at once.
class Transformer {
 public:
  /// Weights drawn from `seed`. Throws Error for sizes that do not fit together, and for
  /// Initialisation::imported.
  Transformer(const ModelConfig& config, std::uint64_t seed);
  /// All parameters zero, for whoever reads them from a file next. Throws Error as above.
  static Transformer zeros(const ModelConfig& config);

  /// (B, T) ids to logits (B, T, V). Throws Error for more than `context` positions and for ids outside the
  /// vocabulary. A padding mask (B, T), where given, hides its zeros from every query, and positions are
  /// counted from each sequence's first 1, so that padding on the left changes no logits. In a pass that
  /// reads on, the ids follow those read before, which count towards the context and the mask, and the logits
  /// are theirs alone.
  Variable operator()(Pass pass, const Tokens& tokens, const Mask& visible = {}) const;

  /// The upper part of a pass: from what entered block `layer`, (B, T, C), to logits. `layer` may be the
  /// number of layers; then only the read-out is left. The sites below do not come by. Throws Error for a
  /// layer that is not there and for a residual of another shape.
  Variable from_layer(Pass pass, Index layer, const Variable& residual, const Mask& visible = {}) const;

  const ModelConfig& config() const { return config_; }
  Parameters& parameters() { return *parameters_; }
  const Parameters& parameters() const { return *parameters_; }

 private:
  explicit Transformer(const ModelConfig& config);
  Variable embed(Pass& pass, const Tokens& tokens, const Mask& visible) const;
  Variable finish(Pass& pass, Index layer, Variable x, const Mask& visible) const;

  ModelConfig config_;
  std::unique_ptr<Parameters> parameters_;
  Embedding token_embedding_;
  std::optional<Embedding> position_embedding_;
  Tensor sinusoids_;
  std::vector<Block> blocks_;
  std::optional<Norm> final_norm_;
  std::optional<Linear> unembedding_;
  Dropout dropout_;
};

/// Throws Error, naming both, for sizes that do not fit together, and for a model that this machine's memory
/// cannot hold.
void validate(const ModelConfig& config);

}  // namespace tapehead
