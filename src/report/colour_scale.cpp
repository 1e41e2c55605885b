#include "tapehead/report/colour_scale.h"

#include "tapehead/report/lettering.h"

namespace tapehead {

namespace {

// Pixels.
constexpr int kLength = 190;  // of a bar below maps
constexpr int kThickness = 13;
constexpr int kGap = 14;
constexpr int kNameBeside = 64;  // from the bar's left edge to its upright name

void show_bar(Figure& figure, std::string_view direction, double left, int bottom, int width, int height) {
  figure.script.line("set colorbox {} user origin screen {}, screen {} size screen {}, screen {}", direction,
                     left / figure.width, 1 - 1.0 * bottom / figure.height, 1.0 * width / figure.width,
                     1.0 * height / figure.height);
}

void set_numbers(Figure& figure, double tics, std::string_view offset) {
  figure.script.line("set cbtics {} scale 0 font ',{}' format '%g' {} textcolor rgb '{}'", tics, kSmallText,
                     offset, kInk);
}

}  // namespace

void set_share_palette(Figure& figure) {
  figure.script.line(
      "set palette defined (0 '#ffffff', 0.25 '#c6dbef', 0.5 '#6baed6', 0.75 '#2171b5', 1 '#08306b')\n"
      "set cbrange [0:1]");
}

void set_map_ground(Figure& figure) {
  figure.script.line(
      "set object 2 rectangle from graph 0,0 to graph 1,1 behind fillcolor rgb '#ececec' fillstyle solid 1 "
      "noborder");
}

void show_scale_below(Figure& figure, std::string_view name, int left, int top, double tics) {
  write(figure, name, left, top + kThickness / 2.0);
  show_bar(figure, "horizontal", left + text_width(name, kText) + kGap, top + kThickness, kLength,
           kThickness);
  set_numbers(figure, tics, "offset 0,0.5");
}

void show_scale_beside(Figure& figure, std::string_view name, int left, int top, int bottom, double tics) {
  write(figure, name, left + kNameBeside, (top + bottom) / 2.0, {.align = "center", .is_upright = true});
  show_bar(figure, "vertical", left, bottom, kThickness, bottom - top);
  set_numbers(figure, tics, "");
}

}  // namespace tapehead
