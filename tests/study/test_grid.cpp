#include "tapehead/study/grid.h"

#include "support/testing.h"
#include "tapehead/base/require.h"

using namespace tapehead;
using namespace tapehead::testing;

TEST_CASE("an axis is a field and its values, with commas in brackets and quotes left alone") {
  const GridAxis heads = read_axis("model.heads=1, 2,4");
  CHECK(heads.field == "model.heads");
  CHECK(heads.values == std::vector<std::string>{"1", "2", "4"});
  CHECK(read_axis(" train.betas = [0.9, 0.98],[0.8,0.9]").values ==
        std::vector<std::string>{"[0.9, 0.98]", "[0.8,0.9]"});
  CHECK(read_axis("task.file=\"a,b\",c").values == std::vector<std::string>{"\"a,b\"", "c"});
}

TEST_CASE("what is no axis is refused, with the nearest field where there is none of that name") {
  CHECK(complaint_of([] { read_axis("model.heads"); }) ==
        "--grid model.heads: expected table.key=value,value,...");
  CHECK(complaint_of([] { read_axis("model.head=1,2"); }) ==
        "--grid model.head=1,2: no field model.head; the nearest is model.heads");
  CHECK(complaint_of([] { read_axis("model.heads=1,,2"); }) == "--grid model.heads=1,,2: a value is missing");
  CHECK(complaint_of([] { read_axis("model.heads="); }) == "--grid model.heads=: a value is missing");
  for (const char* text : {"model.heads=1\n,2", "model.heads=1 # one,2", "model.heads=\t1\t2"})
    CHECK(complaint_of([&] { read_axis(text); }) ==
          "--grid model.heads: a value holds a line break, a tab or a comment");
  CHECK(complaint_of([] { read_axis("model.heads=1,2,1"); }) ==
        "--grid model.heads=1,2,1: the value 1 comes twice");
}

TEST_CASE("the points of a grid are all combinations, the last axis going round fastest") {
  const std::vector<GridAxis> axes{read_axis("model.heads=1,2"), read_axis("model.width=8,16,32")};
  const std::vector<GridPoint> points = grid_points(axes, 6);
  REQUIRE(points.size() == 6);
  CHECK(points[1] == GridPoint{{"model.heads", "1"}, {"model.width", "16"}});
  CHECK(points[5] == GridPoint{{"model.heads", "2"}, {"model.width", "32"}});
  CHECK(grid_points({}, 1) == std::vector<GridPoint>{{}});
  CHECK(complaint_of([&] { grid_points(axes, 5); }) == "--grid: expected at most 5 settings, got more");
  const std::vector<GridAxis> twice{axes[0], axes[0]};
  CHECK(complaint_of([&] { grid_points(twice, 100); }) == "--grid: model.heads is swept twice");
}

TEST_CASE("a point is named for folders, for people and for tables") {
  const GridPoint point{{"model.heads", "2"}, {"task.file", "\"a/b c,d\""}};
  CHECK(folder_name(point) == "heads=2_file=a-b-c-d");
  CHECK(in_words(point) == "heads 2, file \"a/b c,d\"");
  CHECK(table_cell(point) == "model.heads=2 task.file=a/b c d");
  CHECK(folder_name({}).empty());
  // Two tables have a key of this name.
  CHECK(folder_name({{"model.x", "1"}, {"task.x", "2"}}) == "model.x=1_task.x=2");
}
