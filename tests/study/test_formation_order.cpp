#include "tapehead/study/formation_order.h"

#include <fmt/format.h>

#include <limits>

#include "support/testing.h"

using namespace tapehead;

namespace {

constexpr double kMissing = std::numeric_limits<double>::quiet_NaN();

/// One head a column: previous_token and induction of heads 0.0, 1.0, ... at steps 0, 10, 20, ...
CsvTable heads_of(const std::vector<std::vector<double>>& previous_token,
                  const std::vector<std::vector<double>>& induction) {
  CsvTable table({"step", "layer", "head", "previous_token", "induction"});
  for (std::size_t i = 0; i < previous_token.front().size(); ++i)
    for (std::size_t head = 0; head < previous_token.size(); ++head)
      table.add({std::to_string(10 * i), std::to_string(head), "0", csv_cell(previous_token[head][i]),
                 csv_cell(induction[head][i])});
  return table;
}

CsvTable metrics_of(const std::vector<double>& accuracy, const std::vector<double>& loss_induction,
                    const std::vector<double>& loss_noise) {
  CsvTable table({"step", "tokens", "loss", "loss_induction", "loss_noise", "accuracy_induction"});
  for (std::size_t i = 0; i < accuracy.size(); ++i)
    table.add({std::to_string(10 * i), std::to_string(1000 * i), csv_cell(loss_induction[i] + 0.5),
               csv_cell(loss_induction[i]), csv_cell(loss_noise[i]), csv_cell(accuracy[i])});
  return table;
}

const Move& named(const std::vector<Move>& moves, const std::string& name) {
  for (const Move& move : moves)
    if (move.name == name) return move;
  FAIL("no move named " << name);
  return moves.front();
}

}  // namespace

TEST_CASE("a share of the way is covered where it is reached for good, up or down") {
  const std::vector<double> up{0, 0.2, 0.5, 0.4, 0.5, 0.9, 1};
  CHECK(covered_at(up, 0, 1, 0.5, 0.1) == 4);  // it was left once more after the first time
  CHECK(covered_at(up, 0, 1, 0.1, 0.1) == 1);
  CHECK(covered_at(up, 0, 1, 0.9, 0.1) == 5);
  const std::vector<double> down{4, 3.9, 2.1, 1.9, 0};
  CHECK(covered_at(down, 4, 0, 0.5, 0.1) == 3);
  CHECK(covered_at(down, 4, 0, 0.1, 0.1) == 2);
  CHECK(covered_at(std::vector<double>{1, 1}, 0, 1, 0.5, 0.1) == 0);
}

TEST_CASE("a way too short or not covered to the end has no place, and missing values leave nothing") {
  CHECK_FALSE(covered_at(std::vector<double>{0, 0.05, 0.09}, 0, 0.09, 0.5, 0.1));
  CHECK(covered_at(std::vector<double>{0, 0.25, 0.25}, 0, 0.25, 0.5, 0.25) == 1);
  CHECK_FALSE(covered_at(std::vector<double>{0, 1, 0}, 0, 1, 0.5, 0.1));
  CHECK_FALSE(covered_at(std::vector<double>{}, 0, 1, 0.5, 0.1));
  CHECK_FALSE(covered_at(std::vector<double>{0, 1}, kMissing, 1, 0.5, 0.1));
  CHECK(covered_at(std::vector<double>{0, kMissing, 0.6, kMissing, 0.7}, 0, 1, 0.5, 0.1) == 2);
}

TEST_CASE("a score is followed in the head that ends highest, from its first level to its highest") {
  const std::vector<Move> moves = score_moves(
      heads_of({{0.1, 0.9, 0.2, 0.2}, {0.1, 0.2, 0.6, 0.9}}, {{0.1, 0.1, 0.1, 0.1}, {0.1, 0.1, 0.12, 0.14}}));
  REQUIRE(moves.size() == 2);
  const Move& previous = named(moves, "previous_token");
  CHECK(previous.head == "1.0");
  CHECK(previous.from == 0.1);
  CHECK(previous.to == 0.9);
  CHECK(previous.began == 10);
  CHECK(previous.moved == 20);
  const Move& induction = named(moves, "induction");
  CHECK(induction.head == "1.0");
  CHECK(induction.to == 0.14);
  CHECK_FALSE(induction.began);  // 0.04 is too short a way
  CHECK_FALSE(induction.moved);
}

