#include "tapehead/report/gnuplot.h"

#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <memory>

#include "tapehead/base/file.h"
#include "tapehead/base/require.h"
#include "tapehead/report/glyphs.h"

extern char** environ;

namespace tapehead {

namespace {

namespace fs = std::filesystem;

constexpr int kFontSize = 14;  // pixels
// A pixel in print.
constexpr double kCentimetres = 8.5 / 440;
constexpr double kPoints = kCentimetres / 2.54 * 72;

struct CloseFile {
  void operator()(std::FILE* file) const { std::fclose(file); }
};
using TemporaryFile = std::unique_ptr<std::FILE, CloseFile>;

/// A file without a name, gone when closed.
TemporaryFile temporary_file() {
  TemporaryFile file(std::tmpfile());
  require(file != nullptr, "[figures] cannot make a temporary file: {}", std::strerror(errno));
  return file;
}

TemporaryFile temporary_file_with(const std::string& text) {
  TemporaryFile file = temporary_file();
  require(std::fwrite(text.data(), 1, text.size(), file.get()) == text.size() &&
              std::fflush(file.get()) == 0 && std::fseek(file.get(), 0, SEEK_SET) == 0,
          "[figures] cannot write a temporary file: {}", std::strerror(errno));
  return file;
}

std::string contents(std::FILE* file) {
  std::rewind(file);
  std::string text;
  for (int c = std::fgetc(file); c != EOF; c = std::fgetc(file)) text += static_cast<char>(c);
  return text;
}

/// Where a program's three streams go.
class Streams {
 public:
  Streams(std::FILE* input, std::FILE* output, std::FILE* errors) {
    posix_spawn_file_actions_init(&actions_);
    posix_spawn_file_actions_adddup2(&actions_, fileno(input), STDIN_FILENO);
    posix_spawn_file_actions_adddup2(&actions_, fileno(output), STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&actions_, fileno(errors), STDERR_FILENO);
  }
  ~Streams() { posix_spawn_file_actions_destroy(&actions_); }
  Streams(const Streams&) = delete;
  Streams& operator=(const Streams&) = delete;
  const posix_spawn_file_actions_t* actions() const { return &actions_; }

