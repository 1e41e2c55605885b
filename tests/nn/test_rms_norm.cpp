#include "tapehead/nn/rms_norm.h"

#include <cmath>
#include <vector>

#include "support/modules.h"

namespace tapehead {

TEST_CASE("an RMS norm registers a gain of ones, adds 1e-5 to the mean square, then applies the gain") {
  Parameters parameters;
  const RmsNorm norm(Scope(parameters), 4);
  CHECK(testing::listing_of(parameters) == "gain (4) 4\n");
  parameters.initialise(1);
  const std::vector<Real> row{1, 2, 4, 9};
  const double factor = 1 / std::sqrt((1 + 4 + 16 + 81) / 4.0 + 1e-5);
  CHECK(RmsNorm::scale_of(row) == doctest::Approx(factor).epsilon(1e-9));
  const Variable x(Tensor({1, 4}, {1, 2, 4, 9}));
  testing::check_close(norm(Pass(), x).value(), {1, 4}, {factor, 2 * factor, 4 * factor, 9 * factor});
  parameters.change()[2] = 3;
  testing::check_close(norm(Pass(), x).value(), {1, 4}, {factor, 2 * factor, 12 * factor, 9 * factor});
}

DOUBLE_TEST_CASE("an RMS norm passes the gradient check") {
  Parameters parameters;
  const RmsNorm norm(Scope(parameters), 5);
  parameters.initialise(1);
  testing::shake(parameters);
  CHECK(testing::module_error(
            parameters, [&](Pass& pass, const Variable& x) { return norm(pass, x); },
            testing::random_tensor({2, 3, 5}, 1)) < 1e-6);
}

}  // namespace tapehead
