#include "tapehead/autograd/gradient_check.h"

#include <algorithm>
#include <cmath>
#include <type_traits>

#include "tapehead/base/random.h"
#include "tapehead/base/require.h"

namespace tapehead {

namespace {

constexpr int kDirections = 6;
constexpr double kStep = 3e-4;

/// The largest relative error of `slope` along random directions of length 1 of a space of `count`
/// dimensions. `value_at` gives the loss at a distance along the direction from the point, `slope` the tape's
/// derivative.
double worst_error(Index count, const std::function<double(const std::vector<double>&, double)>& value_at,
                   const std::function<double(const std::vector<double>&)>& slope) {
  double worst = 0;
  Generator generator(20240229);
  for (int i = 0; i < kDirections; ++i) {
    std::vector<double> direction(static_cast<std::size_t>(count));
    double squares = 0;
    for (double& component : direction) {
      component = generator.normal();
      squares += component * component;
    }
    for (double& component : direction) component /= std::sqrt(squares);
    // The central difference of sixth order: its error falls with the seventh derivative times step^6.
    const auto odd = [&](double h) { return value_at(direction, h) - value_at(direction, -h); };
    const double numeric = (45 * odd(kStep) - 9 * odd(2 * kStep) + odd(3 * kStep)) / (60 * kStep);
    const double analytic = slope(direction);
    const double size = std::max({1e-3, std::abs(analytic), std::abs(numeric)});
    const double error = std::abs(analytic - numeric) / size;
    if (!(error <= worst)) worst = error;  // a NaN is the worst of all, and stays
    if (std::isnan(worst)) return worst;
  }
  return worst;
}

void require_double() {
  require(std::is_same_v<Real, double>, "[gradient_check] finite differences need the double build");
}

}  // namespace

double gradient_check(const std::vector<Tensor>& inputs,
                      const std::function<Variable(Tape&, const std::vector<Variable>&)>& loss) {
  require_double();
  Index count = 0;
  for (const Tensor& input : inputs) count += input.count();

  const auto value_at = [&](const std::vector<double>& direction, double distance) {
    Tape tape;
    std::vector<Variable> moved;
    auto component = direction.begin();
    for (Tensor input : inputs) {
      for (Real& value : input.values()) value += static_cast<Real>(distance * *component++);
      moved.push_back(tape.variable(std::move(input)));
    }
    return static_cast<double>(loss(tape, moved).item());
  };

  Tape tape;
  std::vector<Variable> variables;
  for (const Tensor& input : inputs) variables.push_back(tape.variable(input));
  tape.backward(loss(tape, variables));
  const auto slope = [&](const std::vector<double>& direction) {
    double total = 0;
    auto component = direction.begin();
    for (const Variable& variable : variables)
      for (const Real g : variable.gradient().values()) total += static_cast<double>(g) * *component++;
    return total;
  };
  return worst_error(count, value_at, slope);
}

double gradient_check(Parameters& parameters, const std::function<Variable(Tape&)>& loss) {
  require_double();
  const std::vector<Real> point(parameters.values().begin(), parameters.values().end());
  const auto value_at = [&](const std::vector<double>& direction, double distance) {
    const std::span<Real> values = parameters.change();
    for (std::size_t i = 0; i < point.size(); ++i)
      values[i] = point[i] + static_cast<Real>(distance * direction[i]);
    Tape tape;
    return static_cast<double>(loss(tape).item());
  };

  Tape tape;
  const Gradients gradients = tape.backward(loss(tape));
  const auto slope = [&](const std::vector<double>& direction) {
    double total = 0;
    for (std::size_t i = 0; i < direction.size(); ++i)
      total += static_cast<double>(gradients.data()[i]) * direction[i];
    return total;
  };
  const double worst = worst_error(parameters.count(), value_at, slope);
  std::copy(point.begin(), point.end(), parameters.change().begin());
  return worst;
}

}  // namespace tapehead
