#include "tapehead/kernels/tiled_attention.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "support/functions.h"
#include "tapehead/tensor/memory.h"

namespace tapehead {

namespace {

using testing::check_close;
using testing::random_tensor;
using testing::same_bits;

constexpr Real kNaN = std::numeric_limits<Real>::quiet_NaN();

/// Attention forward and backward with gradients that start as NaN and are not to be read, or as 10.
struct Result {
  Tensor z, dq, dk, dv;
};

struct Call {
  kernels::AttentionSizes sizes;
  kernels::Scoring scoring = {Real(0.5)};
  kernels::Sight sight = {};
  Tensor q, k, v, dz;

  explicit Call(kernels::AttentionSizes s) : sizes(s) {
    const Index width = s.heads * s.head_width;
    q = random_tensor({s.batch, s.length, width}, 1);
    k = random_tensor({s.batch, s.keys(), width}, 2);
    v = random_tensor({s.batch, s.keys(), width}, 3);
    dz = random_tensor({s.batch, s.length, width}, 4);
  }

  Result operator()(Real keep = 0) const {
    Result r{filled(q.shape(), kNaN), filled(q.shape(), start(keep)), filled(k.shape(), start(keep)),
             filled(v.shape(), start(keep))};
    run(r, {r.dq.data(), keep}, {r.dk.data(), keep}, {r.dv.data(), keep});
    return r;
  }

  void run(Result& r, kernels::Sink dq, kernels::Sink dk, kernels::Sink dv) const {
    Tensor largest = filled({sizes.batch, sizes.heads, sizes.length}, kNaN);
    Tensor factors = filled(largest.shape(), kNaN);
    kernels::tiled_attention_forward(r.z.data(), largest.data(), factors.data(), q.data(), k.data(), v.data(),
                                     scoring, sight, sizes);
    kernels::tiled_attention_backward(dq, dk, dv, dz.data(), r.z.data(), largest.data(), factors.data(),
                                      q.data(), k.data(), v.data(), scoring, sight, sizes);
  }

