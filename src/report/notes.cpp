#include "tapehead/report/notes.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "tapehead/report/lettering.h"

namespace tapehead {

namespace {

// Sizes in pixels.
constexpr double kHeight = 17;    // of words, with some room
constexpr double kMargin = 4;     // to the left and the right of words
constexpr double kAbove = 12;     // how far words may stand above the panel
constexpr double kClearance = 6;  // between words and the point that they are about
constexpr double kPace = 4;       // of the search for a free place

}  // namespace

NoteRoom::NoteRoom(const Panel& panel, double last_step, double high)
    : panel_(panel),
      width_(panel.width()),
      height_(panel.height()),
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
  const double bottom = std::clamp(point.y + spot.up - kHeight / 2, 0.0, height_ + kAbove - kHeight);
  return {left, left + width, bottom, bottom + kHeight};
}

bool NoteRoom::is_crossed(const Box& box) const {
  const auto meets = [&](const Point& a, const Point& b) {
    const double from = std::max(a.x, box.left);
    const double to = std::min(b.x, box.right);
    if (from > to) return false;
    const double slope = b.x > a.x ? (b.y - a.y) / (b.x - a.x) : 0;
    const auto [low, high] = std::minmax({a.y + slope * (from - a.x), a.y + slope * (to - a.x)});
    return high >= box.bottom && low <= box.top;
  };
  for (const std::vector<Point>& curve : curves_)
    for (std::size_t i = 1; i < curve.size(); ++i)
      if (meets(curve[i - 1], curve[i])) return true;
  return false;
}

bool NoteRoom::is_written(const Box& box) const {
  return std::ranges::any_of(written_, [&](const Box& other) {
    return box.left < other.right && other.left < box.right && box.bottom < other.top &&
           other.bottom < box.top;
  });
}

bool NoteRoom::is_wide_enough(std::string_view text) const {
  return text_width(text, kText) + 2 * kMargin <= width_;
}

std::optional<NoteRoom::Box> NoteRoom::nearest_free(const Point& point, double text_width,
                                                    bool from_curves) const {
  const double width = text_width + 2 * kMargin;
  std::optional<Box> best;
  double least = std::numeric_limits<double>::infinity();
  for (double bottom = 0; bottom + kHeight <= height_ + kAbove; bottom += kPace)
    for (double left = 0; left + width <= width_; left += kPace) {
      const Box box{left, left + width, bottom, bottom + kHeight};
      const double right = std::max({box.left - point.x, point.x - box.right, 0.0});
      const double up = std::max({box.bottom - point.y, point.y - box.top, 0.0});
      const double distance = std::hypot(right, up);
      if (distance < kClearance || distance >= least || is_written(box)) continue;
      if (from_curves && is_crossed(box)) continue;
      least = distance;
      best = box;
    }
  return best;
}

void NoteRoom::write(Figure& figure, const std::string& text, double step, double value,
                     std::span<const Spot> spots, std::string_view colour) {
  const double words = text_width(text, kText);
  const Point point = at(step, value);
  std::optional<Box> box;
  for (const Spot& spot : spots)
    if (const Box wanted = box_at(point, spot, words); !box && !is_crossed(wanted) && !is_written(wanted))
      box = wanted;
  if (!box) box = nearest_free(point, words, true);
  if (!box) box = nearest_free(point, words, false);
  if (!box) return;
  written_.push_back(*box);
  tapehead::write(figure, text, panel_.left + box->left + kMargin, panel_.bottom - box->bottom - kHeight / 2,
                  {.colour = colour});
}

}  // namespace tapehead
