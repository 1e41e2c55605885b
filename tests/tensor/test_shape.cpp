#include "tapehead/tensor/shape.h"

#include <limits>
#include <vector>

#include "support/testing.h"
#include "tapehead/base/require.h"

namespace tapehead {

TEST_CASE("a shape knows its rank, its sizes and their product") {
  const Shape shape{8, 32, 192};
  CHECK(shape.rank() == 3);
  CHECK(shape.count() == 8 * 32 * 192);
  CHECK(shape[0] == 8);
  CHECK(shape[2] == 192);
  CHECK(shape[-1] == 192);
  CHECK(shape[-3] == 8);
  CHECK(shape.checked_axis(-1) == 2);
  CHECK(to_string(shape) == "(8, 32, 192)");
}

TEST_CASE("rank 0 is one number") {
  const Shape shape;
  CHECK(shape.rank() == 0);
  CHECK(shape.count() == 1);
  CHECK(shape.rows() == 1);
  CHECK(to_string(shape) == "()");
  CHECK(shape == Shape(std::vector<Index>{}));
}

TEST_CASE("an axis that is not there is refused by name") {
  const Shape shape{2, 3};
  CHECK_THROWS_WITH_AS(shape[2], "[shape] no axis 2 in (2, 3)", Error);
  CHECK_THROWS_WITH_AS(shape[-3], "[shape] no axis -3 in (2, 3)", Error);
  CHECK_THROWS_WITH_AS(Shape{}[0], "[shape] no axis 0 in ()", Error);
  CHECK_THROWS_AS(shape.with(2, 5), Error);
  CHECK_THROWS_AS(shape.without(-3), Error);
}

TEST_CASE("more than six axes, a negative size and an uncountable product are refused") {
  CHECK(Shape{1, 2, 3, 4, 5, 6}.count() == 720);
  CHECK_THROWS_WITH_AS((Shape{1, 1, 1, 1, 1, 1, 1}), "[shape] expected at most 6 axes, got 7", Error);
  CHECK_THROWS_WITH_AS((Shape{2, -1}), "[shape] expected sizes of at least 0, got -1 for axis 1", Error);
  const Index large = Index{1} << 32;
  CHECK_THROWS_WITH_AS((Shape{large, large}), "[shape] more elements than memory can address", Error);
  CHECK_THROWS_AS((Shape{std::numeric_limits<Index>::max()}), Error);
}

TEST_CASE("one axis is replaced or removed, counted from either end") {
  const Shape shape{2, 3, 4};
  CHECK(shape.with(1, 7) == Shape{2, 7, 4});
  CHECK(shape.with(-1, 1) == Shape{2, 3, 1});
  CHECK(shape.without(0) == Shape{3, 4});
  CHECK(shape.without(-1) == Shape{2, 3});
  CHECK(Shape{5}.without(0) == Shape{});
  CHECK_THROWS_AS(shape.with(0, -1), Error);
}

TEST_CASE("rows are the product of all sizes but the last, also when the last is 0") {
  CHECK(Shape{2, 3, 4}.rows() == 6);
  CHECK(Shape{4}.rows() == 1);
  CHECK(Shape{5, 0}.rows() == 5);
  CHECK(Shape{0, 5}.rows() == 0);
}

TEST_CASE("shapes are equal only with the same rank and sizes") {
  CHECK(Shape{2, 3} == Shape{2, 3});
  CHECK(Shape{2, 3} != Shape{3, 2});
  CHECK(Shape{2} != Shape{2, 1});
  CHECK(Shape{2} != Shape{2, 0});
  CHECK(Shape{} != Shape{1});
}

TEST_CASE("broadcasting matches axes from the last and stretches those of size 1") {
  CHECK(broadcast({4, 3}, {3}) == Shape{4, 3});
  CHECK(broadcast({3}, {4, 3}) == Shape{4, 3});
  CHECK(broadcast({2, 1, 5}, {3, 1}) == Shape{2, 3, 5});
  CHECK(broadcast({}, {2, 3}) == Shape{2, 3});
  CHECK(broadcast({}, {}) == Shape{});
  CHECK(broadcast({1}, {0}) == Shape{0});
  CHECK(broadcast({0, 3}, {1, 3}) == Shape{0, 3});
}

TEST_CASE("shapes that do not broadcast are both named") {
  CHECK_THROWS_WITH_AS(
      broadcast({2, 3}, {2, 4}),
      "[broadcast] (2, 3) and (2, 4) do not fit: sizes 3 and 4 at axis 1 from the end, and neither "
      "is 1",
      Error);
  CHECK_THROWS_AS(broadcast({0}, {2}), Error);
}

}  // namespace tapehead