 private:
  posix_spawn_file_actions_t actions_;
};

/// What gnuplot draws with no settings but the script's, for `file`, which only its complaint names. Until it
/// is whole it has no name, so that nothing is left of it, and nobody else can draw into it.
std::string run_gnuplot(const std::string& script, const fs::path& file) {
  const TemporaryFile input = temporary_file_with(script);
  const TemporaryFile output = temporary_file();
  const TemporaryFile errors = temporary_file();
  const Streams streams(input.get(), output.get(), errors.get());

  std::string program = "gnuplot";
  std::string plain = "--default-settings";
  char* arguments[] = {program.data(), plain.data(), nullptr};
  pid_t child = 0;
  const int failure = posix_spawnp(&child, program.c_str(), streams.actions(), nullptr, arguments, environ);
  require(
      failure != ENOENT && failure != EACCES,
      "[figures] there is no gnuplot to draw with; install the Debian package gnuplot-nox (the numbers are "
      "kept in the run's CSV files)");
  require(failure == 0, "[figures] cannot start gnuplot: {}", std::strerror(failure));
  int status = 0;
  while (waitpid(child, &status, 0) < 0)
    require(errno == EINTR, "[figures] lost sight of gnuplot: {}", std::strerror(errno));
  std::string complaint = contents(errors.get());
  if (WIFSIGNALED(status)) complaint += fmt::format("it crashed (signal {})", WTERMSIG(status));
  std::string drawn = contents(output.get());
  require(WIFEXITED(status) && WEXITSTATUS(status) == 0 && !drawn.empty(),
          "[figures] gnuplot could not draw {}: {}", file.string(), complaint);
  return drawn;
}

/// Whoever has no Inter gets the next best sans-serif, in browsers as in PNGs.
void name_fallback_fonts(std::string& svg) {
  const std::string named = "font-family=\"Inter\"";
  const std::string with_fallback = "font-family=\"Inter, 'DejaVu Sans', sans-serif\"";
  for (auto at = svg.find(named); at != std::string::npos; at = svg.find(named, at)) {
    svg.replace(at, named.size(), with_fallback);
    at += with_fallback.size();
  }
}

/// gnuplot's terminal for a figure in that format.
std::string terminal(const Figure& figure, FigureFormat format) {
  switch (format) {
    case FigureFormat::svg:
      return fmt::format("svg enhanced size {},{} font 'Inter,{}' background rgb '#ffffff'", figure.width,
                         figure.height, kFontSize);
    case FigureFormat::png:
      // A unit of pngcairo's font sizes is 4/3 pixels.
      return fmt::format(
          "pngcairo enhanced size {},{} font 'Inter,{}' fontscale 1.5 linewidth 2 pointscale 2 background "
          "rgb "
          "'#ffffff'",
          2 * figure.width, 2 * figure.height, kFontSize);
    case FigureFormat::pdf:
      break;
  }
  // A unit of pdfcairo's font sizes is 4/3 points, one of its line widths half a point.
  return fmt::format(
      "pdfcairo enhanced size {:.4f}cm,{:.4f}cm font 'Inter,{}' fontscale {:.5f} linewidth {:.5f} pointscale "
      "{:.5f} background rgb '#ffffff'",
      figure.width * kCentimetres, figure.height * kCentimetres, kFontSize, 0.75 * kPoints, 2 * kPoints,
      kPoints);
}

}  // namespace

void GnuplotScript::data(std::string_view name, const std::vector<std::vector<double>>& columns) {
  line("{} << END", name);
  for (std::size_t row = 0; !columns.empty() && row < columns.front().size(); ++row) {
    std::string text;
    for (const auto& column : columns)
      text += std::isfinite(column[row]) ? fmt::format("{} ", column[row]) : "nan ";
    line("{}", text);
  }
  line("END");
}

std::string gnuplot_text(std::string_view text) {
  std::string result = "'";
  for (const char c : text) {
    if (c == '\'') {
      result += "''";
      continue;
    }
    if (std::string_view(R"(\{}^_@&~)").find(c) != std::string_view::npos) result += '\\';
    result += c;
  }
  return result + "'";
}

std::vector<fs::path> draw(const Figure& figure, const fs::path& folder,
                           const std::vector<FigureFormat>& formats) {
  std::error_code failure;
  fs::create_directories(folder, failure);
  require(!failure, "[figures] cannot make the folder {}: {}", folder.string(), failure.message());
  std::vector<fs::path> files;
  for (const FigureFormat format : formats) {
    const auto* name = std::ranges::find(kFigureFormats, format, &FigureFormatName::format);
    files.push_back(folder / fmt::format("{}.{}", figure.name, name->name));
    draw_as(figure, files.back());
  }
  return files;
}

void draw_as(const Figure& figure, const fs::path& file) {
  const auto* found = std::ranges::find_if(kFigureFormats, [&](const FigureFormatName& format) {
    return file.extension() == fmt::format(".{}", format.name);
  });
  require(found != kFigureFormats.end(), "[figures] expected a file that ends in .svg, .png or .pdf, got {}",
          file.string());
  const bool is_svg = found->format == FigureFormat::svg;
  // Whoever shows an SVG has fonts of their own.
  const std::string script = is_svg ? figure.script.text() : with_known_glyphs(figure.script.text());
  std::string content = run_gnuplot(
      fmt::format("set encoding utf8\nset terminal {}\n{}", terminal(figure, found->format), script), file);
  if (is_svg) name_fallback_fonts(content);
  replace_file(file, content, "figures");
}

}  // namespace tapehead
