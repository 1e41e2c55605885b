#include "support/tokens_model.h"

#include <fmt/format.h>

namespace tapehead::testing {

void set_identity(Transformer& model, std::string_view name, double factor, Index third) {
  const Parameter parameter = model.parameters().find(name);
  const Index size = parameter.shape[1];
  Real* place = model.parameters().change().data() + parameter.offset + third * size * size;
  for (Index i = 0; i < size; ++i)
    for (Index j = 0; j < size; ++j) place[i * size + j] = static_cast<Real>(i == j ? factor : 0);
}

Transformer token_model(Index vocabulary, double copied, Index layers) {
  Transformer model({.vocabulary = vocabulary,
                     .context = 12,
                     .width = vocabulary,
                     .heads = 1,
                     .layers = layers,
                     .positions = Positions::none},
                    1);
  set_to_zero(model);
  set_identity(model, "embedding.weight", 1);
  set_identity(model, "unembedding.weight", 1);
  for (Index layer = 0; layer < layers; ++layer) {
    set_identity(model, fmt::format("blocks.{}.attention.qkv.weight", layer), 1, 2);
    set_identity(model, fmt::format("blocks.{}.attention.output.weight", layer), copied);
  }
  return model;
}

}  // namespace tapehead::testing
