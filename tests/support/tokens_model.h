/// A model set by hand whose residual stream has a dimension for every token.
#pragma once

#include "support/models.h"

namespace tapehead::testing {

/// One layer, one head, no positions: embedding and read-out are the identity, the head attends evenly, and
/// adds `copied` to the logit of every token it looks at (over how many those are).
Transformer token_model(Index vocabulary, double copied, Index layers = 1);

/// Makes a square parameter, or one third of a qkv weight (0 queries, 1 keys, 2 values), `factor` times the
/// identity.
void set_identity(Transformer& model, std::string_view name, double factor, Index third = 0);

}  // namespace tapehead::testing
