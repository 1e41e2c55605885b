#include "tapehead/report/context_figure.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "tapehead/base/require.h"
#include "tapehead/interp/context_score.h"
#include "tapehead/report/colour_scale.h"
#include "tapehead/report/lettering.h"
#include "tapehead/report/line_ends.h"
#include "tapehead/report/sheet.h"

namespace tapehead {

namespace {

// Pixels.
constexpr int kTitle = 30;     // over each plot
constexpr int kBetween = 8;    // from the upper plot to the lower one's title
constexpr int kScaleGap = 16;  // from the map to the scale beside it
constexpr int kTicRoom = 14;   // between two numbers of an axis
constexpr PlotHeights kPage{2 * kTitle + kBetween + kXAxis, 400, 240};
constexpr PlotHeights kNarrow{2 * kTitle + kBetween + kXAxis + kScaleHeight, 340, 240};
constexpr double kScoreShare = 0.36;

constexpr double kHalfDoubling = std::numbers::sqrt2;
/// The share of all slopes that the colours tell apart; the few beyond have the outermost ones.
constexpr double kToldApart = 0.95;
constexpr double kLeastExtent = 0.05;

/// Throws Error for a table without rows, and for a row that says nowhere to draw it.
void require_places(const CsvTable& context, Index length) {
  require(context.rows() > 0, "[figures] {}: expected at least one row", context.file().string());
  double before = 0;
  for (Index row = 0; row < context.rows(); ++row) {
    const auto is_position = [&](std::string_view column) {
      const double position = context.number(row, column);
      return position >= 1 && position <= static_cast<double>(length);
    };
    const double step = context.number(row, "step");
    const double spread = context.number(row, "spread");
    require(
        step >= before && spread >= 0 && spread < 1 && is_position("first_position") &&
            is_position("last_position") && is_position("early") && is_position("late"),
        "[figures] {}: expected steps from 0 that do not fall, positions from 1 to {} and a spread from 0 "
        "to below 1, got others in row {}; `tapehead context` makes the table afresh",
        context.file().string(), length, row + 1);
    before = step;
  }
}

/// One row of the table a checkpoint.
struct Scores {
  std::vector<double> steps;
  std::vector<double> places;  ///< on the axis of steps
  std::vector<double> score;
  std::vector<double> low;
  std::vector<double> high;
};

Scores scores_of(const CsvTable& context) {
  Scores scores;
  double first_after_0 = 0;
  for (Index row = 0; row < context.rows(); ++row) {
    const double step = context.number(row, "step");
    if (!scores.steps.empty() && scores.steps.back() == step) continue;
    if (first_after_0 == 0) first_after_0 = step;
    scores.steps.push_back(step);
    scores.score.push_back(context.number(row, "score"));
    scores.low.push_back(context.number(row, "score_low"));
    scores.high.push_back(context.number(row, "score_high"));
  }
  const double place_of_0 = first_after_0 > 0 ? first_after_0 / kHalfDoubling : 1;
  for (const double step : scores.steps) scores.places.push_back(step > 0 ? step : place_of_0);
  return scores;
}

/// Where cells around these places begin and end: between neighbours, on a logarithmic scale.
std::vector<double> borders_of(const std::vector<double>& places) {
  std::vector<double> borders;
  for (std::size_t i = 0; i + 1 < places.size(); ++i) borders.push_back(std::sqrt(places[i] * places[i + 1]));
  const double before = borders.empty() ? kHalfDoubling : places.front() / borders.front();
  const double after = borders.empty() ? kHalfDoubling : borders.back() / places.back();
  borders.insert(borders.begin(), places.front() / (before < 1 ? 1 / before : std::max(before, 1.01)));
  borders.push_back(places.back() * (after < 1 ? 1 / after : std::max(after, 1.01)));
  return borders;
}

/// The numbers 1, 2, 5, 10, ... of a logarithmic axis, or its powers of ten alone, as there is room.
std::string tics_of(double low, double high, double pixels, double room, bool named = true) {
  const double decades = std::log10(high / low);
  const bool is_roomy = pixels / std::max(decades, 0.1) > 3 * room;
  std::string tics;
  for (double power = std::pow(10, std::floor(std::log10(low))); power <= high; power *= 10)
    for (const double factor : {1.0, 2.0, 5.0}) {
      const double value = power * factor;
      if (value < low || value > high || (factor > 1 && !is_roomy)) continue;
      tics += fmt::format("{}\"{}\" {}", tics.empty() ? "" : ", ", named ? fmt::format("{:g}", value) : "",
                          value);
    }
  return tics;
}

void set_step_axis(Figure& figure, const Panel& panel, const Scores& scores,
                   const std::vector<double>& borders, bool named) {
  const double room = text_width(fmt::format("{:.0f}", scores.steps.back()), kText) + kTicRoom;
  // Beside the 0 the first number has room, too.
  const double apart = std::pow(borders.back() / borders.front(), room / panel.width());
  const double first = scores.steps.front() > 0 ? borders.front() : scores.places.front() * apart;
  std::string tics = tics_of(std::max(first, 0.5), borders.back(), panel.width(), room, named);
  if (scores.steps.front() == 0)
    tics =
        fmt::format("\"{}\" {}{}{}", named ? "0" : "", scores.places.front(), tics.empty() ? "" : ", ", tics);
  figure.script.line("set logscale x\nset xrange [{}:{}]\nset xtics ({})", borders.front(), borders.back(),
                     tics);
}

double extent_of(const CsvTable& context) {
  std::vector<double> sizes;
  for (const double slope : context.numbers("slope"))
    if (std::isfinite(slope)) sizes.push_back(std::abs(slope));
  if (sizes.empty()) return kLeastExtent;
  std::ranges::sort(sizes);
  const double largest = sizes[static_cast<std::size_t>(kToldApart * static_cast<double>(sizes.size() - 1))];
  const double step = tic_step(std::max(largest, kLeastExtent), 4);
  return step * std::ceil(std::max(largest, kLeastExtent) / step);
}

std::string words_of(const PositionBand& band) {
  return band.first == band.last ? fmt::format("{}", band.first)
                                 : fmt::format("{} to {}", band.first, band.last);
}

PositionBand band_in(const CsvTable& context, std::string_view column, Index length) {
  return band_around(context.whole_number(0, column), context.number(0, "spread"), length);
}

Caption caption_of(const CsvTable& context, const Config& config, double extent) {
  const Index length = config.task.length;
  Caption caption{.title = "How much the context helps as the model learns",
                  .subtitle = run_in_words(config)};
  caption.remarks = {
      {fmt::format(
          "score: mean loss at positions {} less that at {} of the same {} held-out sequences; shade: "
          "95 % bootstrap interval over them",
          words_of(band_in(context, "late", length)), words_of(band_in(context, "early", length)),
          context.cell(0, "sequences"))},
      {fmt::format("below 0 the context helps; position p has read p tokens; slopes beyond {} have the "
                   "outermost colours",
                   in_figures(extent))}};
  return caption;
}

void plot_score(Figure& figure, const Panel& panel, const Scores& scores,
                const std::vector<EndLabel>& labels) {
  double low = 0;
  double high = 0;
  for (const std::vector<double>* ends : {&scores.low, &scores.high})
    for (const double end : *ends)
      if (std::isfinite(end)) low = std::min(low, end), high = std::max(high, end);
  const double step = tic_step(std::max(high - low, 0.1), 4);
  low = step * std::floor(low / step - 0.2);
  high = step * std::ceil(high / step + 0.2);
  place(figure, panel, "score (nats)");
  set_y_axis(figure, panel, low, high);
  figure.script.data("$score", {scores.places, scores.score, scores.low, scores.high});
  label_line_ends(figure, panel, low, high, labels);
  plot(figure,
       fmt::format("0 with lines linewidth 1 dashtype 2 linecolor rgb '{0}', $score using 1:3:4 with "
                   "filledcurves fillcolor rgb '{1}' fillstyle transparent solid 0.2 noborder, $score "
                   "using 1:2 with {2} linewidth 1.8 linecolor rgb '{1}'",
                   kGrey, kInductionColour, line_style(scores.score)));
}

/// A cell a row of the table: its middle, ends and slope.
std::vector<std::vector<double>> cells_of(const CsvTable& context, const Scores& scores,
                                          const std::vector<double>& borders) {
  std::vector<std::vector<double>> cells(5);
  std::size_t at = 0;
  for (Index row = 0; row < context.rows(); ++row) {
    while (scores.steps[at] != context.number(row, "step")) ++at;
    const double slope = context.number(row, "slope");
    if (!std::isfinite(slope)) continue;
    cells[0].push_back(borders[at]);
    cells[1].push_back(borders[at + 1]);
    cells[2].push_back(context.number(row, "first_position") - 0.5);
    cells[3].push_back(context.number(row, "last_position") + 0.5);
    cells[4].push_back(slope);
  }
  return cells;
}

void plot_map(Figure& figure, const Panel& panel, const CsvTable& context, const Scores& scores,
              const std::vector<double>& borders, double extent) {
  const double last = context.number(context.rows() - 1, "last_position") + 0.5;
  GnuplotScript& script = figure.script;
  script.line("unset grid\nset border 15 linecolor rgb '{}' linewidth 0.6", kGrey);
  script.line("set palette defined (-1 '#08406b', -0.5 '#5fa8d3', 0 '#ffffff', 0.5 '#e8935a', 1 '#8c3a00')");
  script.line("set cbrange [{}:{}]", -extent, extent);
  set_map_ground(figure);
  place(figure, panel, "position");
  script.line("set logscale y\nset yrange [0.5:{}]\nset ytics ({})", last,
              tics_of(0.9, last, panel.height(), kLine + kTicRoom / 2.0));
  label_x_axis(figure, panel, "training step");
  script.data("$slopes", cells_of(context, scores, borders));
  const bool is_empty = cells_of(context, scores, borders).front().empty();
  std::string command =
      is_empty ? "NaN"
               : "$slopes using (sqrt($1*$2)):(sqrt($3*$4)):1:2:3:4:5 with boxxyerror fillcolor palette "
                 "fillstyle solid 1 noborder";
  for (const char* column : {"early", "late"})
    command += fmt::format(", {} with lines linewidth 1 dashtype 3 linecolor rgb '{}'",
                           context.number(0, column), kInk);
  plot(figure, command);
}

}  // namespace

Figure context_figure(const CsvTable& context, const Config& config, const FigureSize& size) {
  require_places(context, config.task.length);
  const bool narrow = is_narrow(size);
  const Scores scores = scores_of(context);
  const std::vector<double> borders = borders_of(scores.places);
  const double extent = extent_of(context);
  Sheet sheet = start_sheet("context", size, caption_of(context, config, extent), narrow ? kNarrow : kPage);
  Figure& figure = sheet.figure;
  std::vector<EndLabel> labels;
  if (std::isfinite(scores.score.back()))
    labels.push_back({scores.score.back(), in_figures(scores.score.back()), kInductionColour});
  const int right =
      std::min(right_of_plots(size.width, labels), size.width - (narrow ? kEdge : kScaleWidth + kScaleGap));
  const int middle = sheet.top + kTitle + static_cast<int>(kScoreShare * sheet.plots);
  const Panel upper{kPlotLeft, right, sheet.top + kTitle, middle};
  const Panel lower{kPlotLeft, right, middle + kBetween + kTitle,
                    sheet.top + 2 * kTitle + kBetween + sheet.plots};
  const double tics = tic_step(2 * extent, 4);
  write(figure, "in-context-learning score", upper.left, upper.top - 14, {.is_bold = true});
  set_step_axis(figure, upper, scores, borders, false);
  plot_score(figure, upper, scores, labels);
  write(figure, narrow ? "slope of the loss over ln(position)" : "slope: d loss / d ln(position), in nats",
        lower.left, lower.top - 14, {.is_bold = true});
  set_step_axis(figure, lower, scores, borders, true);
  if (narrow)
    show_scale_below(figure, "slope", kEdge, lower.bottom + kXAxis, tics);
  else
    show_scale_beside(figure, "slope (nats)", lower.right + kScaleGap, lower.top, lower.bottom, tics);
  plot_map(figure, lower, context, scores, borders, extent);
  return std::move(sheet.figure);
}

}  // namespace tapehead
