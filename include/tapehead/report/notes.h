/// Words at points of a plot over steps, beside its curves rather than upon them.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tapehead/report/style.h"

namespace tapehead {

/// Where words may stand.
struct Spot {
  double right = 0;  ///< pixels from the point that they are about
  double up = 0;
  double before = 0;  ///< the share of them to the left of there: 0, 0.5 or 1
};

/// The room in one plot from step 0 to the last and from 0 to `high`. It keeps out of the way of curves and
/// of its own words, and of nothing else.
class NoteRoom {
 public:
  NoteRoom(const Panel& panel, double last_step, double high);

  /// Goes through the points; those with a value that is missing are passed over.
  void add_curve(const std::vector<double>& steps, const std::vector<double>& values);

  /// Whether the panel is wide enough for the words.
  bool is_wide_enough(std::string_view text) const;
  /// Writes the words in the first of the spots that is free, moved into the panel, or else where it is free
  /// nearest to the point, or else where at least no other words are, or else nowhere; the panel's upper edge
  /// alone may go through them.
  void write(Figure& figure, const std::string& text, double step, double value, std::span<const Spot> spots,
             std::string_view colour);

 private:
  struct Point {
    double x;
    double y;
  };
  struct Box {
    double left;
    double right;
    double bottom;
    double top;
  };
  Point at(double step, double value) const;
  Box box_at(const Point& point, const Spot& spot, double text_width) const;
  bool is_crossed(const Box& box) const;
  bool is_written(const Box& box) const;
  std::optional<Box> nearest_free(const Point& point, double text_width, bool from_curves) const;

  Panel panel_;
  double width_;  // pixels, as of all points and boxes, from the panel's left and lower edge
  double height_;
  double last_step_;
  double high_;
  std::vector<std::vector<Point>> curves_;
  std::vector<Box> written_;
};

}  // namespace tapehead
