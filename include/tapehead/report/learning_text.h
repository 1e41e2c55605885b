/// How a run learns, as a few lines of text that can be shown while it trains: a curve of the loss in block
/// characters, and the heads that score highest.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "tapehead/interp/head_scores.h"
#include "tapehead/train/csv.h"
#include "tapehead/train/evaluate.h"

namespace tapehead {

/// A column for every value, as high as its share of `top` in `rows` lines of eighths, the highest line
/// first; even nothing is an eighth high, and NaN, or a `top` that is not above 0, leaves a blank.
std::vector<std::string> block_curve(std::span<const double> values, double top, int rows);

class LearningText {
 public:
  /// What a run that is gone on with found before: the rows of its metrics.csv up to that step.
  void add_earlier(const CsvTable& metrics, Index step);
  /// An evaluation. The loss on induction positions is shown where the run has such positions, and that on
  /// all positions elsewhere.
  void add(Index step, const Evaluation& evaluation);
  /// Every head's scores at the last evaluation.
  void set_scores(const std::vector<HeadScores>& scores);

  /// Lines of at most `columns` columns, at most `rows` of them; the curve is left out where there is no room
  /// for it. None before the first evaluation.
  std::vector<std::string> lines(int columns, int rows) const;
  /// The last evaluation in words, beginning with two blanks; nothing before the first.
  std::string in_words() const;

 private:
  struct Point {
    double step;
    double loss;
  };
  struct Best {
    std::string score;
    std::string head;
    double value;
  };
  void add(double step, double induction, double all);
  std::vector<double> resampled(int columns) const;
  std::vector<std::string> curve(int columns, int rows) const;
  std::string losses(int columns) const;
  std::string best_heads(int columns) const;

  std::vector<Point> points_;
  bool is_induction_ = true;
  std::vector<Best> best_;
};

}  // namespace tapehead
