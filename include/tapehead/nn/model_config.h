/// The sizes and options of a Transformer. Defaults give the attention-only model of the copy experiments.
#pragma once

#include "tapehead/base/number.h"
#include "tapehead/kernels/gelu.h"

namespace tapehead {

/// How positions enter: a learned table added to the embedding, fixed sines and cosines (Vaswani et al. 2017,
/// section 3.5), or not at all.
enum class Positions { learned, sinusoidal, none };

/// Starting weights. `fan_in`: normal with standard deviation 1/sqrt(inputs), where a head's output
/// projection counts one head's width as its inputs, and embeddings count the model's width. `gpt2`: 0.02,
/// and 0.02/sqrt(2 layers) for the projections that write to the residual stream (Radford et al. 2019,
/// section 2.3). Under `fan_in` every head writes at full size, so the stream grows with heads and layers: it
/// is meant for few of both. `imported`: none; they come from a checkpoint, and a model of this config cannot
/// be drawn.
enum class Initialisation { fan_in, gpt2, imported };

struct ModelConfig {
  Index vocabulary = 64;
  Index context = 64;  ///< the longest sequence, in tokens
  Index width = 64;    ///< of the residual stream
  Index heads = 2;     ///< a layer; width must be divisible by it
  Index layers = 2;
  Index feed_forward = 0;   ///< hidden width; 0 leaves the feed-forward part out of every block
  bool layer_norm = false;  ///< before attention, before feed-forward, and at the end
  bool qkv_bias = false;
  bool bias = false;  ///< of every other linear layer and of layer norm
  bool tied = false;  ///< the unembedding is the embedding table
  double dropout = 0;
  Positions positions = Positions::learned;
  GeluForm gelu = GeluForm::tanh;
  Initialisation initialisation = Initialisation::fan_in;

  friend bool operator==(const ModelConfig&, const ModelConfig&) = default;
};

/// How many numbers a model of this config learns; not a whole number where there are too many to count.
double count_parameters(const ModelConfig& config);

}  // namespace tapehead
