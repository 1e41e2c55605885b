#include "tapehead/report/notes.h"

#include <algorithm>
#include <cmath>

#include "tapehead/text/utf8.h"

namespace tapehead {

namespace {

// Sizes in pixels.
constexpr double kCharacter = 6.7;  // the mean width of one
constexpr double kLine = 16;        // the height of words, with some room
constexpr double kMargin = 4;       // to the left and the right of words
constexpr double kAbove = 12;       // how far words may stand above the panel

double width_of(std::string_view text) {
  double width = 0;
  for (; !text.empty(); text.remove_prefix(first_character(text).length)) width += kCharacter;
  return width;
}

}  // namespace

NoteRoom::NoteRoom(const Panel& panel, double last_step, double high)
    : width_(panel.right - panel.left),
      height_(panel.bottom - panel.top),
      last_step_(std::max(1.0, last_step)),
      high_(high) {}

NoteRoom::Point NoteRoom::at(double step, double value) const {
  return {width_ * step / last_step_, height_ * value / high_};
}

void NoteRoom::add_curve(const std::vector<double>& steps, const std::vector<double>& values) {
  std::vector<Point> curve;
  for (std::size_t i = 0; i < steps.size(); ++i)
    if (std::isfinite(values[i])) curve.push_back(at(steps[i], values[i]));
  curves_.push_back(std::move(curve));
}

NoteRoom::Box NoteRoom::box_at(const Point& point, const Spot& spot, double text_width) const {
  const double width = text_width + 2 * kMargin;
  const double wanted = point.x + spot.right - spot.before * text_width - kMargin;
  const double left = std::clamp(wanted, 0.0, std::max(0.0, width_ - width));
  const double bottom = std::clamp(point.y + spot.up - kLine / 2, 0.0, height_ + kAbove - kLine);
  return {left, left + width, bottom, bottom + kLine};
}

bool NoteRoom::is_free(const Box& box) const {
  const auto is_crossed = [&](const Point& a, const Point& b) {
    const double from = std::max(a.x, box.left);
    const double to = std::min(b.x, box.right);
    if (from > to) return false;
    const double slope = b.x > a.x ? (b.y - a.y) / (b.x - a.x) : 0;
    const auto [low, high] = std::minmax({a.y + slope * (from - a.x), a.y + slope * (to - a.x)});
    return high >= box.bottom && low <= box.top;
  };
  for (const std::vector<Point>& curve : curves_)
    for (std::size_t i = 1; i < curve.size(); ++i)
      if (is_crossed(curve[i - 1], curve[i])) return false;
  return std::ranges::none_of(written_, [&](const Box& other) {
    return box.left < other.right && other.left < box.right && box.bottom < other.top &&
           other.bottom < box.top;
  });
}

void NoteRoom::write(Figure& figure, int tag, const std::string& text, double step, double value,
                     std::span<const Spot> spots, std::string_view colour) {
  const double text_width = width_of(text);
  std::vector<Box> boxes;
  for (const Spot& spot : spots) boxes.push_back(box_at(at(step, value), spot, text_width));
  const auto found = std::ranges::find_if(boxes, [&](const Box& box) { return is_free(box); });
  const Box& box = found == boxes.end() ? boxes.front() : *found;
  written_.push_back(box);
  figure.script.line("set label {} {} at graph {:.4f}, graph {:.4f} left front font ',13' textcolor rgb '{}'",
                     tag, gnuplot_text(text), (box.left + kMargin) / width_,
                     (box.bottom + kLine / 2) / height_, colour);
}

}  // namespace tapehead
