#include "tapehead/kernels/additive_scores.h"

#include <cmath>

#include "support/functions.h"
#include "tapehead/autograd/attention.h"
#include "tapehead/autograd/elementary.h"

namespace tapehead {

namespace {

using testing::check_close;
using testing::Inputs;
using testing::random_tensor;

/// weight tanh(q + k), summed over the numbers of a head, in elementary ops; `seen` is 1 where a key counts.
Variable definition(const Variable& q, const Variable& k, const Variable& weight, const Tensor& seen) {
  const Index heads = weight.shape()[0];
  const Index width = weight.shape()[1];
  const auto split = [&](const Variable& x) {
    return transpose(reshape(x, {x.shape()[0], x.shape()[1], heads, width}), 1, 2);
  };
  const Index batch = q.shape()[0], queries = q.shape()[1], keys = k.shape()[1];
  const Variable rows = reshape(split(q), {batch, heads, queries, 1, width});
  const Variable columns = reshape(split(k), {batch, heads, 1, keys, width});
  const Variable terms = tanh(rows + columns) * reshape(weight, {1, heads, 1, 1, width});
  return reshape(sum(terms, -1), {batch, heads, queries, keys}) * Variable(seen);
}

}  // namespace

TEST_CASE("additive scores are their definition in elementary ops, forward and backward") {
  for (const bool causal : {true, false})
    for (const Index width : {1, 5, 17})
      for (const Index queries : {1, 4}) {
        Tensor seen({queries, 4});
        for (Index i = 0; i < queries; ++i)
          for (Index j = 0; j < 4; ++j) seen(i, j) = !causal || j <= 4 - queries + i ? 1 : 0;
        testing::check_same([&](const Inputs& in) { return additive_scores(in[0], in[1], in[2], causal); },
                            [&](const Inputs& in) { return definition(in[0], in[1], in[2], seen); },
                            {random_tensor({2, queries, 2 * width}, 1), random_tensor({2, 4, 2 * width}, 2),
                             random_tensor({2, width}, 3)});
      }
}

TEST_CASE("an additive score by hand") {
  const Variable q(Tensor({1, 1, 2}, {1, 0}));
  const Variable k(Tensor({1, 1, 2}, {1, -1}));
  const Variable weight(Tensor({1, 2}, {3, 5}));
  check_close(additive_scores(q, k, weight, true).value(), {1, 1, 1, 1},
              {3 * std::tanh(2.0) - 5 * std::tanh(1.0)});
}

TEST_CASE("additive scores say what they expect") {
  const Variable x(Tensor({1, 3, 4}));
  CHECK_THROWS_WITH_AS(additive_scores(x, x, Variable(Tensor({2, 3})), true),
                       "[additive_scores] expected queries (B, T, H*D) and weight (H, D), got (1, 3, 4) and "
                       "(2, 3)",
                       Error);
}

}  // namespace tapehead
