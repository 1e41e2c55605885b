#include "tapehead/study/evidence.h"

#include <algorithm>

#include "support/testing.h"

#include "tapehead/base/require.h"

using namespace tapehead;

namespace {

Verdict some_verdict() {
  return {Mechanism::induction,
          {{.name = "learnt", .value = 2.5, .threshold = 0.05},
           {.name = "accuracy_trained", .value = 0.99, .threshold = 0.5, .periods = {6, 15, 24}},
           {.name = "accuracy_untrained", .value = 0.9375, .threshold = 0.5, .periods = {25}},
           {.name = "induction_score", .value = 0.8, .threshold = 0.2, .heads = {"1.0"}},
           {.name = "copying", .value = 1, .threshold = 0.5, .heads = {"1.0"}},
           {.name = "previous_token_score", .value = 0.9, .threshold = 0.2, .heads = {"0.3"}},
           {.name = "accuracy_without",
            .value = 0.04,
            .above = false,
            .threshold = 0.5,
            .heads = {"0.0", "0.1", "0.3"}},
           {.name = "accuracy_of_twin", .value = 0.02, .above = false, .threshold = 0.5, .periods = {25}}}};
}

const Evidence& find(const Verdict& verdict, const std::string& name) {
  return *std::ranges::find(verdict.evidence, name, &Evidence::name);
}

}  // namespace

TEST_CASE("evidence says in words what was measured, of which heads and at which periods") {
  const Verdict verdict = some_verdict();
  CHECK(finding(find(verdict, "accuracy_trained")) ==
        "accuracy on induction positions at periods 6, 15 and 24, which it was trained on");
  CHECK(finding(find(verdict, "accuracy_untrained")) ==
        "accuracy on induction positions at period 25, which it never saw");
  CHECK(finding(find(verdict, "accuracy_without")) ==
        "share of that accuracy left with head 0.0, head 0.1 and head 0.3 zeroed and later values held");
  CHECK(finding({.name = "accuracy_without"}) == "no previous-token head to take out");
  CHECK(finding({.name = "accuracy_of_twin"}) == "no one-layer twin to compare with");
  CHECK_THROWS_WITH_AS(finding({.name = "taste"}), doctest::Contains("no evidence of the name 'taste'"),
                       Error);
}

TEST_CASE("a verdict's sentence names what decides it") {
  Verdict verdict = some_verdict();
  CHECK(
      sentence(verdict) ==
      "It copies at periods it never saw (accuracy 0.938): head 1.0 looks at what followed the earlier copy, "
      "and rests on previous-token heads, without which 4 % of that is left; one layer, trained on the same "
      "data, cannot do this.");
  verdict.mechanism = Mechanism::other;
  CHECK(sentence(verdict).find("not all that makes induction heads") != std::string::npos);
  verdict.evidence[2].value = 0.1;
  CHECK(sentence(verdict) == "It has learnt something (2.50 nats below chance), but not to copy.");
  verdict.mechanism = Mechanism::positional;
  CHECK(sentence(verdict).find("(accuracy 0.990) and not at others (0.100)") != std::string::npos);
  CHECK(sentence(verdict).find("as one layer can") == std::string::npos);
  verdict.evidence.push_back(
      {.name = "accuracy_of_twin_trained", .value = 0.9, .above = false, .threshold = 0.5, .periods = {6}});
  CHECK(sentence(verdict).find("as one layer can") != std::string::npos);
}

TEST_CASE("a verdict comes back from its table with every word and number") {
  Verdict verdict = some_verdict();
  verdict.evidence.back().value = std::numeric_limits<double>::quiet_NaN();
  const CsvTable table = verdict_table(verdict, 7, 64);
  const Verdict read = verdict_in(table);
  CHECK(read.mechanism == verdict.mechanism);
  CHECK(sentence(read) == sentence(verdict));
  CHECK(verdict_table(read, 7, 64) == table);
  CHECK(table.cell(table.rows() - 1, "holds").empty());
  for (std::size_t i = 0; i < verdict.evidence.size(); ++i)
    CHECK(finding(read.evidence[i]) == finding(verdict.evidence[i]));
}

TEST_CASE("a verdict's table that tells of something else is refused") {
  const auto table_with = [](const char* verdict, const char* periods) {
    CsvTable table({"evidence", "value", "must_be", "threshold", "holds", "periods", "heads", "verdict"});
    table.add({"learnt", "1", "above", "0", "yes", periods, "", verdict});
    return table;
  };
  CHECK_NOTHROW(verdict_in(table_with("none", "6 7")));
  CHECK_THROWS_WITH_AS(verdict_in(table_with("magic", "")), doctest::Contains("got 'magic'"), Error);
  CHECK_THROWS_WITH_AS(verdict_in(table_with("none", "6 x")), doctest::Contains("got 'x'"), Error);
}
