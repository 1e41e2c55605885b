/// The words of an SVG that gnuplot drew, with the room that each takes: for tests that nothing is cut off or
/// stands upon something else.
#pragma once

#include <algorithm>
#include <regex>
#include <string>
#include <vector>

#include "tapehead/report/lettering.h"

namespace tapehead::testing {

struct Words {
  std::string text;
  double left, right, top, bottom;  // pixels
};

inline std::vector<Words> words_in(const std::string& svg) {
  static const std::regex kGroup(
      R"re(<g transform="translate\(([-\d.]+),([-\d.]+)\)( rotate\([-\d.]+\))?"[^>]*font-size="([\d.]+)"\s*text-anchor="(\w+)">\s*<text>(.*)</text>)re");
  static const std::regex kTag("<[^>]*>");
  std::vector<Words> all;
  for (std::sregex_iterator found(svg.begin(), svg.end(), kGroup), end; found != end; ++found) {
    const std::smatch& match = *found;
    std::string text = std::regex_replace(match[6].str(), kTag, "");
    for (const auto& [code, sign] : {std::pair("&amp;", "&"), {"&lt;", "<"}, {"&gt;", ">"}})
      for (auto at = text.find(code); at != std::string::npos; at = text.find(code, at + 1))
        text.replace(at, std::string(code).size(), sign);
    text.erase(0, text.find_first_not_of(' '));
    if (text.empty()) continue;
    const double x = std::stod(match[1]);
    const double y = std::stod(match[2]);
    const double size = std::stod(match[4]);
    const double width = text_width(text, size, match[6].str().find("bold") != std::string::npos);
    const double before = match[5] == "start" ? 0 : match[5] == "middle" ? width / 2 : width;
    // A capital is 0.73 of the letters' size high.
    if (match[3].matched)
      all.push_back({text, x - 0.73 * size, x, y - width + before, y + before});
    else
      all.push_back({text, x - before, x - before + width, y - 0.73 * size, y});
  }
  return all;
}

/// What stands upon other words, and what is cut off by the figure's edges, a line each.
inline std::string faults_of_words(const std::string& svg, double width, double height) {
  constexpr double kTouch = 1;  // pixels that two words may share
  const std::vector<Words> all = words_in(svg);
  std::string faults;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const Words& a = all[i];
    if (a.left < 0 || a.right > width || a.top < 0 || a.bottom > height)
      faults += "cut off: " + a.text + "\n";
    for (std::size_t k = 0; k < i; ++k) {
      const Words& b = all[k];
      if (std::min(a.right, b.right) - std::max(a.left, b.left) > kTouch &&
          std::min(a.bottom, b.bottom) - std::max(a.top, b.top) > kTouch)
        faults += a.text + " | " + b.text + "\n";
    }
  }
  return faults;
}

}  // namespace tapehead::testing
