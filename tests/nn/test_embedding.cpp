#include "tapehead/nn/embedding.h"

#include "support/modules.h"
#include "tapehead/autograd/elementary.h"
#include "tapehead/autograd/gradient_check.h"
#include "tapehead/autograd/matmul.h"
#include "tapehead/base/require.h"

namespace tapehead {

namespace {

using testing::check_close;
using testing::random_tensor;

/// Four rows of three numbers.
struct Lookup {
  Parameters parameters;
  Embedding embedding{Scope(parameters, "table"), 4, 3, 0.5};
  Parameter weight = parameters.find("table.weight");

  Lookup() { parameters.initialise(1); }
};

}  // namespace

TEST_CASE("an embedding registers one table, count by width") {
  const Lookup table;
  CHECK(testing::listing_of(table.parameters) == "table.weight (4, 3) 12\n");
  CHECK(table.parameters.entries()[0].start.deviation == 0.5);
}

TEST_CASE("an embedding gives the rows of its ids, and the first rows in order") {
  const Lookup table;
  const Variable rows = constant(table.weight);
  const Variable looked_up = table.embedding(Pass(), Tokens(1, 2, {3, 1}));
  CHECK(looked_up.shape() == Shape{1, 2, 3});
  CHECK(testing::same_bits(slice(looked_up, 1, 0, 1).value().reshaped({1, 3}), slice(rows, 0, 3, 4).value()));
  CHECK(testing::same_bits(slice(looked_up, 1, 1, 2).value().reshaped({1, 3}), slice(rows, 0, 1, 2).value()));
  CHECK(testing::same_bits(table.embedding.rows(Pass(), 0, 2).value(), slice(rows, 0, 0, 2).value()));
}

TEST_CASE("a tied read-out is the inner product with every row") {
  const Lookup table;
  const Variable x(random_tensor({2, 5, 3}, 1));
  check_close(table.embedding.read_out(Pass(), x).value(),
              matmul(x, transpose(constant(table.weight), 0, 1)).value());
}

TEST_CASE("an embedding refuses ids and rows that it does not have") {
  const Lookup table;
  CHECK_THROWS_AS(table.embedding(Pass(), Tokens(1, 1, 4)), Error);
  CHECK_THROWS_AS(table.embedding(Pass(), Tokens(1, 1, -1)), Error);
  CHECK_THROWS_AS(table.embedding.rows(Pass(), 0, 5), Error);
}

DOUBLE_TEST_CASE("a table that is looked up, read out and used for positions passes the gradient check") {
  Lookup table;
  const Tokens ids(2, 3, {1, 1, 0, 3, 1, 3});
  CHECK(gradient_check(table.parameters, [&](Tape& tape) {
          const Pass pass(tape);
          const Variable x = table.embedding(pass, ids) + table.embedding.rows(pass, 0, 3);
          return testing::weighed(table.embedding.read_out(pass, tanh(x)));
        }) < 1e-6);
}

}  // namespace tapehead
