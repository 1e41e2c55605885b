#include "tapehead/train/optimizer.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include "support/functions.h"
#include "support/testing.h"
#include "support/training.h"
#include "tapehead/base/require.h"

using namespace tapehead;
using namespace tapehead::testing;

namespace {

constexpr Real kNaN = std::numeric_limits<Real>::quiet_NaN();
constexpr Real kInfinity = std::numeric_limits<Real>::infinity();

/// One number as a matrix, which decays, then one as a gain and one as a bias, which do not.
struct ThreeNumbers {
  ThreeNumbers(double weight, double gain, double bias) {
    parameters.add("weight", {1, 1}, Start::constant(weight));
    parameters.add("gain", {1}, Start::constant(gain));
    parameters.add("bias", {1}, Start::constant(bias));
    parameters.initialise(0);
  }
  void step(Optimizer& optimizer, double weight, double gain, double bias) {
    optimizer.step(parameters, Gradients({3}, {static_cast<Real>(weight), static_cast<Real>(gain),
                                               static_cast<Real>(bias)}));
  }
  double operator[](std::size_t i) const { return static_cast<double>(parameters.values()[i]); }

  Parameters parameters;
};

/// Matrices that decay and vectors that do not, whose borders lie within the chunks that threads take, and
/// one that lies over several.
struct ManyNumbers {
  static constexpr Index kCount = 400'000;

