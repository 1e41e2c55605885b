#include "tapehead/nn/layer_norm.h"

#include <vector>

#include "support/modules.h"

namespace tapehead {

TEST_CASE("a layer norm registers a gain of ones, and a bias of zeros if wanted") {
  Parameters parameters;
  const Scope scope(parameters);
  LayerNorm with(scope / "with", 3, true);
  LayerNorm without(scope / "without", 3, false);
  parameters.initialise(1);
  CHECK(testing::listing_of(parameters) == "with.gain (3) 3\nwith.bias (3) 3\nwithout.gain (3) 3\n");
  CHECK(std::vector<Real>(parameters.values().begin(), parameters.values().end()) ==
        std::vector<Real>{1, 1, 1, 0, 0, 0, 1, 1, 1});
}

TEST_CASE("a layer norm adds 1e-5 to the variance, then applies gain and bias") {
  Parameters parameters;
  const LayerNorm norm(Scope(parameters), 4, true);
  parameters.initialise(1);
  const Variable x(Tensor({1, 4}, {1, 2, 4, 9}));
  testing::check_close(norm(Pass(), x).value(), {1, 4}, {-0.973328014507, -0.648885343004, 0, 1.62221335751});
  const std::vector<Real> row{1, 2, 4, 9};
  CHECK(LayerNorm::scale_of(row) == doctest::Approx(1.62221335751 / 5).epsilon(1e-9));
  // At a variance of 1e-6, what is added to it decides.
  const Variable tiny(Tensor({1, 4}, {Real(-0.001), Real(0.001), Real(-0.001), Real(0.001)}));
  testing::check_close(norm(Pass(), tiny).value(), {1, 4},
                       {-0.301511344578, 0.301511344578, -0.301511344578, 0.301511344578});
  for (Index i = 0; i < 4; ++i) {
    parameters.change()[static_cast<std::size_t>(i)] = 2;
    parameters.change()[static_cast<std::size_t>(4 + i)] = static_cast<Real>(i);
  }
  testing::check_close(norm(Pass(), x).value(), {1, 4},
                       {-1.946656029014, 1 - 1.297770686008, 2, 3 + 3.24442671502});
}

DOUBLE_TEST_CASE("a layer norm passes the gradient check") {
  for (const bool bias : {true, false}) {
    Parameters parameters;
    const LayerNorm norm(Scope(parameters), 5, bias);
    parameters.initialise(1);
    testing::shake(parameters);
    CHECK(testing::module_error(
              parameters, [&](Pass& pass, const Variable& x) { return norm(pass, x); },
              testing::random_tensor({2, 3, 5}, 1)) < 1e-6);
  }
}

}  // namespace tapehead
