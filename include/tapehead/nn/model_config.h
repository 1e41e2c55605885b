/// The sizes and options of a Transformer. Defaults give the attention-only model of the copy experiments.
#pragma once

#include "tapehead/base/number.h"
#include "tapehead/kernels/gelu.h"

namespace tapehead {

/// How positions enter. `learned`: a table added to the embedding; `sinusoidal`: fixed sines and cosines
/// added to it (Vaswani et al. 2017, section 3.5); `rotary`: queries and keys turned by an angle that grows
/// with the position (Su et al. 2021, section 3.2); `alibi`: scores lowered in proportion to the distance
/// (Press et al. 2022, section 3); or not at all.
enum class Positions { learned, sinusoidal, rotary, alibi, none };

/// What stands before attention, before feed-forward, and at the end: nothing, LayerNorm (Ba et al. 2016), or
/// RMSNorm (Zhang and Sennrich 2019).
enum class NormKind { none, layer, rms };

/// The feed-forward part: through GELU units, or through SiLU units that gate linear ones (SwiGLU, Shazeer
/// 2020, equation 6).
enum class Activation { gelu, swiglu };

/// How a query q and a key k give a score. `dot`: q k; `bilinear`: q W k with a matrix a head (both Luong et
/// al. 2015, section 3.1); `additive`: v tanh(q + k) with a vector a head (Bahdanau et al. 2015, appendix
/// A.1.2).
enum class ScoreForm { dot, bilinear, additive };

/// `pattern`: two kernels with the attention weights between them, where they can be seen and changed.
/// `tiled`: one kernel that never holds them (Dao et al. 2022).
enum class AttentionForm { pattern, tiled };

/// Starting weights. `fan_in`: normal with standard deviation 1/sqrt(inputs), where a head's output
/// projection counts one head's width as its inputs, and embeddings count the model's width. `gpt2`: 0.02,
/// and 0.02/sqrt(2 layers) for the projections that write to the residual stream (Radford et al. 2019,
/// section 2.3). Under `fan_in` every head writes at full size, so the stream grows with heads and layers: it
/// is meant for few of both. Under either, what bilinear and additive scores have of their own starts normal
/// with 1/sqrt(head width). `imported`: none; they come from a checkpoint, and a model of this config cannot
/// be drawn.
enum class Initialisation { fan_in, gpt2, imported };

struct ModelConfig {
  Index vocabulary = 64;
  Index context = 64;  ///< the longest sequence, in tokens
  Index width = 64;    ///< of the residual stream
  Index heads = 2;     ///< a layer; width must be divisible by it
  Index layers = 2;
  Index feed_forward = 0;  ///< hidden width; 0 leaves the feed-forward part out of every block
  NormKind norm = NormKind::none;
  bool qkv_bias = false;
  bool bias = false;  ///< of every other linear layer and of layer norm
  bool tied = false;  ///< the unembedding is the embedding table
  double dropout = 0;
  Positions positions = Positions::learned;
  Activation activation = Activation::gelu;
  GeluForm gelu = GeluForm::tanh;
  AttentionForm attention = AttentionForm::pattern;
  ScoreForm scores = ScoreForm::dot;
  bool scaled_scores = true;    ///< products are divided by sqrt(head width)
  bool query_key_norm = false;  ///< RMSNorm of every head's query and key (after Henry et al. 2020)
  bool smeared_keys =
      false;  ///< a key is mixed with the one before it (Elhage et al. 2021; Olsson et al. 2022)
  Initialisation initialisation = Initialisation::fan_in;

  friend bool operator==(const ModelConfig&, const ModelConfig&) = default;
};

/// Whether a table of positions is added to the embedding.
bool adds_positions(const ModelConfig& config);

/// Whether a head's score is a query and a key, both linear in what the head reads, multiplied: then there is
/// a matrix W_Q W_Kᵀ to look at.
bool has_bilinear_scores(const ModelConfig& config);

/// How many numbers a model of this config learns; not a whole number where there are too many to count.
double count_parameters(const ModelConfig& config);
/// How many numbers its tables of fixed positions hold, which are not learnt.
double count_fixed_positions(const ModelConfig& config);

}  // namespace tapehead
