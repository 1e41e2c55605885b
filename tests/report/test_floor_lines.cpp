#include "tapehead/report/floor_lines.h"

#include "support/testing.h"

using namespace tapehead;

TEST_CASE("every predictor is a floor on induction positions, and on others the one that sees everything") {
  CsvTable floors({"predictor", "loss", "loss_induction", "loss_noise"});
  floors.add({"chance", "4.2", "4.2", "4.2"});
  floors.add({"current token", "1.4", "0.02", "4.25"});
  floors.add({"Bayes", "1.3", "0.01", ""});
  std::vector<EndLabel> labels;
  CHECK(
      floor_lines(floors, "loss_induction", "blue", "pale", labels, false) ==
      "0.02 with lines linewidth 1 linecolor rgb 'pale', 0.01 with lines linewidth 1 linecolor rgb 'pale', ");
  CHECK(floor_lines(floors, "loss", "black", "grey", labels, false) ==
        "1.3 with lines linewidth 1 linecolor rgb 'grey', ");
  CHECK(floor_lines(floors, "loss_noise", "red", "pink", labels, false).empty());
  REQUIRE(labels.size() == 3);
  CHECK(labels[0].text == "floor: current token 0.02");
  CHECK(labels[1].y == 0.01);
  CHECK(labels[2].colour == "black");
  CHECK(floor_lines(CsvTable({}), "loss", "black", "grey", labels, false).empty());
}

TEST_CASE("in a narrow figure floors and guessing have shorter labels") {
  CsvTable floors({"predictor", "loss"});
  floors.add({"Bayes", "1.3"});
  std::vector<EndLabel> labels;
  floor_lines(floors, "loss", "black", "grey", labels, true);
  CHECK(labels.front().text == "Bayes 1.30");
  CHECK(chance_label(64, false).text == "guessing: ln 64 = 4.16");
  CHECK(chance_label(64, true).text == "ln 64 = 4.16");
  CHECK(chance_label(64, true).y == doctest::Approx(4.1589));
}
