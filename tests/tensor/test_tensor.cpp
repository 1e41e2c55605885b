#include "tapehead/tensor/tensor.h"

#include <cstdint>
#include <type_traits>
#include <utility>
#include <vector>

#include "support/testing.h"
#include "tapehead/base/require.h"

namespace tapehead {

TEST_CASE("a tensor without values is empty, and one with only a shape is zeros") {
  CHECK(Tensor().shape() == Shape{0});
  CHECK(Tensor().values().empty());
  // The block is one that was used before, so the zeros must be written.
  { Tensor(Shape{2, 3}).fill(7); }
  testing::check_close(Tensor(Shape{2, 3}), {2, 3}, {0, 0, 0, 0, 0, 0}, 0);
  CHECK(Tensor(Shape{}).count() == 1);
  CHECK(Tensor(Shape{})() == 0);
}

TEST_CASE("values lie row by row, at one index per axis") {
  const Tensor tensor({2, 3}, {0, 1, 2, 10, 11, 12});
  CHECK(tensor(0, 2) == 2);
  CHECK(tensor(1, 0) == 10);
  CHECK(tensor.data()[5] == 12);
  Tensor deep({2, 3, 4, 5});
  deep(1, 2, 3, 4) = 9;
  deep(0, 1, 0, 0) = 8;
  CHECK(deep.data()[119] == 9);
  CHECK(deep.data()[20] == 8);
}

TEST_CASE("a wrong number of values or indices, and an index outside, are refused") {
  CHECK_THROWS_WITH_AS(Tensor({2, 2}, {1, 2, 3}), "[tensor] expected 4 values for shape (2, 2), got 3",
                       Error);
  Tensor tensor({2, 3});
  CHECK_THROWS_WITH_AS(tensor(1), "[tensor] expected 2 indices into (2, 3), got 1", Error);
  CHECK_THROWS_AS(tensor(1, 1, 1), Error);
  CHECK_THROWS_WITH_AS(tensor(0, 3), "[tensor] index 3 is outside axis 1 of (2, 3)", Error);
  CHECK_THROWS_WITH_AS(tensor(-1, 0), "[tensor] index -1 is outside axis 0 of (2, 3)", Error);
  CHECK_THROWS_AS(std::as_const(tensor)(2, 0), Error);
}

TEST_CASE("a copy is a copy") {
  Tensor original({2}, {1, 2});
  Tensor copy = original;
  copy(0) = 5;
  CHECK(original(0) == 1);
  Tensor assigned({3});
  assigned = original;
  original(1) = 7;
  testing::check_close(assigned, {2}, {1, 2}, 0);
  const Tensor& itself = assigned;
  assigned = itself;
  testing::check_close(assigned, {2}, {1, 2}, 0);
  const Tensor none = Tensor();
  CHECK(Tensor(none).count() == 0);
}

TEST_CASE("a move takes the block along and leaves an empty tensor") {
  Tensor original({2}, {1, 2});
  const Real* block = original.data();
  Tensor moved = std::move(original);
  CHECK(moved.data() == block);
  CHECK(original.count() == 0);  // NOLINT(bugprone-use-after-move)
  Tensor assigned;
  assigned = std::move(moved);
  CHECK(assigned.data() == block);
  testing::check_close(assigned, {2}, {1, 2}, 0);
  CHECK(std::is_nothrow_move_constructible_v<Tensor>);
  CHECK(std::is_nothrow_move_assignable_v<Tensor>);
}

TEST_CASE("reshaping keeps the elements, and the block where the tensor is given away") {
  Tensor tensor({2, 3}, {1, 2, 3, 4, 5, 6});
  testing::check_close(tensor.reshaped({3, 2}), {3, 2}, {1, 2, 3, 4, 5, 6}, 0);
  CHECK(tensor.shape() == Shape{2, 3});
  const Real* block = tensor.data();
  const Tensor flat = std::move(tensor).reshaped({6});
  CHECK(flat.data() == block);
  CHECK(flat.shape() == Shape{6});
  CHECK_THROWS_WITH_AS(flat.reshaped({4}), "[reshape] (6) has 6 elements, (4) has 4", Error);
}

TEST_CASE("a tensor with a size of 0 has no elements and can be copied, filled and reshaped") {
  Tensor tensor(Shape{3, 0});
  tensor.fill(1);
  CHECK(tensor.values().empty());
  const Tensor copy = tensor;
  CHECK(copy.shape() == Shape{3, 0});
  CHECK(copy.reshaped({0, 7}).count() == 0);
  CHECK(Tensor({0}, std::initializer_list<Real>{}).count() == 0);
}

TEST_CASE("the first element is aligned for vector code") {
  for (const Index count : {1, 3, 17, 1000}) {
    const Tensor tensor(Shape{count});
    CHECK(reinterpret_cast<std::uintptr_t>(tensor.data()) % 64 == 0);
  }
}

}  // namespace tapehead
