#include "tapehead/report/learning_text.h"

#include <cmath>

#include "support/testing.h"
#include "tapehead/text/display.h"

using namespace tapehead;

namespace {

using Lines = std::vector<std::string>;

/// One sequence whose first position is noise and, if there are two, whose second is induction.
Evaluation evaluation_of(std::initializer_list<double> losses) {
  const auto count = static_cast<Index>(losses.size());
  Evaluation evaluation{Tensor({1, count}), Tensor({1, count}), Table<Kind>(1, count)};
  Index t = 0;
  for (const double loss : losses) {
    evaluation.losses(0, t) = static_cast<Real>(loss);
    evaluation.kinds(0, t) = t == 0 ? Kind::noise : Kind::induction;
    ++t;
  }
  return evaluation;
}

HeadScores scored(Index layer, Index head, double previous_token, double induction) {
  HeadScores scores{layer, head, {}};
  scores.values[static_cast<std::size_t>(Score::previous_token)] = previous_token;
  scores.values[static_cast<std::size_t>(Score::induction)] = induction;
  return scores;
}

/// A loss that falls from 4 to 0 in one step halfway.
LearningText falling() {
  LearningText learning;
  for (Index step = 0; step <= 100; ++step) learning.add(step, evaluation_of({4, step < 50 ? 4.0 : 0.0}));
  return learning;
}

}  // namespace

TEST_CASE("a block curve is as high as its values, in eighths of a line, and never nothing") {
  CHECK(block_curve(std::vector<double>{8, 7, 6, 5, 4, 3, 2, 1, 0}, 8, 1) == Lines{"█▇▆▅▄▃▂▁▁"});
  CHECK(block_curve(std::vector<double>{16, 12, 8, 4, 1}, 16, 2) == Lines{"█▄   ", "███▄▁"});
  CHECK(block_curve(std::vector<double>{24, 23, 17, 9, 0}, 24, 3) == Lines{"█▇▁  ", "███▁ ", "████▁"});
}

TEST_CASE("a block curve holds what is out of its range, and leaves out what is no number") {
  CHECK(block_curve(std::vector<double>{-1, 99, std::nan(""), 4}, 8, 1) == Lines{"▁█ ▄"});
  CHECK(block_curve(std::vector<double>{INFINITY, -INFINITY}, 8, 1) == Lines{"█▁"});
  for (const double top : {0.0, -1.0, std::nan("")})
    CHECK(block_curve(std::vector<double>{0, 1}, top, 1) == Lines{"  "});
  CHECK(block_curve({}, 1, 2) == Lines{"", ""});
  CHECK(block_curve(std::vector<double>{1}, 1, 0).empty());
}

TEST_CASE("a loss that falls to nothing is seen falling, with the ends of its axis and its unit") {
  LearningText learning = falling();
  learning.set_scores({scored(0, 0, 0.2, 0.1), scored(0, 1, 0.98, 0), scored(1, 0, 0.1, 0.91)});
  CHECK(learning.lines(26, 10) == Lines{
                                      "4.00 ▕██████████",
                                      "     ▕██████████",
                                      "   0 ▕██████████▁▁▁▁▁▁▁▁▁▁",
                                      "induction loss 4.00 → 0.00",
                                      "previous 0.98, induction …",
                                  });
  CHECK(learning.lines(60, 2) == Lines{"induction loss 4.00 → 0.00 nats, steps 0 to 100",
                                       "previous token 0.98 (0.1), induction 0.91 (1.0)"});
  CHECK(learning.lines(30, 2) == Lines{"induction loss 4.00 → 0.00", "previous 0.98, induction 0.91"});
  const Lines wide = learning.lines(200, 10);
  REQUIRE(wide.size() == 5);
  CHECK(wide[3] == "induction loss 4.00 → 0.00 nats, steps 0 to 100");
  CHECK(wide[4] == "best scores: previous token 0.98 (head 0.1), induction 0.91 (head 1.0)");
  CHECK(display_width(wide[2]) == 6 + 72);
}

TEST_CASE("a curve's lines fit the room there is, and words are what stays") {
  LearningText learning = falling();
  learning.set_scores({scored(0, 0, 0.2, 0.1)});
  for (int columns = 0; columns <= 90; ++columns)
    for (int rows = -1; rows <= 7; ++rows) {
      const Lines lines = learning.lines(columns, rows);
      CHECK(static_cast<int>(lines.size()) <= std::max(0, rows));
      for (const std::string& line : lines) CHECK(display_width(line) <= columns);
    }
  CHECK(learning.lines(80, 4).size() == 4);
  CHECK(learning.lines(80, 2)[0].starts_with("induction loss"));
  CHECK(learning.lines(80, 1)[0].starts_with("induction loss"));
  CHECK(learning.lines(12, 5).size() == 2);
}

TEST_CASE("several evaluations in a column are their mean, and a column without one holds the last") {
  LearningText learning;
  for (const auto& [step, loss] : {std::pair(0, 8.0), {5, 4.0}, {80, 8.0}})
    learning.add(step, evaluation_of({loss, loss}));
  // Eight columns of ten steps.
  CHECK(learning.lines(6 + 8, 3)[0] == "8.00 ▕▆▄▄▄▄▄▄█");
}

TEST_CASE("a single evaluation is a curve too, and none is no line") {
  LearningText learning;
  CHECK(learning.lines(80, 10).empty());
  CHECK(learning.in_words().empty());
  learning.add(0, evaluation_of({4.2, 4.1}));
  CHECK(learning.lines(16, 3)[0] == "4.10 ▕██████████");
  CHECK(learning.lines(80, 10).back() == "induction loss 4.10 → 4.10 nats, steps 0 to 0");
}

TEST_CASE("where nothing can be copied the loss on all positions is shown, and without heads no scores") {
  LearningText learning;
  learning.set_scores({});
  learning.add(0, evaluation_of({3}));
  learning.add(10, evaluation_of({2.5}));
  const Lines lines = learning.lines(80, 10);
  CHECK(lines.size() == 4);
  CHECK(lines.back() == "loss on all positions 3.00 → 2.50 nats, steps 0 to 10");
  CHECK(learning.in_words() == "  evaluated loss 2.500");
}

TEST_CASE("a score that no head has is left out") {
  LearningText learning;
  learning.add(0, evaluation_of({3, 2}));
  learning.set_scores({scored(0, 0, 0.5, std::nan("")), scored(0, 1, std::nan(""), std::nan(""))});
  CHECK(learning.lines(80, 10).back() == "best scores: previous token 0.50 (head 0.0)");
  CHECK(learning.in_words() == "  induction loss 2.000  previous token 0.50 (0.0)");
}

TEST_CASE("a run that is gone on with begins its curve with its metrics up to that step") {
  CsvTable metrics({"step", "loss", "loss_induction"});
  metrics.add({"0", "5", "4"});
  metrics.add({"10", "5", "3"});
  metrics.add({"20", "5", "1"});
  LearningText learning;
  learning.add_earlier(metrics, 10);
  CHECK(learning.lines(80, 10).back() == "induction loss 4.00 → 3.00 nats, steps 0 to 10");
  learning.add(15, evaluation_of({4, 2}));
  CHECK(learning.lines(80, 10).back() == "induction loss 4.00 → 2.00 nats, steps 0 to 15");

  CsvTable of_text({"step", "loss", "loss_induction"});
  of_text.add({"0", "5", ""});
  LearningText other;
  other.add_earlier(of_text, 10);
  CHECK(other.lines(80, 10).back() == "loss on all positions 5.00 → 5.00 nats, steps 0 to 0");
}