TEST_CASE("a score that falls again after its top is followed up to there") {
  const std::vector<Move> moves =
      score_moves(heads_of({{0.1, 0.2, 0.4, 0.5, 0.3, 0.15}}, {{0.1, 0.1, 0.1, 0.1, 0.1, 0.1}}));
  const Move& previous = named(moves, "previous_token");
  CHECK(previous.to == 0.5);
  CHECK(previous.began == 10);
  CHECK(previous.moved == 20);
}

TEST_CASE("of heads that end alike the first is followed, and columns without values are left out") {
  const std::vector<Move> moves =
      score_moves(heads_of({{0, 0.5}, {0.1, 0.5}}, {{kMissing, kMissing}, {kMissing, kMissing}}));
  REQUIRE(moves.size() == 1);
  CHECK(moves.front().head == "0.0");
}

TEST_CASE("further scores are followed where the table has them") {
  CsvTable table({"step", "layer", "head", "copying", "k_composition"});
  table.add({"0", "0", "0", "-0.5", ""});
  table.add({"0", "1", "3", "0", "0"});
  table.add({"10", "0", "0", "-0.9", ""});
  table.add({"10", "1", "3", "0.8", "2.5"});
  const std::vector<Move> moves = score_moves(table);
  REQUIRE(moves.size() == 2);
  CHECK(named(moves, "copying").head == "1.3");
  CHECK(named(moves, "copying").moved == 10);
  CHECK(named(moves, "k_composition").to == 2.5);
}

TEST_CASE("losses go from the evaluation before the onset to the last, noise from its level to its top") {
  const CsvTable metrics = metrics_of({0.02, 0.05, 0.05, 0.2, 0.6, 0.95, 0.97, 0.98, 0.99},
                                      {4.2, 4.0, 3.9, 3.8, 2.0, 1.0, 0.2, 0.1, 0.1},
                                      {4.0, 4.0, 4.0, 4.0, 4.3, 4.9, 5.0, 5.0, 4.0});
  const Formation formation = formation_of(metrics);
  REQUIRE(formation.hump);
  const std::vector<Move> moves = loss_moves(metrics, formation);
  REQUIRE(moves.size() == 3);
  const Move& induction = named(moves, "loss_induction");
  CHECK(induction.head.empty());
  CHECK(induction.from == 3.9);
  CHECK(induction.to == 0.1);
  CHECK(induction.began == 40);  // 3.52 or less
  CHECK(induction.moved == 40);  // exactly half of the way
  CHECK(named(moves, "loss").from == doctest::Approx(4.4));
  const Move& noise = named(moves, "loss_noise");
  CHECK(noise.from == 4.0);
  CHECK(noise.to == 5.0);
  CHECK(noise.began == 40);
  CHECK(noise.moved == 50);
}

TEST_CASE("without an onset no loss has left its plateau, and without a hump noise has not moved") {
  const CsvTable metrics = metrics_of({0.02, 0.05, 0.06}, {4.2, 3.0, 2.0}, {4.2, 4.2, 4.2});
  for (const Move& move : loss_moves(metrics, formation_of(metrics))) {
    CAPTURE(move.name);
    CHECK(move.from == move.to);
    CHECK_FALSE(move.began);
    CHECK_FALSE(move.moved);
  }
  CHECK(loss_moves(CsvTable({"step", "tokens", "loss"}), Formation{}).empty());
}

TEST_CASE("moves stand in the order of their steps, those of one step as given, those without a step last") {
  const auto move = [](const char* name, std::optional<Index> step) {
    return Move{.name = name, .head = "", .moved = step};
  };
  std::string names;
  for (const Move& m : in_order({move("a", {}), move("b", 30), move("c", 10), move("d", 30), move("e", {})}))
    names += m.name;
  CHECK(names == "cbdae");
}
