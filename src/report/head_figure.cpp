#include "tapehead/report/head_figure.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "tapehead/interp/composition.h"
#include "tapehead/report/formation_window.h"
#include "tapehead/report/style.h"

namespace tapehead {

namespace {

constexpr int kWidth = 880;
constexpr int kLeft = 70;
constexpr int kRight = 722;
constexpr int kTop = 124;
constexpr int kPanelHeight = 210;
constexpr int kGap = 46;                 // between panels
constexpr int kBottom = 58;              // under the last one
constexpr std::size_t kMostLabels = 11;  // that a panel has room for

struct HeadCurve {
  Index layer;
  Index head;
  std::vector<double> steps;
  std::vector<double> scores;
};

std::vector<HeadCurve> curves_of(const CsvTable& heads, std::string_view score) {
  const auto steps = heads.numbers("step");
  const auto layers = heads.numbers("layer");
  const auto numbers = heads.numbers("head");
  const auto scores = heads.numbers(score);
  std::map<std::pair<double, double>, HeadCurve> curves;
  for (std::size_t row = 0; row < steps.size(); ++row) {
    HeadCurve& curve = curves[{layers[row], numbers[row]}];
    curve.layer = static_cast<Index>(layers[row]);
    curve.head = static_cast<Index>(numbers[row]);
    curve.steps.push_back(steps[row]);
    curve.scores.push_back(scores[row]);
  }
  std::vector<HeadCurve> result;
  for (auto& [key, curve] : curves) result.push_back(std::move(curve));
  return result;
}

/// What one panel shows: a column of the table, and what its numbers mean.
struct Subject {
  std::string_view column;
  std::string_view definition;
  std::string_view y_label;
  double low;
  double high;
  double tics;    ///< from one number on the axis to the next
  double chance;  ///< NaN where there is none
  std::string_view chance_name;
};

/// The heads that end highest, and what the score of chance is.
std::vector<EndLabel> labels_of(const std::vector<HeadCurve>& curves, const Subject& subject, Index heads) {
  std::vector<EndLabel> labels;
  for (const HeadCurve& curve : curves)
    if (std::isfinite(curve.scores.back()))
      labels.push_back({curve.scores.back(),
                        fmt::format("layer {} head {}: {:.2f}", curve.layer, curve.head, curve.scores.back()),
                        head_colour(curve.layer, curve.head, heads)});
  std::sort(labels.begin(), labels.end(), [](const EndLabel& a, const EndLabel& b) { return a.y > b.y; });
  if (labels.size() > kMostLabels) {
    const std::size_t left_out = labels.size() - (kMostLabels - 1);
    labels.resize(kMostLabels);
    labels.back().text = fmt::format("{} more, below", left_out);
    labels.back().colour = kGrey;
  }
  if (std::isfinite(subject.chance))
    labels.push_back({subject.chance, fmt::format("{}: {:.2f}", subject.chance_name, subject.chance), kGrey});
  return labels;
}

void plot_score(Figure& figure, const Panel& panel, const CsvTable& heads, const Subject& subject,
                Index heads_a_layer, double title_height) {
  GnuplotScript& script = figure.script;
  std::string title(subject.column);
  std::replace(title.begin(), title.end(), '_', ' ');
  place(figure, panel, subject.y_label);
  script.line(
      "set label 25 '{{/:Bold {}}}  '.{} at graph 0, graph 1 left offset 0,{} font ',13' textcolor rgb '{}'",
      title, gnuplot_text(subject.definition), title_height, kInk);
  const std::vector<HeadCurve> curves = curves_of(heads, subject.column);
  std::string command;
  if (std::isfinite(subject.chance))
    command = fmt::format("{} with lines linewidth 1 dashtype 2 linecolor rgb '{}'", subject.chance, kGrey);
  for (const HeadCurve& curve : curves) {
    // gnuplot refuses a line without a point.
    if (std::ranges::none_of(curve.scores, [](double score) { return std::isfinite(score); })) continue;
    const std::string block = fmt::format("${}_{}_{}", subject.column, curve.layer, curve.head);
    script.data(block, {curve.steps, curve.scores});
    command += fmt::format("{}{} using 1:2 with {} linewidth 1.8 dashtype {} linecolor rgb '{}'",
                           command.empty() ? "" : ", ", block, line_style(curve.scores),
                           head_dash(curve.layer, curve.head, heads_a_layer),
                           head_colour(curve.layer, curve.head, heads_a_layer));
  }
  label_line_ends(figure, panel, subject.low, subject.high, labels_of(curves, subject, heads_a_layer));
  script.line("set yrange [{}:{}]\nset ytics {}", subject.low, subject.high, subject.tics);
  if (!command.empty()) script.line("plot {}", command);
}

/// The panels that the table has columns for.
std::vector<Subject> subjects_of(const CsvTable& heads, const ScoreValues& chance, const ModelConfig& model) {
  std::vector<Subject> subjects;
  for (const Score score : {Score::previous_token, Score::induction}) {
    const auto which = static_cast<std::size_t>(score);
    subjects.push_back({kScores[which].name, kScores[which].definition, "attention weight", 0, 1, 0.25,
                        chance[which], "even attention"});
  }
  const ScoreDefinition& copying = kScores[static_cast<std::size_t>(Score::copying)];
  if (heads.has(copying.name))
    subjects.push_back({copying.name, copying.definition, "share, from −1 to 1", -1, 1, 0.5,
                        chance[static_cast<std::size_t>(Score::copying)], "all tokens alike"});
  if (!heads.has("k_composition") || model.layers < 2) return subjects;
  const double random = composition_baseline(model.width, model.width / model.heads).mean;
  double highest = 1.5 * random;
  for (const double score : heads.numbers("k_composition"))
    if (std::isfinite(score)) highest = std::max(highest, score);
  subjects.push_back({"k_composition",
                      "of the head's keys with what an earlier head writes, the largest of its scores",
                      "composition score", 0, std::ceil(10 * highest) / 10, 0.1, random, "random matrices"});
  return subjects;
}

}  // namespace

Figure head_figure(const CsvTable& heads, const ScoreValues& chance, const Formation& formation,
                   const Config& config) {
  const std::vector<Subject> subjects = subjects_of(heads, chance, config.model);
  const int height = kTop + static_cast<int>(subjects.size()) * (kPanelHeight + kGap) - kGap + kBottom;
  Figure figure =
      start_figure("heads", kWidth, height, "What every head looks at, over training", run_in_words(config));
  const auto steps = heads.numbers("step");
  set_step_axis(figure, *std::max_element(steps.begin(), steps.end()));
  figure.script.line("set format y '%.2f'");
  shade_formation(figure, formation);
  figure.script.line("set format x ''");
  for (std::size_t i = 0; i < subjects.size(); ++i) {
    const int top = kTop + static_cast<int>(i) * (kPanelHeight + kGap);
    const Panel panel{kLeft, kRight, top, top + kPanelHeight};
    if (i > 0) figure.script.line("unset label");
    if (i + 1 == subjects.size()) {
      figure.script.line("set format x '%g'");
      label_x_axis(figure, panel, "training step");
    }
    plot_score(figure, panel, heads, subjects[i], config.model.heads, i == 0 ? 1.9 : 0.8);
  }
  return figure;
}

}  // namespace tapehead
