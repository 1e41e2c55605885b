#include "tapehead/report/ablation_marks.h"

#include "support/testing.h"

using namespace tapehead;

namespace {

CsvTable table_of(const std::vector<std::vector<std::string>>& rows) {
  CsvTable table({"kind", "layer", "head", "change_induction", "low", "high"});
  for (const auto& row : rows) table.add(row);
  return table;
}

using Marks = std::vector<Disagreement>;
constexpr Disagreement kNone = Disagreement::none;

}  // namespace

TEST_CASE("a kind is marked where its interval meets not that of one above, or its sign is another") {
  CHECK(disagreements(table_of({{"zero", "0", "1", "1", "0.9", "1.1"},
                                {"mean", "0", "1", "1.05", "1", "1.2"},
                                {"resample", "0", "1", "2", "1.9", "2.1"}}),
                      kOnInduction) == Marks{kNone, kNone, Disagreement::size});
  CHECK(disagreements(
            table_of({{"zero", "0", "1", "1", "0.9", "1.1"}, {"mean", "0", "1", "-1", "-1.1", "-0.9"}}),
            kOnInduction) == Marks{kNone, Disagreement::sign});
}

TEST_CASE("only the same component is compared, and only kinds that answer one question") {
  CHECK(disagreements(table_of({{"zero", "0", "1", "1", "0.9", "1.1"},
                                {"mean", "0", "0", "5", "4.9", "5.1"},
                                {"pattern-preserving", "0", "1", "0", "-0.1", "0.1"},
                                {"value-preserving", "0", "1", "-3", "-3.1", "-2.9"}}),
                      kOnInduction) == Marks{kNone, kNone, kNone, kNone});
  CHECK(disagreements(CsvTable({}), kOnInduction).empty());
}
