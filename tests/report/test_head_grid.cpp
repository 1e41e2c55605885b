#include "tapehead/report/head_grid.h"

#include "support/testing.h"

using namespace tapehead;

namespace {

constexpr HeadGridSpacing kSpacing{
    .left = 40, .gap = 10, .above = 30, .below = 20, .least = 90, .largest = 300};

ModelConfig model_of(Index layers, Index heads) {
  ModelConfig model;
  model.layers = layers;
  model.heads = heads;
  return model;
}

}  // namespace

TEST_CASE("a layer's heads stand side by side, as large as there is room for") {
  const HeadGrid grid(model_of(2, 4), 880, kSpacing);
  CHECK(grid.rows_a_layer() == 1);
  CHECK(grid.side() == (880 - 40 - kEdge + 10) / 4 - 10);
  CHECK(grid.panel(0, 3).right <= 880 - kEdge);
  CHECK(grid.panel(0, 1).left - grid.panel(0, 0).right == 10);
  CHECK(grid.panel(1, 0).top - grid.panel(0, 0).bottom == 50);
  CHECK(HeadGrid(model_of(2, 1), 880, kSpacing).side() == 300);
}

TEST_CASE("heads for which a row is too narrow stand in several, none much shorter than the others") {
  const HeadGrid grid(model_of(2, 9), 440, kSpacing);  // room for four of at least 90
  CHECK(grid.rows_a_layer() == 3);
  CHECK(grid.is_first_in_row(3));
  CHECK_FALSE(grid.is_first_in_row(4));
  CHECK(grid.panel(0, 3).left == 40);
  CHECK(grid.panel(0, 3).top > grid.panel(0, 2).bottom);
  CHECK(grid.panel(1, 0).top > grid.panel(0, 8).bottom);
  CHECK(grid.is_last_row(1, 6));
  CHECK_FALSE(grid.is_last_row(1, 5));
  CHECK(grid.heights(7).plots == 6 * grid.side());
  CHECK(grid.heights(7).around == 7 + 6 * 50);
  CHECK(grid.heights(7).least == 6 * 90);
}

TEST_CASE("squares shrink to the height of the sheet, and begin at its top") {
  HeadGrid grid(model_of(2, 2), 880, kSpacing);
  Sheet sheet;
  sheet.top = 100;
  sheet.plots = 240;
  grid.fit(sheet);
  CHECK(grid.side() == 120);
  CHECK(grid.panel(0, 0).top == 130);
  CHECK(grid.bottom() == 100 + 2 * (30 + 120 + 20));
}
