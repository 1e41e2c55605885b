#include "tapehead/nn/dropout.h"

#include "support/functions.h"
#include "tapehead/autograd/elementary.h"
#include "tapehead/autograd/fused.h"
#include "tapehead/autograd/gradient_check.h"
#include "tapehead/base/require.h"

namespace tapehead {

namespace {

const Generator kStream(7, Purpose::dropout);

Tensor ones(Index count) {
  Tensor tensor(Shape{count});
  tensor.fill(1);
  return tensor;
}

}  // namespace

TEST_CASE("a pass without a dropout stream never drops, whether it records or not") {
  const Dropout dropout(0.9);
  const Variable x(ones(100));
  Pass evaluation;
  Tape tape;
  Pass recorded(tape);
  CHECK(dropout(evaluation, x).data() == x.data());
  CHECK(dropout(recorded, x).data() == x.data());
}

TEST_CASE("a pass with a dropout stream drops as the op does, and goes on along the stream") {
  const Dropout module(0.5);
  const Variable x(ones(100));
  Tape tape;
  Pass pass(tape, kStream);
  const Tensor first = module(pass, x).value();
  const Tensor second = module(pass, x).value();
  Generator stream = kStream;
  CHECK(testing::same_bits(first, dropout(x, 0.5, stream).value()));
  CHECK(testing::same_bits(second, dropout(x, 0.5, stream).value()));
  CHECK(!testing::same_bits(first, second));
}

TEST_CASE("dropout with probability 0 leaves the values and the stream alone") {
  Tape tape;
  Pass pass(tape, kStream);
  const Variable x(ones(100));
  CHECK(Dropout(0)(pass, x).data() == x.data());
  Generator stream = kStream;
  CHECK(pass.dropout()->bits() == stream.bits());
}

TEST_CASE("a module with a dropout probability outside 0 to 1 is refused") {
  CHECK_NOTHROW(Dropout(1));
  CHECK_THROWS_WITH_AS(Dropout(1.5), "[dropout] expected a probability between 0 and 1, got 1.5", Error);
  CHECK_THROWS_AS(Dropout(-0.1), Error);
}

DOUBLE_TEST_CASE("dropout at a fixed stream passes the gradient check") {
  const Dropout dropout(0.4);
  CHECK(gradient_check({testing::random_tensor({4, 5}, 1)}, [&](Tape& tape, const testing::Inputs& in) {
          Pass pass(tape, kStream);
          return testing::weighed(tanh(dropout(pass, tanh(dropout(pass, in[0])))));
        }) < 1e-6);
}

}  // namespace tapehead
