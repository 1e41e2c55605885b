#include "tapehead/report/learning_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "tapehead/text/display.h"

namespace tapehead {

namespace {

constexpr std::array<std::string_view, 9> kEighths{" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
constexpr int kMostColumns = 72;  // of the curve
constexpr int kLeastColumns = 8;
constexpr int kMostRows = 3;
constexpr int kLinesOfWords = 2;
constexpr std::array kShownScores{Score::previous_token, Score::induction};

std::string words_of(std::string_view name) {
  std::string words(name);
  std::ranges::replace(words, '_', ' ');
  return words;
}

}  // namespace

std::vector<std::string> block_curve(std::span<const double> values, double top, int rows) {
  std::vector<std::string> lines(static_cast<std::size_t>(std::max(0, rows)));
  for (const double value : values) {
    const double share = value / top;
    const bool is_blank = std::isnan(share) || !(top > 0);
    const auto eighths = is_blank ? 0 : std::max(1L, std::lround(8 * rows * std::clamp(share, 0.0, 1.0)));
    for (int row = 0; row < rows; ++row)
      lines[static_cast<std::size_t>(row)] +=
          kEighths[static_cast<std::size_t>(std::clamp(eighths - 8L * (rows - 1 - row), 0L, 8L))];
  }
  return lines;
}

void LearningText::add_earlier(const CsvTable& metrics, Index step) {
  for (Index row = 0; row < metrics.rows(); ++row)
    if (metrics.number(row, "step") <= static_cast<double>(step))
      add(metrics.number(row, "step"), metrics.number(row, "loss_induction"), metrics.number(row, "loss"));
}

void LearningText::add(Index step, const Evaluation& evaluation) {
  add(static_cast<double>(step), evaluation.loss(Kind::induction), evaluation.loss());
}

void LearningText::add(double step, double induction, double all) {
  if (points_.empty()) is_induction_ = !std::isnan(induction);
  points_.push_back({step, is_induction_ ? induction : all});
}

void LearningText::set_scores(const std::vector<HeadScores>& scores) {
  best_.clear();
  for (const Score score : kShownScores) {
    const HeadScores* best = nullptr;
    for (const HeadScores& head : scores)
      if (!std::isnan(head[score]) && (best == nullptr || head[score] > (*best)[score])) best = &head;
    const auto definition = std::ranges::find(kScores, score, &ScoreDefinition::score);
    if (best != nullptr)
      best_.push_back(
          {words_of(definition->name), fmt::format("{}.{}", best->layer, best->head), (*best)[score]});
  }
}

/// The loss at evenly spaced steps from the first evaluation to the last: the mean of the evaluations there,
/// or the last one before.
std::vector<double> LearningText::resampled(int columns) const {
  const double first = points_.front().step;
  const double width = (points_.back().step - first) / columns;
  std::vector<double> values;
  std::size_t next = 0;
  for (int column = 0; column < columns; ++column) {
    const double end = first + width * (column + 1);
    double sum = 0;
    double count = 0;
    for (; next < points_.size() && (points_[next].step < end || column + 1 == columns); ++next, ++count)
      sum += points_[next].loss;
    values.push_back(count > 0 ? sum / count : points_[std::max<std::size_t>(next, 1) - 1].loss);
  }
  return values;
}

std::vector<std::string> LearningText::curve(int columns, int rows) const {
  double top = 0;
  for (const Point& point : points_) top = std::fmax(top, point.loss);
  const std::string high = fmt::format("{:.2f}", top);
  const std::string low = fmt::format("{:>{}}", "0", high.size());
  const int room = std::min(kMostColumns, columns - static_cast<int>(high.size()) - 2);
  if (rows < 1 || room < kLeastColumns) return {};
  std::vector<std::string> lines = block_curve(resampled(room), top, rows);
  for (std::size_t i = 0; i < lines.size(); ++i)
    lines[i] = fmt::format("{} ▕{}",
                           i == 0                  ? high
                           : i + 1 == lines.size() ? low
                                                   : std::string(high.size(), ' '),
                           lines[i]);
  return lines;
}

std::string LearningText::losses(int columns) const {
  const std::string fall = fmt::format("{:.2f} → {:.2f}", points_.front().loss, points_.back().loss);
  const std::string name = is_induction_ ? "induction loss" : "loss on all positions";
  const std::array<std::string, 4> wordings{
      fmt::format("{} {} nats, steps {} to {}", name, fall, points_.front().step, points_.back().step),
      fmt::format("{} {} nats", name, fall), fmt::format("{} {}", name, fall), fmt::format("loss {}", fall)};
  return fitting(wordings, columns);
}

std::string LearningText::best_heads(int columns) const {
  std::array<std::string, 3> wordings{"best scores: ", "", ""};
  for (const Best& best : best_) {
    for (std::string& words : wordings)
      if (&best != &best_.front()) words += ", ";
    wordings[0] += fmt::format("{} {:.2f} (head {})", best.score, best.value, best.head);
    wordings[1] += fmt::format("{} {:.2f} ({})", best.score, best.value, best.head);
    wordings[2] += fmt::format("{} {:.2f}", best.score.substr(0, best.score.find(' ')), best.value);
  }
  return fitting(wordings, columns);
}

std::vector<std::string> LearningText::lines(int columns, int rows) const {
  if (points_.empty() || rows < 1) return {};
  std::vector<std::string> lines = curve(columns, std::min(kMostRows, rows - kLinesOfWords));
  lines.push_back(losses(columns));
  if (!best_.empty()) lines.push_back(best_heads(columns));
  if (static_cast<int>(lines.size()) > rows) lines.resize(static_cast<std::size_t>(rows));
  for (std::string& line : lines) {
    line.erase(line.find_last_not_of(' ') + 1);
    line = cut_to_width(line, columns);
  }
  return lines;
}

std::string LearningText::in_words() const {
  if (points_.empty()) return "";
  std::string words =
      fmt::format("  {} {:.3f}", is_induction_ ? "induction loss" : "evaluated loss", points_.back().loss);
  for (const Best& best : best_) words += fmt::format("  {} {:.2f} ({})", best.score, best.value, best.head);
  return words;
}

}  // namespace tapehead
