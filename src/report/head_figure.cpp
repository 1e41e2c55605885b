#include "tapehead/report/head_figure.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>

#include "tapehead/interp/composition.h"
#include "tapehead/report/formation_window.h"
#include "tapehead/report/lettering.h"
#include "tapehead/report/line_ends.h"
#include "tapehead/report/sheet.h"

namespace tapehead {

namespace {

// Pixels.
constexpr int kPanelHeight = 210;
constexpr int kNarrowHeight = 150;
constexpr int kLeastHeight = 110;
constexpr int kGap = 12;    // under a panel, for the numbers of its lowest tic
constexpr int kTitle = 20;  // from the last line over a panel to the panel, beyond a line's half

constexpr int kBesideTitle = 8;

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

/// The signs of print for those of a terminal.
std::string typeset(std::string_view definition) {
  std::string text(definition);
  for (const auto& [plain, sign] : {std::pair(">=", "≥"), {"- 1", "− 1"}, {"-1", "−1"}})
    for (auto at = text.find(plain); at != std::string::npos; at = text.find(plain))
      text.replace(at, std::strlen(plain), sign);
  return text;
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

/// The heads that end highest, as many as there is room for, and what the score of chance is.
std::vector<EndLabel> labels_of(const std::vector<HeadCurve>& curves, const Subject& subject, Index heads,
                                int panel_height, bool narrow) {
  std::vector<EndLabel> labels;
  for (const HeadCurve& curve : curves)
    if (std::isfinite(curve.scores.back()))
      labels.push_back({curve.scores.back(),
                        fmt::format("{}: {}",
                                    narrow ? fmt::format("{}.{}", curve.layer, curve.head)
                                           : fmt::format("layer {} head {}", curve.layer, curve.head),
                                    in_figures(curve.scores.back())),
                        head_colour(curve.layer, curve.head, heads)});
  std::sort(labels.begin(), labels.end(), [](const EndLabel& a, const EndLabel& b) { return a.y > b.y; });
  const std::size_t most = static_cast<std::size_t>(panel_height / kLine - 1);  // one is chance's
  if (labels.size() > most) {
    const std::size_t left_out = labels.size() - (most - 1);
    labels.resize(most);
    labels.back().text = fmt::format("{} more below", left_out);
    labels.back().colour = kGrey;
  }
  if (std::isfinite(subject.chance))
    labels.push_back(
        {subject.chance, fmt::format("{}: {}", subject.chance_name, in_figures(subject.chance)), kGrey});
  return labels;
}

/// One panel under way: its curves, and the words over it and beside it.
struct ScorePlot {
  Subject subject;
  std::vector<HeadCurve> curves;
  std::string title;
  std::vector<std::string> definition;  ///< in lines, the first beside the title where that has room
  bool is_beside = false;

  int lines() const { return static_cast<int>(definition.size()) + (is_beside ? 0 : 1); }
};

ScorePlot plot_of(const CsvTable& heads, const Subject& subject, int width) {
  ScorePlot score{subject, curves_of(heads, subject.column), std::string(subject.column), {}};
  std::replace(score.title.begin(), score.title.end(), '_', ' ');
  const double room = width - kPlotLeft - kEdge;
  const std::string definition = typeset(subject.definition);
  score.is_beside =
      text_width(score.title, kText, true) + kBesideTitle + text_width(definition, kText) <= room;
  score.definition = wrap(definition, room, kText);
  return score;
}

void write_title(Figure& figure, const Panel& panel, const ScorePlot& score) {
  int y = panel.top - kTitle - kLine * (score.lines() - 1);
  write(figure, score.title, panel.left, y, {.is_bold = true});
  double x = panel.left;
  if (score.is_beside)
    x += text_width(score.title, kText, true) + kBesideTitle;
  else
    y += kLine;
  for (const std::string& line : score.definition) {
    write(figure, line, x, y);
    y += kLine;
  }
}

void plot_score(Figure& figure, const Panel& panel, const ScorePlot& score, Index heads_a_layer,
                bool narrow) {
  GnuplotScript& script = figure.script;
  const Subject& subject = score.subject;
  place(figure, panel, subject.y_label);
  std::string command;
  if (std::isfinite(subject.chance))
    command = fmt::format("{} with lines linewidth 1 dashtype 2 linecolor rgb '{}'", subject.chance, kGrey);
  for (const HeadCurve& curve : score.curves) {
    // gnuplot refuses a line without a point.
    if (std::ranges::none_of(curve.scores, [](double value) { return std::isfinite(value); })) continue;
    const std::string block = fmt::format("${}_{}_{}", subject.column, curve.layer, curve.head);
    script.data(block, {curve.steps, curve.scores});
    command += fmt::format("{}{} using 1:2 with {} linewidth 1.8 dashtype {} linecolor rgb '{}'",
                           command.empty() ? "" : ", ", block, line_style(curve.scores),
                           head_dash(curve.layer, curve.head, heads_a_layer),
                           head_colour(curve.layer, curve.head, heads_a_layer));
  }
  label_line_ends(figure, panel, subject.low, subject.high,
                  labels_of(score.curves, subject, heads_a_layer, panel.height(), narrow));
  script.line("set yrange [{}:{}]\nset ytics {}", subject.low, subject.high, subject.tics);
  plot(figure, command.empty() ? "NaN" : command);
}

/// The panels that the table has columns for.
std::vector<Subject> subjects_of(const CsvTable& heads, const ScoreValues& chance, const ModelConfig& model,
                                 bool narrow) {
  std::vector<Subject> subjects;
  for (const Score score : {Score::previous_token, Score::induction}) {
    const auto which = static_cast<std::size_t>(score);
    subjects.push_back({kScores[which].name, kScores[which].definition, "attention weight", 0, 1, 0.25,
                        chance[which], narrow ? "even" : "even attention"});
  }
  const ScoreDefinition& copying = kScores[static_cast<std::size_t>(Score::copying)];
  if (heads.has(copying.name))
    subjects.push_back({copying.name, copying.definition, "share, from −1 to 1", -1, 1, 0.5,
                        chance[static_cast<std::size_t>(Score::copying)],
                        narrow ? "all alike" : "all tokens alike"});
  if (!heads.has("k_composition") || model.layers < 2) return subjects;
  const double random = composition_baseline(model.width, model.width / model.heads).mean;
  double highest = 1.5 * random;
  for (const double score : heads.numbers("k_composition"))
    if (std::isfinite(score)) highest = std::max(highest, score);
  subjects.push_back({"k_composition",
                      "of the head's keys with what an earlier head writes, the largest of its scores",
                      "composition score", 0, std::ceil(10 * highest) / 10, 0.1, random,
                      narrow ? "random" : "random matrices"});
  return subjects;
}

/// Where plots end that all have room for their labels.
int right_of(const std::vector<ScorePlot>& scores, Index heads, const FigureSize& size, int height) {
  int right = size.width;
  for (const ScorePlot& score : scores)
    right = std::min(right, right_of_plots(size.width, labels_of(score.curves, score.subject, heads, height,
                                                                 is_narrow(size))));
  return right;
}

PlotHeights heights_of(const std::vector<ScorePlot>& scores, bool narrow) {
  const auto count = static_cast<int>(scores.size());
  PlotHeights heights{kXAxis - kGap, count * (narrow ? kNarrowHeight : kPanelHeight), count * kLeastHeight};
  for (const ScorePlot& score : scores) heights.around += kLine * score.lines() + kTitle + kGap;
  return heights;
}

}  // namespace

Figure head_figure(const CsvTable& heads, const ScoreValues& chance, const Formation& formation,
                   const Config& config, const FigureSize& size) {
  const bool narrow = is_narrow(size);
  std::vector<ScorePlot> scores;
  for (const Subject& subject : subjects_of(heads, chance, config.model, narrow))
    scores.push_back(plot_of(heads, subject, size.width));
  Caption caption{.title = "What every head looks at, over training", .subtitle = run_in_words(config)};
  if (formation.last_step > 0)
    caption.remarks.push_back({(formation.onset ? "shaded: " : "") + formation_in_words(formation)});
  caption.remarks.push_back({narrow ? "0.1: head 1 of layer 0; dashed grey: chance" : "dashed grey: chance"});
  Sheet sheet = start_sheet("heads", size, caption, heights_of(scores, narrow));
  Figure& figure = sheet.figure;
  const int panel_height = sheet.plots / static_cast<int>(scores.size());
  shade_formation(figure, formation);
  Panel panel{kPlotLeft, right_of(scores, config.model.heads, size, panel_height), 0, sheet.top - kGap};
  const auto steps = heads.numbers("step");
  set_step_axis(figure, panel, *std::max_element(steps.begin(), steps.end()));
  figure.script.line("set format y '%.2f'\nset format x ''");
  for (const ScorePlot& score : scores) {
    panel.top = panel.bottom + kGap + kLine * score.lines() + kTitle;
    panel.bottom = panel.top + panel_height;
    write_title(figure, panel, score);
    if (&score == &scores.back()) {
      figure.script.line("set format x '%g'");
      label_x_axis(figure, panel, "training step");
    }
    plot_score(figure, panel, score, config.model.heads, narrow);
  }
  return std::move(sheet.figure);
}

}  // namespace tapehead