  ManyNumbers() {
    parameters.add("small", {7, 11}, Start::normal(1));
    parameters.add("bias", {60'000}, Start::normal(1));
    parameters.add("table", {499, 600}, Start::normal(1));
    parameters.add("gain", {523}, Start::normal(1));
    parameters.add("last", {200, 200}, Start::normal(1));
    REQUIRE(parameters.count() == kCount);
    parameters.initialise(1);
  }

  Parameters parameters;
};

doctest::Approx about(double value) { return doctest::Approx(value).epsilon(1e-6).scale(0); }

/// One optimizer of each kind, with everything switched on.
std::vector<std::unique_ptr<Optimizer>> one_of_each() {
  std::vector<std::unique_ptr<Optimizer>> list;
  list.push_back(
      std::make_unique<Sgd>(Sgd::Config{.learning_rate = 0.1, .momentum = 0.9, .weight_decay = 0.1}));
  list.push_back(std::make_unique<Adam>(AdamConfig{.learning_rate = 0.1, .weight_decay = 0.1}));
  list.push_back(std::make_unique<AdamW>(AdamConfig{.learning_rate = 0.1, .weight_decay = 0.1}));
  return list;
}

}  // namespace

TEST_CASE("AdamW decays matrices and embeddings, and leaves gains and biases exactly") {
  ThreeNumbers numbers(2.0, 1.0, 0.5);
  AdamW optimizer({.learning_rate = 0.1, .weight_decay = 0.1});
  numbers.step(optimizer, 0, 0, 0);
  CHECK(numbers[0] == about(1.98));
  CHECK(numbers[1] == 1.0);
  CHECK(numbers[2] == 0.5);
}

TEST_CASE("Adam and Sgd decay matrices and embeddings, and leave gains and biases exactly") {
  for (const std::unique_ptr<Optimizer>& optimizer : one_of_each()) {
    ThreeNumbers numbers(2.0, 1.0, 0.5);
    numbers.step(*optimizer, 0, 0, 0);
    CHECK(numbers[0] < 2.0);
    CHECK(numbers[1] == 1.0);
    CHECK(numbers[2] == 0.5);
  }
}

TEST_CASE("AdamW scales the decay by the learning rate and keeps it out of the averages") {
  ThreeNumbers numbers(2.0, 2.0, 2.0);
  AdamW optimizer({.learning_rate = 0.1, .weight_decay = 0.01});
  numbers.step(optimizer, 0.5, 0.5, 0.5);
  CHECK(numbers[0] == about(1.898));
  CHECK(numbers[1] == about(1.9));
  CHECK(optimizer.state()[0].values(0) == optimizer.state()[0].values(1));
}

TEST_CASE("Adam adds the decay to the gradient, and so to the averages") {
  ThreeNumbers numbers(2.0, 2.0, 2.0);
  Adam optimizer({.learning_rate = 0.1, .weight_decay = 0.01});
  numbers.step(optimizer, 0.5, 0.5, 0.5);
  CHECK(numbers[0] == about(1.9));
  CHECK(static_cast<double>(optimizer.state()[0].values(0)) == about(0.1 * (0.5 + 0.01 * 2)));
  CHECK(static_cast<double>(optimizer.state()[0].values(1)) == about(0.1 * 0.5));
}

TEST_CASE("Adam adds epsilon after the correction of the second moment") {
  ThreeNumbers numbers(0, 0, 0);
  Adam optimizer({.learning_rate = 1e-3, .beta1 = 0.9, .beta2 = 0.999, .epsilon = 1e-8});
  numbers.step(optimizer, 1e-6, 1e-6, -1e-6);
  CHECK(numbers[0] == about(-9.900990e-4));
  CHECK(numbers[2] == about(9.900990e-4));
}

TEST_CASE("two steps of Adam are those of the algorithm by hand") {
  // m: 0.1, then 0.9 * 0.1 - 0.1 = -0.01, which over 1 - 0.9^2 is -1/19; the corrected v is 1 both times.
  ThreeNumbers numbers(1, 1, 1);
  Adam optimizer({.learning_rate = 0.1, .beta1 = 0.9, .beta2 = 0.999, .epsilon = 1e-12});
  numbers.step(optimizer, 1, 1, 1);
  CHECK(numbers[0] == about(0.9));
  numbers.step(optimizer, -1, -1, 1);
  CHECK(numbers[0] == doctest::Approx(0.9 + 0.1 / 19).epsilon(1e-5));
  CHECK(numbers[2] == doctest::Approx(0.8).epsilon(1e-5));
  CHECK(optimizer.steps() == 2);
}

TEST_CASE("Sgd adds momentum times the last update, by hand") {
  ThreeNumbers numbers(1, 1, 1);
  Sgd optimizer({.learning_rate = 0.5, .momentum = 0.5});
  numbers.step(optimizer, 1, 0, -1);
  CHECK(numbers[0] == 0.5);
  numbers.step(optimizer, 2, 0, 0);
  CHECK(numbers[0] == -0.75);  // 0.5 - 0.5 * (0.5 * 1 + 2)
  CHECK(numbers[1] == 1.0);
  CHECK(numbers[2] == 1.75);  // 1 + 0.5 * 1, then + 0.5 * 0.5 * 1
}

TEST_CASE("Sgd without momentum goes down the gradient, and adds the decay to it") {
  ThreeNumbers numbers(2, 2, 2);
  Sgd optimizer({.learning_rate = 0.5, .weight_decay = 0.5});
  numbers.step(optimizer, 1, 1, 1);
  CHECK(numbers[0] == 1.0);  // 2 - 0.5 * (1 + 0.5 * 2)
  CHECK(numbers[1] == 1.5);
  CHECK(numbers[2] == 1.5);
}

TEST_CASE("a new learning rate counts from the next step on") {
  ThreeNumbers numbers(0, 0, 0);
  Sgd optimizer({.learning_rate = 1});
  numbers.step(optimizer, 1, 0, 0);
  optimizer.set_learning_rate(0.25);
  CHECK(optimizer.learning_rate() == 0.25);
  numbers.step(optimizer, 1, 0, 0);
  CHECK(numbers[0] == -1.25);
}

TEST_CASE("a gradient that is not finite is refused and changes nothing") {
  for (const std::unique_ptr<Optimizer>& optimizer : one_of_each())
    for (const Real bad : {kNaN, kInfinity, -kInfinity})
      for (const Index where : {0, 1, 2}) {
        CAPTURE(bad);
        CAPTURE(where);
        ThreeNumbers numbers(2.0, 1.0, 0.5);
        numbers.step(*optimizer, 1, 1, 1);
        const Tensor values = values_of(numbers.parameters);
        const std::vector<Optimizer::State> state = optimizer->state();
        const Index steps = optimizer->steps();

        Gradients gradients({3}, {1, 1, 1});
        gradients(where) = bad;
        CHECK_THROWS_WITH_AS(optimizer->step(numbers.parameters, gradients),
                             "[optimizer] a gradient is not finite; the parameters were left as they are",
                             Error);
        CHECK(same_bits(values_of(numbers.parameters), values));
        CHECK(optimizer->steps() == steps);
        REQUIRE(optimizer->state().size() == state.size());
        for (std::size_t i = 0; i < state.size(); ++i)
          CHECK(same_bits(optimizer->state()[i].values, state[i].values));
      }
}

TEST_CASE("the largest finite gradient is not taken for infinite") {
  ThreeNumbers numbers(0, 0, 0);
  Sgd optimizer({.learning_rate = 0});
  const double largest = static_cast<double>(std::numeric_limits<Real>::max());
  CHECK_NOTHROW(numbers.step(optimizer, largest, largest, -largest));
}

TEST_CASE("gradients of another layout are refused") {
  ThreeNumbers numbers(2.0, 1.0, 0.5);
  AdamW optimizer({.learning_rate = 0.1});
  CHECK_THROWS_WITH_AS(optimizer.step(numbers.parameters, Gradients({2})),
                       "[optimizer] expected 3 gradients, got 2", Error);
  CHECK(optimizer.steps() == 0);
  CHECK(numbers[0] == 2.0);
}

TEST_CASE("the averages are empty before the first step and laid out as the parameters after it") {
  for (const std::unique_ptr<Optimizer>& optimizer : one_of_each()) {
    for (const Optimizer::State& state : optimizer->state()) CHECK(state.values.count() == 0);
    ThreeNumbers numbers(2.0, 1.0, 0.5);
    numbers.step(*optimizer, 1, 2, 3);
    for (const Optimizer::State& state : optimizer->state()) {
      CHECK(to_string(state.values.shape()) == "(3)");
      CHECK(state.values(1) < state.values(2));
    }
  }
}

TEST_CASE("an optimizer that is restored goes on to the same bits as the one it was taken from") {
  std::vector<std::unique_ptr<Optimizer>> restored = one_of_each();
  std::size_t which = 0;
  for (const std::unique_ptr<Optimizer>& optimizer : one_of_each()) {
    ThreeNumbers straight(2.0, 1.0, 0.5);
    straight.step(*optimizer, 1, -2, 3);
    straight.step(*optimizer, 0.5, 2, 1);
    ThreeNumbers resumed(straight[0], straight[1], straight[2]);
    Optimizer& other = *restored[which++];
    other.restore(optimizer->steps(), optimizer->state());
    CHECK(same_bits(other, *optimizer));

    straight.step(*optimizer, -1, 0.25, 2);
    resumed.step(other, -1, 0.25, 2);
    CHECK(same_bits(resumed.parameters, straight.parameters));
    CHECK(same_bits(other, *optimizer));
  }
}

TEST_CASE("averages of other names or sizes are refused, and the optimizer stays as it was") {
  ThreeNumbers numbers(2.0, 1.0, 0.5);
  Adam optimizer({.learning_rate = 0.1});
  const Tensor three({3});
  CHECK_THROWS_WITH_AS(optimizer.restore(1, {{"momentum", three}}), "[optimizer] expected 2 averages, got 1",
                       Error);
  CHECK_THROWS_WITH_AS(optimizer.restore(1, {{"second_moment", three}, {"first_moment", three}}),
                       "[optimizer] expected the average first_moment, got second_moment", Error);
  CHECK_THROWS_AS(optimizer.restore(1, {{"first_moment", three}, {"second_moment", Tensor({2})}}), Error);
  CHECK_THROWS_AS(optimizer.restore(1, {{"first_moment", Tensor()}, {"second_moment", Tensor()}}), Error);
  CHECK_THROWS_AS(optimizer.restore(0, {{"first_moment", three}, {"second_moment", three}}), Error);
  CHECK(optimizer.steps() == 0);

  optimizer.restore(1, {{"first_moment", Tensor({2})}, {"second_moment", Tensor({2})}});
  CHECK_THROWS_WITH_AS(numbers.step(optimizer, 1, 1, 1), "[optimizer] has averages of 2 numbers, not of 3",
                       Error);
  CHECK(numbers[0] == 2.0);
  CHECK(optimizer.steps() == 1);
}

TEST_CASE("an update of many parameters has the same bits on any number of threads") {
  const Gradients gradients = random_tensor({ManyNumbers::kCount}, 2);
  const std::vector<std::unique_ptr<Optimizer>> alone = one_of_each();
  for (std::size_t which = 0; which < alone.size(); ++which) {
    CAPTURE(which);
    ManyNumbers expected;
    for (int step = 0; step < 2; ++step)
      alone[which]->step(expected.parameters, gradients, {.scale = 0.3, .threads = 1});
    for (const int threads : {2, 3}) {
      CAPTURE(threads);
      ManyNumbers numbers;
      const std::unique_ptr<Optimizer> optimizer = std::move(one_of_each()[which]);
      for (int step = 0; step < 2; ++step)
        optimizer->step(numbers.parameters, gradients, {.scale = 0.3, .threads = threads});
      CHECK(same_bits(numbers.parameters, expected.parameters));
      CHECK(same_bits(*optimizer, *alone[which]));
    }
  }
}

TEST_CASE("every one of many parameters is updated once, and decays or not as its own shape says") {
  ManyNumbers numbers;
  const Tensor before = values_of(numbers.parameters);
  Gradients gradients = random_tensor({ManyNumbers::kCount}, 2);
  Sgd({.learning_rate = 0.5, .weight_decay = 0.25}).step(numbers.parameters, gradients, {.threads = 2});
  AdamW adamw({.learning_rate = 0.5, .weight_decay = 0.25});
  ManyNumbers others;
  adamw.step(others.parameters, gradients, {.threads = 3});
  double worst = 0;
  for (const Parameters::Entry& entry : numbers.parameters.entries())
    for (Index i = entry.offset; i < entry.offset + entry.count(); ++i) {
      const auto place = static_cast<std::size_t>(i);
      const double w = static_cast<double>(before(i));
      const double g = static_cast<double>(gradients(i));
      const double pull = entry.shape.rank() == 2 ? 0.25 : 0;
      const double downhill = w - 0.5 * (g + pull * w);
      // The first step of Adam goes by the gradient's sign alone.
      const double by_sign = (1 - 0.5 * pull) * w - 0.5 * g / (std::abs(g) + 1e-8);
      for (const double error : {std::abs(static_cast<double>(numbers.parameters.values()[place]) - downhill),
                                 std::abs(static_cast<double>(others.parameters.values()[place]) - by_sign)})
        worst = !(error <= worst) ? error : worst;
    }
  CHECK(worst < kRounding);
}

TEST_CASE("a gradient that is not finite is found anywhere among many, on any number of threads") {
  ManyNumbers numbers;
  const Tensor before = values_of(numbers.parameters);
  for (const int threads : {1, 3})
    for (const Index where : {Index{0}, Index{65'535}, Index{65'536}, ManyNumbers::kCount - 1}) {
      CAPTURE(threads);
      CAPTURE(where);
      Gradients gradients({ManyNumbers::kCount});
      gradients(where) = kInfinity;
      AdamW optimizer({.learning_rate = 0.1, .weight_decay = 0.1});
      CHECK_THROWS_AS(optimizer.step(numbers.parameters, gradients, {.threads = threads}), Error);
      CHECK(same_bits(values_of(numbers.parameters), before));
    }
}

TEST_CASE("gradients that are scaled as they are read are gradients that were scaled before, decay aside") {
  for (std::size_t which = 0; which < one_of_each().size(); ++which) {
    CAPTURE(which);
    const auto updated = [&](double factor, double scale) {
      ManyNumbers numbers;
      Gradients gradients = random_tensor({ManyNumbers::kCount}, 2, factor);
      const std::unique_ptr<Optimizer> optimizer = std::move(one_of_each()[which]);
      for (int step = 0; step < 2; ++step) optimizer->step(numbers.parameters, gradients, {.scale = scale});
      return values_of(numbers.parameters);
    };
    // A power of two, by which no number is rounded.
    CHECK(same_bits(updated(4, 0.25), updated(1, 1)));
  }
}

TEST_CASE("the norm of many gradients is the root of their squares, added up in double") {
  const Gradients gradients = random_tensor({ManyNumbers::kCount}, 3);
  double squares = 0;
  for (const Real gradient : gradients.values())
    squares += static_cast<double>(gradient) * static_cast<double>(gradient);
  CHECK(sum_of_squares(gradients.values()) == doctest::Approx(squares).epsilon(1e-12));
  Gradients clipped = gradients;
  const double norm = clip_norm(clipped, 2);
  CHECK(norm == doctest::Approx(std::sqrt(squares)).epsilon(1e-12));
  Index different = 0;
  for (Index i = 0; i < gradients.count(); ++i)
    different += clipped(i) == gradients(i) * static_cast<Real>(2 / norm) ? 0 : 1;
  CHECK(different == 0);
}

TEST_CASE("a norm above the limit is scaled down to it, and any other is left alone") {
  CHECK(clip_scale(8, 2) == 0.25);
  CHECK(clip_scale(2, 2) == 1);
  CHECK(clip_scale(1, 2) == 1);
  CHECK(clip_scale(8, 0) == 1);
  CHECK(clip_scale(0, 2) == 1);
  CHECK(clip_scale(std::numeric_limits<double>::infinity(), 2) == 1);
  CHECK(clip_scale(std::numeric_limits<double>::quiet_NaN(), 2) == 1);
}

TEST_CASE("clipping scales all gradients by one factor, to a common norm at the limit") {
  Gradients gradients({3}, {3, 4, 12});
  CHECK(clip_norm(gradients, 6.5) == 13.0);
  CHECK(gradients(0) == 1.5);
  CHECK(gradients(1) == 2.0);
  CHECK(gradients(2) == 6.0);
}

TEST_CASE("a norm at or below the limit is reported and changes nothing, and limit 0 never clips") {
  for (const double limit : {13.0, 14.0, 0.0}) {
    Gradients gradients({3}, {3, 4, -12});
    CHECK(clip_norm(gradients, limit) == 13.0);
    CHECK(same_bits(gradients, Gradients({3}, {3, 4, -12})));
  }
  Gradients zeros({2});
  CHECK(clip_norm(zeros, 1) == 0.0);
  CHECK(same_bits(zeros, Gradients({2})));
}

TEST_CASE("a norm that is not finite is reported and changes nothing") {
  Gradients with_nan({2}, {kNaN, 4});
  CHECK(std::isnan(clip_norm(with_nan, 1)));
  CHECK(with_nan(1) == 4);
  Gradients with_infinity({2}, {3, kInfinity});
  CHECK(clip_norm(with_infinity, 1) == std::numeric_limits<double>::infinity());
  CHECK(with_infinity(0) == 3);
}

TEST_CASE("squares that a float cannot hold still have a norm") {
  Gradients gradients({2}, {static_cast<Real>(3e30), static_cast<Real>(4e30)});
  CHECK(clip_norm(gradients, 5) == about(5e30));
  CHECK(static_cast<double>(gradients(0)) == about(3));
  CHECK(static_cast<double>(gradients(1)) == about(4));
}
