#include "tapehead/kernels/tiled_attention_cost.h"

#include <vector>

#include "support/functions.h"
#include "tapehead/kernels/tiled_attention.h"
#include "tapehead/tensor/gemm.h"
#include "tapehead/tensor/memory.h"

namespace tapehead {

namespace {

using testing::random_tensor;

/// What a call was seen to take.
struct Taken {
  Index operations;
  Index bytes;
};

template <class Call>
Taken taken_by(const Call& call) {
  const Index operations = gemm_operations();
  const Index bytes = memory_use().now;
  reset_peak_memory();
  call();
  return {gemm_operations() - operations, memory_use().peak - bytes};
}

Index bytes_of(const std::vector<Index>& room) {
  Index bytes = 0;
  for (const Index count : room) bytes += block_bytes(count);
  return bytes;
}

void check_both_ways(kernels::AttentionSizes s, bool causal) {
  CAPTURE(s.length);
  CAPTURE(s.earlier);
  CAPTURE(causal);
  const Index width = s.heads * s.head_width;
  const Tensor q = random_tensor({s.batch, s.length, width}, 1);
  const Tensor k = random_tensor({s.batch, s.keys(), width}, 2);
  const Tensor v = random_tensor({s.batch, s.keys(), width}, 3);
  Tensor z(q.shape()), dq(q.shape()), dk(k.shape()), dv(v.shape());
  Tensor largest({s.batch, s.heads, s.length}), factors(largest.shape());
  const kernels::Scoring scoring{Real(0.5)};
  const kernels::Sight sight{causal};

  const Taken forward = taken_by([&] {
    kernels::tiled_attention_forward(z.data(), largest.data(), factors.data(), q.data(), k.data(), v.data(),
                                     scoring, sight, s);
  });
  const kernels::TiledAttentionCost forward_cost = kernels::tiled_attention_forward_cost(s, causal);
  CHECK(forward_cost.operations == forward.operations);
  CHECK(bytes_of(forward_cost.room) == forward.bytes);

  const Taken backward = taken_by([&] {
    kernels::tiled_attention_backward(dq.data(), dk.data(), dv.data(), q.data(), z.data(), largest.data(),
                                      factors.data(), q.data(), k.data(), v.data(), scoring, sight, s);
  });
  const kernels::TiledAttentionCost backward_cost = kernels::tiled_attention_backward_cost(s, causal);
  CHECK(backward_cost.operations == backward.operations);
  CHECK(bytes_of(backward_cost.room) == backward.bytes);
}

}  // namespace

TEST_CASE("tiled attention asks for the products and the room that its cost says") {
  for (const Index length : {1, 5, 24, 25, 97, 128, 129, 300})
    for (const bool causal : {true, false}) check_both_ways({2, length, 3, 4, 0}, causal);
}

TEST_CASE("the cost of tiled attention counts keys before the queries, and several blocks of keys") {
  check_both_ways({1, 7, 2, 5, 140}, true);
  check_both_ways({1, 30, 1, 4, 1100}, true);
  check_both_ways({1, 1030, 1, 4, 0}, true);
}

}  // namespace tapehead
