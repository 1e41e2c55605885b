#include "tapehead/nn/linear.h"

#include <cmath>

#include "support/modules.h"
#include "tapehead/autograd/elementary.h"
#include "tapehead/autograd/fused.h"

namespace tapehead {

using testing::check_close;
using testing::random_tensor;

TEST_CASE("a linear layer registers its weight, outputs by inputs, and its bias if wanted") {
  Parameters parameters;
  const Scope scope(parameters, "part");
  Linear with(scope / "with", 4, 2, true, 0.5);
  Linear without(scope / "without", 4, 2, false, 0.25);
  CHECK(testing::listing_of(parameters) ==
        "part.with.weight (2, 4) 8\n"
        "part.with.bias (2) 2\n"
        "part.without.weight (2, 4) 8\n");
  CHECK(parameters.entries()[0].start.deviation == 0.5);
  CHECK(parameters.entries()[1].start.deviation == 0);
  CHECK(parameters.entries()[2].start.deviation == 0.25);
}

TEST_CASE("a linear layer is the linear op of its parameters") {
  Parameters parameters;
  const Linear layer(Scope(parameters), 3, 2, true, 1);
  parameters.initialise(1);
  const std::span<Real> values = parameters.change();
  std::copy_n(std::begin({1, 2, 3, 4, 5, 6, 10, 20}), 8, values.begin());
  check_close(layer(Pass(), Variable(Tensor({1, 3}, {1, 1, 2}))).value(), {1, 2}, {19, 41}, 0);
}

TEST_CASE("some outputs of a linear layer are the same as if it had no others") {
  Parameters parameters;
  const Linear layer(Scope(parameters), 5, 7, true, 1);
  parameters.initialise(1);
  testing::shake(parameters);
  const Variable x(random_tensor({2, 3, 5}, 1));
  const Variable all = layer(Pass(), x);
  for (const Index first : {0, 2, 6})
    check_close(layer.outputs(Pass(), x, first, 1).value(), slice(all, -1, first, first + 1).value());
}

DOUBLE_TEST_CASE("a linear layer passes the gradient check, whole and in parts") {
  for (const bool bias : {true, false}) {
    Parameters parameters;
    const Linear layer(Scope(parameters), 5, 4, bias, 1);
    parameters.initialise(1);
    testing::shake(parameters);
    const Tensor x = random_tensor({2, 3, 5}, 1);
    CHECK(testing::module_error(
              parameters, [&](Pass& pass, const Variable& in) { return layer(pass, in); }, x) < 1e-6);
    const auto parts = [&](Pass& pass, const Variable& in) {
      return layer.outputs(pass, in, 0, 2) * layer.outputs(pass, in, 1, 2);
    };
    CHECK(testing::module_error(parameters, parts, x) < 1e-6);
  }
}

}  // namespace tapehead
