/// One look for all figures: colours that colour-blind readers can tell apart (Okabe and Ito 2008), grey thin
/// axes, a title that names the subject, and a line below it that says which run.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tapehead/report/gnuplot.h"
#include "tapehead/train/config.h"

namespace tapehead {

inline constexpr std::string_view kInk = "#222222";
inline constexpr std::string_view kGrey = "#7a7a7a";
inline constexpr std::string_view kPaleGrey = "#e4e4e4";
inline constexpr std::string_view kInductionColour = "#0072b2";
inline constexpr std::string_view kNoiseColour = "#d55e00";
inline constexpr std::string_view kShade = "#f4efe2";

/// The colour of a head, the same in every figure of a model with `heads` heads a layer.
std::string_view head_colour(Index layer, Index head, Index heads);
/// A gnuplot dash type that goes with it: another one each time the colours begin anew.
int head_dash(Index layer, Index head, Index heads);

/// "2 layers, 2 heads each, width 64, attention only · repeated sequence, length 48, period 6 to 24 · seed
/// 1", and how many interventions.
std::string run_in_words(const Config& config);
/// The same without the seed: what runs have in common that differ in their seeds.
std::string runs_in_words(const Config& config);

/// Starts a figure: general settings, title and subtitle.
Figure start_figure(std::string name, int width, int height, std::string_view title,
                    std::string_view subtitle);

/// Where a plot stands in its figure, in pixels from the left and from the top.
struct Panel {
  int left = 0;
  int right = 0;
  int top = 0;
  int bottom = 0;
};
/// Makes the next plot stand there, with this y label.
void place(Figure& figure, const Panel& panel, std::string_view y_label);
/// Writes below the numbers of its x axis.
void label_x_axis(Figure& figure, const Panel& panel, std::string_view label);

/// Lets the x axis go from step 0 to the last; where that is step 0 too, the axis has this step in its
/// middle.
void set_step_axis(Figure& figure, double last_step);
/// gnuplot's style for these values: lines, with a point where there is but one, which makes no line.
std::string_view line_style(const std::vector<double>& values);

/// A label to stand at the right end of a line.
struct EndLabel {
  double y = 0;
  std::string text;
  std::string_view colour;
  bool is_minor = false;  ///< in smaller letters
};
/// Puts labels to the right of the panel whose y axis goes from low to high, none upon another.
void label_line_ends(Figure& figure, const Panel& panel, double low, double high,
                     std::vector<EndLabel> labels);

/// The places nearest to `wanted` (in growing order) that lie at least `gap` apart, moved by the smallest
/// squares.
std::vector<double> spread(const std::vector<double>& wanted, double gap);

}  // namespace tapehead
