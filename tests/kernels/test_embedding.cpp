#include "tapehead/kernels/embedding.h"

#include "support/functions.h"
#include "tapehead/autograd/elementary.h"
#include "tapehead/autograd/fused.h"
#include "tapehead/autograd/matmul.h"

namespace tapehead {

namespace {

using testing::check_close;
using testing::Inputs;
using testing::random_tensor;

/// (B, T, V) with a 1 at each id.
Variable one_hot(const Tokens& ids, Index count) {
  Tensor rows(Shape{ids.batch(), ids.length(), count});
  for (Index i = 0; i < ids.count(); ++i) rows.data()[i * count + ids.data()[i]] = 1;
  return Variable(rows);
}

}  // namespace

TEST_CASE("embedding is a one-hot row times the table, forward and backward") {
  for (const Index count : {1, 3, 65})
    for (const Index width : {1, 17, 63}) {
      CAPTURE(count);
      CAPTURE(width);
      const Tokens ids = testing::random_tokens(3, 17, count, 1);
      testing::check_same([&](const Inputs& in) { return embedding(in[0], ids); },
                          [&](const Inputs& in) { return matmul(one_hot(ids, count), in[0]); },
                          {random_tensor({count, width}, 2)});
    }
}

TEST_CASE("a row that is looked up several times gets the sum of its gradients, and the others get 0") {
  Tape tape;
  const Variable table = tape.variable(random_tensor({4, 2}, 1));
  const Variable upstream(Tensor({1, 4, 2}, {1, 10, 2, 20, 4, 40, 8, 80}));
  tape.backward(sum(embedding(table, Tokens(1, 4, {2, 0, 2, 2})) * upstream));
  check_close(table.gradient(), {4, 2}, {2, 20, 0, 0, 13, 130, 0, 0}, 0);
}

TEST_CASE("the embedding kernel adds to the table's gradient") {
  const std::int32_t ids[] = {1, 1};
  const Tensor dy({2, 1}, {1, 2});
  Tensor dtable({2, 1}, {10, 20});
  kernels::embedding_backward(dtable.data(), dy.data(), ids, 2, 1);
  check_close(dtable, {2, 1}, {10, 23}, 0);
}

}  // namespace tapehead
