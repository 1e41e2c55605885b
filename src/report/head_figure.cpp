#include "tapehead/report/head_figure.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "tapehead/report/formation_window.h"
#include "tapehead/report/style.h"

namespace tapehead {

namespace {

constexpr int kWidth = 880;
constexpr Panel kPreviousTokenPanel{70, 722, 124, 334};
constexpr Panel kInductionPanel{70, 722, 380, 590};
constexpr int kHeight = 648;
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

/// The heads that end highest, and what even attention scores.
std::vector<EndLabel> labels_of(const std::vector<HeadCurve>& curves, double chance, Index heads) {
  std::vector<EndLabel> labels;
  for (const HeadCurve& curve : curves)
    if (std::isfinite(curve.scores.back()))
      labels.push_back({curve.scores.back(),
                        fmt::format("layer {} head {}: {:.2f}", curve.layer, curve.head, curve.scores.back()),
                        head_colour(curve.layer, curve.head, heads)});
  std::sort(labels.begin(), labels.end(), [](const EndLabel& a, const EndLabel& b) { return a.y > b.y; });
  if (labels.size() > kMostLabels) labels.resize(kMostLabels);
  if (std::isfinite(chance)) labels.push_back({chance, fmt::format("even attention: {:.2f}", chance), kGrey});
  return labels;
}

void plot_score(Figure& figure, const Panel& panel, const CsvTable& heads, const ScoreDefinition& definition,
                double chance, Index heads_a_layer, double title_height) {
  GnuplotScript& script = figure.script;
  std::string title(definition.name);
  std::replace(title.begin(), title.end(), '_', ' ');
  place(figure, panel, "attention weight");
  script.line(
      "set label 25 '{{/:Bold {}}}  '.{} at graph 0, graph 1 left offset 0,{} font ',13' textcolor rgb '{}'",
      title, gnuplot_text(definition.definition), title_height, kInk);
  const std::vector<HeadCurve> curves = curves_of(heads, definition.name);
  std::string command;
  if (std::isfinite(chance))
    command = fmt::format("{} with lines linewidth 1 dashtype 2 linecolor rgb '{}'", chance, kGrey);
  for (const HeadCurve& curve : curves) {
    const std::string block = fmt::format("${}_{}_{}", definition.name, curve.layer, curve.head);
    script.data(block, {curve.steps, curve.scores});
    command +=
        fmt::format("{}{} using 1:2 with lines linewidth 1.8 dashtype {} linecolor rgb '{}'",
                    command.empty() ? "" : ", ", block, head_dash(curve.layer, curve.head, heads_a_layer),
                    head_colour(curve.layer, curve.head, heads_a_layer));
  }
  label_line_ends(figure, panel, 0, 1, labels_of(curves, chance, heads_a_layer));
  script.line("plot {}", command);
}

}  // namespace

Figure head_figure(const CsvTable& heads, const ScoreValues& chance, const Formation& formation,
                   const Config& config) {
  Figure figure =
      start_figure("heads", kWidth, kHeight, "What every head looks at, over training", run_in_words(config));
  const auto steps = heads.numbers("step");
  const double last_step = std::max(1.0, *std::max_element(steps.begin(), steps.end()));
  figure.script.line("set xrange [0:{}]\nset yrange [0:1]\nset ytics 0.25\nset format y '%.2f'", last_step);
  shade_formation(figure, formation);
  const auto plot = [&](Score score, const Panel& panel, double title_height) {
    const auto which = static_cast<std::size_t>(score);
    plot_score(figure, panel, heads, kScores[which], chance[which], config.model.heads, title_height);
  };
  figure.script.line("set format x ''");
  plot(Score::previous_token, kPreviousTokenPanel, 1.9);
  figure.script.line("unset label\nset format x '%g'");
  label_x_axis(figure, kInductionPanel, "training step");
  plot(Score::induction, kInductionPanel, 0.8);
  return figure;
}

}  // namespace tapehead
