/// One look for all figures: colours that colour-blind readers can tell apart (Okabe and Ito 2008), grey thin
/// axes, a title that names the subject, a line below it that says which run, and words of one size however
/// large the figure is.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tapehead/report/gnuplot.h"
#include "tapehead/train/config.h"

namespace tapehead {

/// How large a figure is to be, in pixels. Their letters being the same, a narrow figure is not a smaller
/// picture of a wide one.
struct FigureSize {
  int width = 880;
  int height = 0;  ///< 0: what its plots and words need

  static constexpr int kLeastWidth = 320;
  static constexpr int kLeastHeight = 200;
  static constexpr int kMost = 4000;  ///< of either
};
inline constexpr FigureSize kPageSize{880};    ///< both columns of a paper, 170 mm
inline constexpr FigureSize kColumnSize{440};  ///< one column, 85 mm
/// Whether words have to be short.
constexpr bool is_narrow(const FigureSize& size) { return size.width < 600; }

inline constexpr std::string_view kInk = "#222222";
inline constexpr std::string_view kGrey = "#7a7a7a";
inline constexpr std::string_view kPaleGrey = "#e4e4e4";
inline constexpr std::string_view kInductionColour = "#0072b2";
inline constexpr std::string_view kNoiseColour = "#d55e00";
inline constexpr std::string_view kNotFormedColour = "#cc79a7";
inline constexpr std::string_view kShade = "#f4efe2";

// Heights of letters, in pixels of the figure.
inline constexpr int kTitleText = 19;
inline constexpr int kText = 13;
inline constexpr int kSmallText = 12;

// Pixels that all figures have in common.
inline constexpr int kEdge = 12;      ///< between words and the figure's edge
inline constexpr int kPlotLeft = 72;  ///< where plots with a y axis begin
inline constexpr int kLine = 17;      ///< between the middles of two lines of words
inline constexpr int kXAxis = 52;     ///< under a plot, for an x axis' numbers and name

/// The colour of a head, the same in every figure of a model with `heads` heads a layer.
std::string_view head_colour(Index layer, Index head, Index heads);
/// A gnuplot dash type that goes with it: another one each time the colours begin anew.
int head_dash(Index layer, Index head, Index heads);

/// "2 layers, 2 heads each, width 64, attention only · repeated sequence, length 48, period 6 to 24 · seed
/// 1", and how many interventions.
std::string run_in_words(const Config& config);
/// The same without the seed: what runs have in common that differ in their seeds.
std::string runs_in_words(const Config& config);
/// "−0.25", with a sign that is as wide as a plus.
std::string in_figures(double value, int decimals = 2);
/// "+0.25", "−0.25" or "0.00".
std::string with_sign(double value, int decimals = 2);

/// How words look.
struct Lettering {
  std::string_view colour = kInk;
  int size = kText;
  bool is_bold = false;
  std::string_view align = "left";  ///< or "center", "right"
  bool is_upright = false;          ///< to be read from the right
};
/// Writes words with the next plot; the middle of their line is at x and y, in pixels from the figure's left
/// and upper edge.
void write(Figure& figure, std::string_view text, double x, double y, const Lettering& lettering = {});

/// Where a plot stands in its figure, in pixels from the left and from the top.
struct Panel {
  int left = 0;
  int right = 0;
  int top = 0;
  int bottom = 0;

  int width() const { return right - left; }
  int height() const { return bottom - top; }
};
/// Makes the next plot stand there, with this y label at the figure's left edge.
void place(Figure& figure, const Panel& panel, std::string_view y_label);
/// Writes below the numbers of its x axis.
void label_x_axis(Figure& figure, const Panel& panel, std::string_view label);
/// Plots, and forgets the words that stood with it.
void plot(Figure& figure, std::string_view command);

/// The smallest of 1, 2 and 5 times a power of ten that cuts `range` into at most so many parts.
double tic_step(double range, double most_parts);
/// Lets the y axis go from low to high, with numbers that have room.
void set_y_axis(Figure& figure, const Panel& panel, double low, double high);
/// Lets the x axis go from step 0 to the last, with numbers that have room; where the last is step 0 too, the
/// axis has this step in its middle.
void set_step_axis(Figure& figure, const Panel& panel, double last_step);
/// gnuplot's style for these values: lines, with a point where there is but one, which makes no line.
std::string_view line_style(const std::vector<double>& values);

}  // namespace tapehead
