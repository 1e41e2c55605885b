#include "tapehead/tensor/tokens.h"

#include <utility>
#include <vector>

#include "support/testing.h"

namespace tapehead {

TEST_CASE("a table holds one row a sequence") {
  const Tokens tokens(2, 3, std::vector<std::int32_t>{0, 1, 2, 10, 11, 12});
  CHECK(tokens.batch() == 2);
  CHECK(tokens.length() == 3);
  CHECK(tokens.count() == 6);
  CHECK(tokens(1, 0) == 10);
  CHECK(tokens.data()[5] == 12);
  CHECK_FALSE(tokens.empty());
  CHECK(Tokens().empty());
  CHECK(Tokens(0, 5).empty());
}

TEST_CASE("a table is filled with one value, 0 unless said") {
  const Mask open(2, 2, 1);
  CHECK(std::vector<std::uint8_t>(open.values().begin(), open.values().end()) ==
        std::vector<std::uint8_t>(4, 1));
  CHECK(Mask(2, 2)(1, 1) == 0);
}

TEST_CASE("an entry outside the table is refused, for reading and writing") {
  Tokens tokens(2, 3);
  tokens(1, 2) = 4;
  CHECK(tokens(1, 2) == 4);
  CHECK_THROWS_WITH_AS(tokens(1, 3), "[tokens] no entry (1, 3) in (2, 3)", Error);
  CHECK_THROWS_AS(tokens(2, 0), Error);
  CHECK_THROWS_AS(tokens(-1, 0), Error);
  CHECK_THROWS_AS(std::as_const(tokens)(0, -1), Error);
}

TEST_CASE("sizes that are negative, uncountable or unlike the values are refused") {
  CHECK_THROWS_WITH_AS(Tokens(-1, 3), "[tokens] expected sizes of at least 0, got (-1, 3)", Error);
  CHECK_THROWS_AS(Tokens(3, -1), Error);
  CHECK_THROWS_AS(Tokens(Index{1} << 40, Index{1} << 40), Error);
  CHECK_THROWS_WITH_AS(Tokens(2, 2, std::vector<std::int32_t>{1, 2, 3}),
                       "[tokens] expected 4 values for (2, 2), got 3", Error);
}

TEST_CASE("rows are cut out as a table of their own") {
  const Tokens tokens(3, 2, std::vector<std::int32_t>{0, 1, 10, 11, 20, 21});
  CHECK(tokens.rows(1, 2) == Tokens(2, 2, std::vector<std::int32_t>{10, 11, 20, 21}));
  CHECK(tokens.rows(0, 3) == tokens);
  CHECK(tokens.rows(3, 0) == Tokens(0, 2));
  CHECK_THROWS_WITH_AS(tokens.rows(2, 2), "[tokens] no 2 rows from row 2 in a batch of 3", Error);
  CHECK_THROWS_AS(tokens.rows(-1, 1), Error);
  CHECK_THROWS_AS(tokens.rows(0, -1), Error);
}

TEST_CASE("tables are equal only with the same sizes and entries") {
  CHECK(Tokens(2, 3) == Tokens(2, 3));
  CHECK(Tokens(2, 3) != Tokens(3, 2));
  CHECK(Tokens(1, 1, 4) != Tokens(1, 1, 5));
}

}  // namespace tapehead
