#include "tapehead/nn/feed_forward.h"

#include <cmath>

#include "support/modules.h"
#include "tapehead/autograd/fused.h"

namespace tapehead {

TEST_CASE("a feed-forward part registers two layers, and starts them by their inputs or as told") {
  Parameters parameters;
  const Scope scope(parameters);
  FeedForward plain(scope / "plain", {.width = 4, .hidden = 9, .bias = false});
  FeedForward told(scope / "told",
                   {.width = 4, .hidden = 9, .output_deviation = 0.1, .input_deviation = 0.2});
  CHECK(testing::listing_of(parameters) ==
        "plain.input.weight (9, 4) 36\n"
        "plain.output.weight (4, 9) 36\n"
        "told.input.weight (9, 4) 36\n"
        "told.input.bias (9) 9\n"
        "told.output.weight (4, 9) 36\n"
        "told.output.bias (4) 4\n");
  CHECK(parameters.entries()[0].start.deviation == doctest::Approx(1 / 2.0));
  CHECK(parameters.entries()[1].start.deviation == doctest::Approx(1 / 3.0));
  CHECK(parameters.entries()[2].start.deviation == 0.2);
  CHECK(parameters.entries()[4].start.deviation == 0.1);
}

TEST_CASE("a feed-forward part is output(gelu(input(x))), in the form of GELU it was given") {
  for (const GeluForm form : {GeluForm::tanh, GeluForm::erf}) {
    Parameters parameters;
    const FeedForward part(Scope(parameters), {.width = 4, .hidden = 9, .gelu = form});
    parameters.initialise(1);
    testing::shake(parameters);
    const auto value = [&](const char* name) { return constant(parameters.find(name)); };
    const Variable x(testing::random_tensor({2, 3, 4}, 1));
    const Variable hidden = gelu(linear(x, value("input.weight"), value("input.bias")), form);
    CHECK(testing::same_bits(part(Pass(), x).value(),
                             linear(hidden, value("output.weight"), value("output.bias")).value()));
  }
}

TEST_CASE("a gated feed-forward part is output(SiLU(gate(x)) * input(x)), with a gate of its own") {
  Parameters parameters;
  const FeedForward part(Scope(parameters), {.width = 4, .hidden = 9, .activation = Activation::swiglu});
  CHECK(testing::listing_of(parameters) ==
        "gate.weight (9, 4) 36\n"
        "gate.bias (9) 9\n"
        "input.weight (9, 4) 36\n"
        "input.bias (9) 9\n"
        "output.weight (4, 9) 36\n"
        "output.bias (4) 4\n");
  parameters.initialise(1);
  testing::shake(parameters);
  const auto value = [&](const char* name) { return constant(parameters.find(name)); };
  const Variable x(testing::random_tensor({2, 3, 4}, 1));
  const Variable hidden = swiglu(linear(x, value("gate.weight"), value("gate.bias")),
                                 linear(x, value("input.weight"), value("input.bias")));
  CHECK(testing::same_bits(part(Pass(), x).value(),
                           linear(hidden, value("output.weight"), value("output.bias")).value()));
}

DOUBLE_TEST_CASE("a gated feed-forward part passes the gradient check") {
  Parameters parameters;
  const FeedForward part(Scope(parameters), {.width = 4, .hidden = 9, .activation = Activation::swiglu});
  parameters.initialise(1);
  testing::shake(parameters);
  CHECK(testing::module_error(
            parameters, [&](Pass& pass, const Variable& x) { return part(pass, x); },
            testing::random_tensor({2, 3, 4}, 1)) < 1e-6);
}

DOUBLE_TEST_CASE("a feed-forward part passes the gradient check") {
  for (const GeluForm form : {GeluForm::tanh, GeluForm::erf})
    for (const bool bias : {true, false}) {
      Parameters parameters;
      const FeedForward part(Scope(parameters), {.width = 4, .hidden = 9, .gelu = form, .bias = bias});
      parameters.initialise(1);
      testing::shake(parameters);
      CHECK(testing::module_error(
                parameters, [&](Pass& pass, const Variable& x) { return part(pass, x); },
                testing::random_tensor({2, 3, 4}, 1)) < 1e-6);
    }
}

}  // namespace tapehead
