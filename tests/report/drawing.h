/// For tests of figures: a folder of their own, and what stands in a drawn figure.
#pragma once

#include <unistd.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "tapehead/report/gnuplot.h"

namespace tapehead::testing {

/// A new folder with an awkward name, removed at the end.
class AwkwardFolder {
 public:
  AwkwardFolder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "figures-XXXXXX").string();
    root_ = ::mkdtemp(pattern.data());
    path_ = root_ / "| it's \"Höhe\\n\" $x `y` {z}_1";
    std::filesystem::create_directories(path_);
  }
  ~AwkwardFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(root_, ignored);
  }
  AwkwardFolder(const AwkwardFolder&) = delete;
  AwkwardFolder& operator=(const AwkwardFolder&) = delete;
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path root_;
  std::filesystem::path path_;
};

inline std::string contents(const std::filesystem::path& file) {
  std::ostringstream text;
  text << std::ifstream(file, std::ios::binary).rdbuf();
  return text.str();
}

/// Width and height from the header of a PNG; zeros for another file.
inline std::array<int, 2> png_size(const std::filesystem::path& file) {
  const std::string bytes = contents(file);
  if (bytes.size() < 24 || bytes.substr(1, 3) != "PNG") return {0, 0};
  const auto number = [&](std::size_t at) {
    int value = 0;
    for (std::size_t i = at; i < at + 4; ++i) value = value * 256 + static_cast<unsigned char>(bytes[i]);
    return value;
  };
  return {number(16), number(20)};
}

/// Draws the figure and returns its SVG.
inline std::string svg_of(const Figure& figure) {
  const AwkwardFolder folder;
  return contents(draw(figure, folder.path(), {FigureFormat::svg}).front());
}

/// How often the part stands in the text.
inline int count(const std::string& text, const std::string& part) {
  int times = 0;
  for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at + part.size())) ++times;
  return times;
}

/// How many dots an SVG of gnuplot has.
inline int dots(const std::string& svg) { return count(svg, "href='#gpPt6'"); }

inline bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace tapehead::testing
