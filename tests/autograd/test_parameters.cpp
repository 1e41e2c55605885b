#include "tapehead/autograd/parameters.h"

#include <cmath>
#include <vector>

#include "support/testing.h"
#include "tapehead/base/require.h"

namespace tapehead {

namespace {

using testing::check_close;

std::vector<Real> values_of(const Parameters& parameters) {
  return {parameters.values().begin(), parameters.values().end()};
}

void add_layer(Parameters& parameters) {
  parameters.add("weight", {3, 2}, Start::normal(0.5));
  parameters.add("bias", {3}, Start::constant(0));
  parameters.add("norm.gain", {3}, Start::constant(1));
}

}  // namespace

TEST_CASE("parameters lie in one buffer, one after the other") {
  Parameters parameters;
  add_layer(parameters);
  parameters.initialise(1);
  CHECK(parameters.count() == 12);
  CHECK(parameters.values().size() == 12);
  std::vector<std::string> names;
  std::vector<Index> offsets;
  for (const Parameters::Entry& entry : parameters.entries()) {
    names.push_back(entry.name);
    offsets.push_back(entry.offset);
  }
  CHECK(names == std::vector<std::string>{"weight", "bias", "norm.gain"});
  CHECK(offsets == std::vector<Index>{0, 6, 9});
  CHECK(parameters.find("bias").data() == parameters.data() + 6);
  CHECK(parameters.find("norm.gain").shape == Shape{3});
}

TEST_CASE("constants start exactly where they should, and normals with their deviation") {
  Parameters parameters;
  parameters.add("wide", {200, 100}, Start::normal(0.02));
  const Parameter gain = parameters.add("gain", {100}, Start::constant(1));
  parameters.add("shifted", {100, 100}, {3, 0.5});
  parameters.initialise(7);
  for (Index i = 0; i < 100; ++i) CHECK(gain.data()[i] == 1);
  const auto check_normal = [&](const char* name, double mean, double deviation) {
    const Parameter parameter = parameters.find(name);
    const Index count = parameter.shape.count();
    double sum = 0, squares = 0;
    for (Index i = 0; i < count; ++i) {
      const double distance = static_cast<double>(parameter.data()[i]) - mean;
      sum += distance;
      squares += distance * distance;
    }
    const double root = std::sqrt(static_cast<double>(count));
    CHECK(std::abs(sum / static_cast<double>(count)) < 4 * deviation / root);
    CHECK(std::sqrt(squares / static_cast<double>(count)) == doctest::Approx(deviation).epsilon(3 / root));
  };
  check_normal("wide", 0, 0.02);
  check_normal("shifted", 3, 0.5);
}

TEST_CASE("the same seed gives the same values, and another seed others") {
  Parameters a, b, c;
  for (Parameters* parameters : {&a, &b, &c}) add_layer(*parameters);
  a.initialise(1);
  b.initialise(1);
  c.initialise(2);
  CHECK(values_of(a) == values_of(b));
  CHECK(values_of(a) != values_of(c));
  a.initialise(2);
  CHECK(values_of(a) == values_of(c));
}

TEST_CASE("every parameter draws from its own stream, whatever the sizes of the others") {
  Parameters a, b;
  a.add("first", {2, 2}, Start::normal(1));
  b.add("first", {5, 7}, Start::normal(1));
  const Parameter in_a = a.add("second", {2, 3}, Start::normal(1));
  const Parameter in_b = b.add("second", {2, 3}, Start::normal(1));
  a.initialise(1);
  b.initialise(1);
  for (Index i = 0; i < 6; ++i) CHECK(in_a.data()[i] == in_b.data()[i]);
  CHECK(a.data()[0] != in_a.data()[0]);
}

TEST_CASE("a window onto some rows starts where they start") {
  Parameters parameters;
  parameters.add("before", {5}, Start::constant(0));
  const Parameter weight = parameters.add("weight", {4, 3}, Start::normal(1));
  parameters.initialise(1);
  const Parameter rows = weight.rows(1, 2);
  CHECK(rows.data() == parameters.data() + 5 + 3);
  CHECK(rows.shape == Shape{2, 3});
  CHECK(weight.rows(4, 0).shape == Shape{0, 3});
  CHECK_THROWS_WITH_AS(weight.rows(3, 2), "[parameter] no rows 3 to 5 in (4, 3)", Error);
  CHECK_THROWS_AS(weight.rows(-1, 2), Error);
  CHECK_THROWS_AS(weight.rows(0, -1), Error);
}

TEST_CASE("weight decay is for matrices and embeddings, never for biases and gains") {
  Parameters parameters;
  add_layer(parameters);
  CHECK(parameters.entries()[0].decays());
  CHECK(!parameters.entries()[1].decays());
  CHECK(!parameters.entries()[2].decays());
}

TEST_CASE("every change gives a new version") {
  Parameters parameters;
  add_layer(parameters);
  const std::uint64_t before = parameters.version();
  parameters.initialise(1);
  const std::uint64_t initialised = parameters.version();
  CHECK(initialised > before);
  CHECK(parameters.values().size() == 12);
  CHECK(parameters.version() == initialised);
  parameters.change()[0] = 3;
  CHECK(parameters.version() > initialised);
  CHECK(parameters.values()[0] == 3);
}

TEST_CASE("a name is taken once, and none after the parameters have values") {
  Parameters parameters;
  add_layer(parameters);
  CHECK_THROWS_WITH_AS(parameters.add("bias", {3}, Start::constant(0)),
                       "[parameters] the name bias is already taken", Error);
  CHECK(parameters.count() == 12);
  parameters.initialise(1);
  CHECK_THROWS_WITH_AS(parameters.add("late", {3}, Start::constant(0)),
                       "[parameters] late comes too late: the parameters are already initialised", Error);
}

TEST_CASE("an unknown name gets the nearest one for an answer") {
  Parameters parameters;
  add_layer(parameters);
  CHECK_THROWS_WITH_AS(parameters.find("wieght"), "[parameters] no parameter wieght; the nearest is weight",
                       Error);
}

TEST_CASE("parameters without values cannot be read") {
  Parameters parameters;
  const Parameter weight = parameters.add("weight", {2}, Start::constant(0));
  CHECK_THROWS_WITH_AS(weight.data(), "[parameter] the parameters have no values yet: call initialise first",
                       Error);
}

}  // namespace tapehead
