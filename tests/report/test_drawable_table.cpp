#include "tapehead/report/drawable_table.h"

#include "support/testing.h"
#include "tapehead/base/require.h"

using namespace tapehead;

TEST_CASE("a table is drawable unless it has a number that no axis can hold") {
  const std::string header = "step,name,loss\n";
  for (const char* row : {"0,a,3e38\n", "0,1e,\n", "0,word,\n", "0,b,-1e300\n"}) {
    CAPTURE(row);
    const CsvTable table = CsvTable::parse(header + row, "x.csv");
    CHECK(drawable(table) == table);
  }
  CHECK_THROWS_WITH_AS(drawable(CsvTable::parse(header + "0,a,1\n1,b,-1e308\n", "x.csv")),
                       "[figures] expected numbers that can be drawn, got -1e308 as loss in row 2 of x.csv",
                       Error);
}
