#include "support/induction_model.h"

#include <algorithm>
#include <cmath>
#include <string_view>

#include "support/models.h"

namespace tapehead::testing {

namespace {

/// A score this much lower has weight exp(-2000), which is 0.
constexpr double kSharpness = 2000;

/// A matrix (rows, columns) of the model, written entry by entry.
class Matrix {
 public:
  Matrix(Transformer& model, std::string_view name)
      : model_(model), parameter_(model.parameters().find(name)) {}

  void set(Index row, Index column, double value) {
    const Index place = parameter_.offset + row * parameter_.shape[1] + column;
    model_.parameters().change()[static_cast<std::size_t>(place)] = static_cast<Real>(value);
  }

 private:
  Transformer& model_;
  Parameter parameter_;
};

ModelConfig config_of(Index vocabulary, Index length) {
  const Index head_width = std::max({vocabulary + 1, length, (3 * vocabulary + length + 1) / 2});
  return {.vocabulary = vocabulary, .context = length, .width = 2 * head_width, .heads = 2, .layers = 2};
}

}  // namespace

Transformer perfect_induction_model(Index vocabulary, Index length, double gain) {
  Transformer model = Transformer::zeros(config_of(vocabulary, length));
  const Index width = model.config().width;
  const double sharp = kSharpness * std::sqrt(static_cast<double>(width / 2));
  // Where the parts of the stream begin; that of the token at 0.
  const Index position = vocabulary;
  const Index previous = vocabulary + length;
  const Index answer = 2 * vocabulary + length;
  // Where queries, keys and values of head 0 begin.
  const Index query = 0;
  const Index key = width;
  const Index value = 2 * width;

  Matrix tokens(model, "embedding.weight");
  Matrix positions(model, "positions.weight");
  Matrix back(model, "blocks.0.attention.qkv.weight");
  Matrix match(model, "blocks.1.attention.qkv.weight");
  Matrix back_writes(model, "blocks.0.attention.output.weight");
  Matrix match_writes(model, "blocks.1.attention.output.weight");
  Matrix read_out(model, "unembedding.weight");
  for (Index t = 0; t < length; ++t) {
    positions.set(t, position + t, 1);
    back.set(query + t, position + t, sharp);
    if (t + 1 < length) back.set(key + t + 1, position + t, 1);
    match.set(query + vocabulary, position + t, sharp);
  }
  // Position 0 has nothing before it but itself, so it is no match for anybody.
  match.set(key + vocabulary, position, -2);
  for (Index v = 0; v < vocabulary; ++v) {
    tokens.set(v, v, 1);
    back.set(value + v, v, 1);
    back_writes.set(previous + v, v, 1);
    match.set(query + v, v, sharp);
    match.set(key + v, previous + v, 1);
    match.set(value + v, v, 1);
    match_writes.set(answer + v, v, 1);
    read_out.set(v, answer + v, gain);
  }
  return model;
}

}  // namespace tapehead::testing
