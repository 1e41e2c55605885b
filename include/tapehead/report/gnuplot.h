/// Figures drawn by gnuplot. A figure is a script that holds its own data, so no name or path of this machine
/// is ever part of it.
#pragma once

#include <fmt/core.h>

#include <array>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tapehead {

/// A script for gnuplot, written line by line.
class GnuplotScript {
 public:
  template <class... Args>
  void line(fmt::format_string<Args...> format, Args&&... args) {
    text_ += fmt::format(format, std::forward<Args>(args)...);
    text_ += '\n';
  }
  /// Columns of equal length as a data block; names of data blocks begin with `$`. What is not finite is
  /// missing.
  void data(std::string_view name, const std::vector<std::vector<double>>& columns);

  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

/// Text as gnuplot reads it in enhanced mode, in quotes: every character stands for itself.
std::string gnuplot_text(std::string_view text);

/// What to draw. Sizes are in pixels of the SVG; the PNG has twice as many, and the PDF is as large as stands
/// well in print: 440 pixels on 85 mm.
struct Figure {
  std::string name;
  int width = 0;
  int height = 0;
  GnuplotScript script;
};

/// In SVG and PDF text stays text.
enum class FigureFormat { svg, png, pdf };
struct FigureFormatName {
  FigureFormat format;
  std::string_view name;  ///< also what the file's name ends with
};
inline constexpr std::array<FigureFormatName, 3> kFigureFormats{
    {{FigureFormat::svg, "svg"}, {FigureFormat::png, "png"}, {FigureFormat::pdf, "pdf"}}};
inline const std::vector<FigureFormat> kUsualFormats{FigureFormat::svg, FigureFormat::png};

/// Draws it as folder/name.svg and so on, making the folder if need be, and returns the files in the order of
/// the formats. Each takes the place of an older one at once, whoever else draws the same. Throws Error if
/// gnuplot is missing, naming the package to install, or if it fails, with its own words.
std::vector<std::filesystem::path> draw(const Figure& figure, const std::filesystem::path& folder,
                                        const std::vector<FigureFormat>& formats = kUsualFormats);

/// Draws it as this file alone, in the format that its name ends with; throws Error for another ending, and
/// as above.
void draw_as(const Figure& figure, const std::filesystem::path& file);

}  // namespace tapehead