  static Real start(Real keep) { return keep == 0 ? kNaN : 10; }
  static Tensor filled(const Shape& shape, Real value) {
    Tensor tensor(shape);
    std::fill_n(tensor.data(), tensor.count(), value);
    return tensor;
  }
};

/// Leaves NaN in memory that waits to be handed out, of all sizes that a call may ask for.
void spoil_memory() {
  std::vector<Buffer> blocks;
  for (Index count = 16; count <= 1 << 16; count += count / 8) {
    blocks.push_back(allocate(count));
    std::fill_n(blocks.back().get(), count, kNaN);
  }
}

Index count_nan(const Tensor& x, Index first, Index rows) {
  const Index width = x.count() / x.shape().rows();
  return std::count_if(x.data() + first * width, x.data() + (first + rows) * width,
                       [](Real value) { return std::isnan(value); });
}

}  // namespace

TEST_CASE("tiled attention gives the same bits again, whatever lay in memory and in its outputs") {
  for (const Index length : {1, 17, 96, 131})
    for (const Index earlier : {0, 5, 70}) {
      CAPTURE(length);
      CAPTURE(earlier);
      const Call call({2, length, 2, 5, earlier});
      spoil_memory();
      const Result first = call();
      const Result second = call();
      CHECK(count_nan(first.z, 0, 2 * length) == 0);
      CHECK(count_nan(first.dq, 0, 2 * length) == 0);
      CHECK(count_nan(first.dk, 0, 2 * (length + earlier)) == 0);
      CHECK(count_nan(first.dv, 0, 2 * (length + earlier)) == 0);
      CHECK(same_bits(first.z, second.z));
      CHECK(same_bits(first.dq, second.dq));
      CHECK(same_bits(first.dk, second.dk));
      CHECK(same_bits(first.dv, second.dv));
    }
}

TEST_CASE("a sequence has the same bits of tiled attention alone as in a batch") {
  const Call both({2, 131, 2, 5});
  Call alone({1, 131, 2, 5});
  const Index half = alone.q.count();
  for (auto [from, to] :
       {std::pair{&both.q, &alone.q}, {&both.k, &alone.k}, {&both.v, &alone.v}, {&both.dz, &alone.dz}})
    std::copy_n(from->data() + half, half, to->data());
  const Result all = both();
  const Result one = alone();
  for (auto [whole, part] :
       {std::pair{&all.z, &one.z}, {&all.dq, &one.dq}, {&all.dk, &one.dk}, {&all.dv, &one.dv}})
    CHECK(std::equal(part->data(), part->data() + half, whole->data() + half));
}

TEST_CASE(
    "the backward of tiled attention adds to gradients that are there, and leaves out those nobody asks "
    "for") {
  const Call call({2, 131, 2, 5, 3});
  const Result fresh = call();
  const Result added = call(1);
  for (auto [sum, part] : {std::pair{&added.dq, &fresh.dq}, {&added.dk, &fresh.dk}, {&added.dv, &fresh.dv}}) {
    Tensor expected = *part;
    for (Real& value : expected.values()) value += 10;
    check_close(*sum, expected);
  }
  for (int only = 0; only < 3; ++only) {
    CAPTURE(only);
    Result r = fresh;
    Tensor* gradients[] = {&r.dq, &r.dk, &r.dv};
    kernels::Sink sinks[] = {nullptr, nullptr, nullptr};
    sinks[only] = {gradients[only]->data(), 0};
    std::fill_n(gradients[only]->data(), gradients[only]->count(), kNaN);
    call.run(r, sinks[0], sinks[1], sinks[2]);
    CHECK(same_bits(r.dq, fresh.dq));
    CHECK(same_bits(r.dk, fresh.dk));
    CHECK(same_bits(r.dv, fresh.dv));
  }
}

TEST_CASE("keys that no query sees, for there are none, get gradients of 0 from tiled attention") {
  const Call call({1, 0, 2, 3, 70});
  const Result r = call();
  CHECK(same_bits(r.dk, Tensor(r.dk.shape())));
  CHECK(same_bits(r.dv, Tensor(r.dv.shape())));
}

TEST_CASE("a NaN reaches the outputs of the queries that see it in tiled attention, and no other") {
  constexpr Index kLength = 200, kAt = 110, kWidth = 6;
  const Call clean({1, kLength, 2, kWidth / 2});
  Call call = clean;
  call.q(0, kAt, 0) = kNaN;
  const Tensor by_query = call().z;
  CHECK(count_nan(by_query, kAt, 1) == kWidth / 2);
  CHECK(count_nan(by_query, 0, kLength) == kWidth / 2);
  call = clean;
  call.k(0, kAt, 0) = kNaN;
  const Tensor by_key = call().z;
  CHECK(count_nan(by_key, 0, kAt) == 0);
  CHECK(count_nan(by_key, kAt, kLength - kAt) == (kLength - kAt) * kWidth / 2);
  call = clean;
  call.v(0, kAt, 0) = kNaN;
  const Tensor by_value = call().z;
  CHECK(count_nan(by_value, kAt, kLength - kAt) == kLength - kAt);
  call = clean;
  call.dz(0, kAt, 0) = kNaN;
  const Result back = call();
  CHECK(count_nan(back.dq, kAt, 1) == kWidth / 2);
  CHECK(count_nan(back.dv, 0, kAt + 1) == kAt + 1);
}

TEST_CASE("scores that overflow are seen as NaN in tiled attention") {
  Call call({1, 3, 1, 1});
  call.q(0, 1, 0) = std::numeric_limits<Real>::max();
  call.k(0, 0, 0) = call.k(0, 1, 0) = 100;
  CHECK(std::isnan(call().z(0, 1, 0)));
  call.k(0, 0, 0) = call.k(0, 1, 0) = -100;
  CHECK(std::isnan(call().z(0, 1, 0)));
}

TEST_CASE("tiled attention needs memory in proportion to the length, a number a query beside some tiles") {
  const auto extra = [](Index length) {
    const Call call({1, length, 1, 1});
    Result r{call.q, call.q, call.q, call.q};
    Tensor largest({1, 1, length}), factors({1, 1, length});
    reset_peak_memory();
    const Index before = memory_use().now;
    kernels::tiled_attention_forward(r.z.data(), largest.data(), factors.data(), call.q.data(), call.k.data(),
                                     call.v.data(), {}, {}, call.sizes);
    kernels::tiled_attention_backward(r.dq.data(), r.dk.data(), r.dv.data(), call.dz.data(), r.z.data(),
                                      largest.data(), factors.data(), call.q.data(), call.k.data(),
                                      call.v.data(), {}, {}, call.sizes);
    return memory_use().peak - before;
  };
  const auto number = static_cast<Index>(sizeof(Real));
  CHECK(extra(2048) - extra(1024) == 1024 * number);
  CHECK(extra(1024) < 1024 * 1024 * number / 8);
}

}  // namespace tapehead
