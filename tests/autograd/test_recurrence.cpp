#include "tapehead/autograd/recurrence.h"

#include "support/functions.h"

namespace tapehead {

using testing::Inputs;
using testing::random_tensor;

DOUBLE_TEST_CASE("gradients of the recurrence agree with finite differences over many steps") {
  const auto op = [](const Inputs& in) { return recurrence(in[0], in[1]); };
  for (const Index batch : {1, 3})
    CHECK(testing::gradient_error(op, {random_tensor({batch, 12, 5}, 1), random_tensor({5, 5}, 2, 0.6)}) <
          1e-6);
}

TEST_CASE("a recurrence says which shapes it expects") {
  const auto complaint = [](const Shape& x, const Shape& weight) {
    return testing::failure_of([&] { recurrence(Variable(Tensor(x)), Variable(Tensor(weight))); });
  };
  const std::string expected =
      "[recurrence] expected x (B, T, C), of at least one number, and weight (C, C), got ";
  CHECK(complaint({2, 3, 4}, {4, 4}) == "done");
  CHECK(complaint({2, 3, 4}, {4, 3}) == expected + "(2, 3, 4) and (4, 3)");
  CHECK(complaint({3, 4}, {4, 4}) == expected + "(3, 4) and (4, 4)");
  CHECK(complaint({0, 3, 4}, {4, 4}) == expected + "(0, 3, 4) and (4, 4)");
}

}  // namespace tapehead
