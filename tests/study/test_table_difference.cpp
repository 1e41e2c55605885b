#include "tapehead/study/table_difference.h"

#include "support/testing.h"

using namespace tapehead;

namespace {

CsvTable table(const std::vector<std::vector<std::string>>& rows,
               const std::vector<std::string>& columns = {"step", "loss"}) {
  CsvTable made(columns);
  for (const std::vector<std::string>& row : rows) made.add(row);
  return made;
}

}  // namespace

TEST_CASE("equal tables have no difference, and every cell of them counts") {
  const Comparison comparison = compare(table({{"0", "4.1"}, {"10", ""}}), table({{"0", "4.1"}, {"10", ""}}));
  CHECK(comparison.cells == 4);
  CHECK(comparison.differences.empty());
}

TEST_CASE("a cell that differs is named by its row and column, with both texts") {
  const Comparison comparison =
      compare(table({{"0", "4.1"}, {"10", "3.5"}}), table({{"0", "4.1"}, {"10", "3.50001"}}));
  REQUIRE(comparison.differences.size() == 1);
  CHECK(comparison.differences[0].place == "row 2 (step 10), loss");
  CHECK(comparison.differences[0].stands == "3.5");
  CHECK(comparison.differences[0].recomputed == "3.50001");
}

TEST_CASE("numbers may differ by a tolerance, and words may not") {
  const CsvTable there = table({{"a", "200"}, {"a", "0.001"}});
  CHECK(compare(there, table({{"a", "201"}, {"a", "0.001"}}), 0.01).differences.empty());
  CHECK(compare(there, table({{"a", "203"}, {"a", "0.001"}}), 0.01).differences.size() == 1);
  CHECK(compare(there, table({{"a", "200"}, {"a", "0.009"}}), 0.01).differences.empty());
  CHECK(compare(there, table({{"b", "200"}, {"a", "0.001"}}), 0.01).differences.size() == 1);
  CHECK(compare(there, table({{"a", "200.0"}, {"a", "0.001"}})).differences.size() == 1);
  CHECK(compare(there, table({{"a", ""}, {"a", "0.001"}}), 0.01).differences.size() == 1);
}

TEST_CASE("rows and columns that only one table has are differences, and ignored columns are none") {
  CHECK(compare(table({{"0", "1"}}), table({{"0", "1"}, {"1", "2"}})).differences[0].place ==
        "number of rows");
  CHECK(compare(table({{"0", "1"}}), table({{"0"}}, {"step"})).differences[0].place == "column loss");
  CHECK(compare(table({{"0"}}, {"step"}), table({{"0", "1"}})).differences[0].place == "column loss");
  CHECK(compare(table({{"0", "1"}}), table({{"0", "2"}}), 0, {"loss"}).differences.empty());
}
