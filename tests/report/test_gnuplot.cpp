#include "tapehead/report/gnuplot.h"

#include <cmath>
#include <cstdlib>
#include <exception>
#include <thread>
#include <vector>

#include "report/drawing.h"
#include "support/testing.h"
#include "tapehead/base/require.h"

using namespace tapehead;
using namespace tapehead::testing;

namespace {

Figure line_figure() {
  Figure figure{"line", 400, 300, {}};
  figure.script.line("set title {}", gnuplot_text("a_b^c {d} @e & f~g \\ 'h' %"));
  figure.script.data("$line", {{0, 1, 2, 3}, {0, 1, std::nan(""), 2}});
  figure.script.line("set datafile missing 'nan'\nplot $line using 1:2 with lines notitle");
  return figure;
}

/// How many files there are, all of them the figure's.
int files_in(const std::filesystem::path& folder) {
  int files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    CHECK(entry.path().stem() == "line");
    ++files;
  }
  return files;
}

/// Sets a variable of the environment as long as it lives.
class Environment {
 public:
  Environment(const char* name, const std::string& value) : name_(name), before_(std::getenv(name)) {
    ::setenv(name, value.c_str(), 1);
  }
  ~Environment() { ::setenv(name_, before_.c_str(), 1); }
  Environment(const Environment&) = delete;
  Environment& operator=(const Environment&) = delete;

 private:
  const char* name_;
  std::string before_;
};

}  // namespace

TEST_CASE("a figure is drawn as SVG with its text and as PNG with twice the pixels") {
  const AwkwardFolder folder;
  const auto files = draw(line_figure(), folder.path() / "figures");
  REQUIRE(files.size() == 2);
  CHECK(files[0] == folder.path() / "figures" / "line.svg");
  CHECK(files[1] == folder.path() / "figures" / "line.png");
  CHECK(png_size(files[1]) == std::array{800, 600});
  const std::string svg = contents(files[0]);
  CHECK(contains(svg, "width=\"400\" height=\"300\""));
  CHECK(contains(svg, "font-family=\"Inter, 'DejaVu Sans', sans-serif\""));
  CHECK_FALSE(contains(svg, "font-family=\"Inter\""));
  CHECK(contains(svg, "a_b^c {d} @e &amp; f~g \\ 'h' %"));
}

TEST_CASE("a PDF is as large as stands well in print, with letters and lines to scale") {
  const AwkwardFolder folder;
  const auto files = draw(line_figure(), folder.path(), {FigureFormat::pdf});
  REQUIRE(files.size() == 1);
  CHECK(files[0] == folder.path() / "line.pdf");
  const std::string pdf = contents(files[0]);
  CHECK(pdf.starts_with("%PDF"));
  // 400 by 300 pixels are 77.3 by 58.0 mm, in whole points.
  CHECK(contains(pdf, "0 0 219 164"));
}

TEST_CASE("a figure is drawn again over the old one, and nothing else is left in the folder") {
  const AwkwardFolder folder;
  draw(line_figure(), folder.path());
  draw(line_figure(), folder.path());
  CHECK(files_in(folder.path()) == 2);
}

TEST_CASE("without gnuplot the error names the package, and no file is left") {
  const AwkwardFolder folder;
  {
    const Environment path("PATH", folder.path().string());
    CHECK_THROWS_WITH_AS(draw(line_figure(), folder.path()),
                         "[figures] there is no gnuplot to draw with; install the Debian package gnuplot-nox "
                         "(the numbers are kept in the run's CSV files)",
                         Error);
  }
  CHECK(std::filesystem::is_empty(folder.path()));
}

TEST_CASE("a script that gnuplot refuses is an error with gnuplot's words, and the old figure stays") {
  const AwkwardFolder folder;
  const std::string before = contents(draw(line_figure(), folder.path()).front());
  Figure wrong = line_figure();
  wrong.script.line("plot nonsense");
  std::string message;
  try {
    draw(wrong, folder.path());
  } catch (const Error& error) {
    message = error.what();
  }
  CHECK(contains(message, "[figures] gnuplot could not draw"));
  CHECK(contains(message, "undefined variable: nonsense"));
  CHECK(contents(folder.path() / "line.svg") == before);
  CHECK(files_in(folder.path()) == 2);
}

TEST_CASE("a figure can be drawn by several at once, each whole, and nothing else is left") {
  const AwkwardFolder folder;
  const std::string alone = contents(draw(line_figure(), folder.path()).front());
  constexpr int kDrawers = 4;
  std::vector<int> failures(kDrawers, 0);
  std::vector<std::thread> drawers;
  for (int drawer = 0; drawer < kDrawers; ++drawer)
    drawers.emplace_back([&folder, &failure = failures[static_cast<std::size_t>(drawer)]] {
      for (int time = 0; time < 3; ++time) try {
          draw(line_figure(), folder.path());
        } catch (const std::exception&) {
          ++failure;
        }
    });
  for (std::thread& drawer : drawers) drawer.join();
  CHECK(failures == std::vector<int>(kDrawers, 0));
  CHECK(files_in(folder.path()) == 2);
  CHECK(contents(folder.path() / "line.svg") == alone);
  CHECK(png_size(folder.path() / "line.png") == std::array{800, 600});
}

TEST_CASE("a figure can be drawn as one file, of the type that its name ends in") {
  const AwkwardFolder folder;
  draw_as(line_figure(), folder.path() / "line.png");
  CHECK(files_in(folder.path()) == 1);
  CHECK(png_size(folder.path() / "line.png") == std::array{800, 600});
  draw_as(line_figure(), folder.path() / "line.svg");
  CHECK(contains(contents(folder.path() / "line.svg"), "width=\"400\" height=\"300\""));
  draw_as(line_figure(), folder.path() / "line.pdf");
  CHECK(contents(folder.path() / "line.pdf").starts_with("%PDF"));
  for (const char* name : {"line", "line.ps", "line.PNG", ".png"})
    CHECK_THROWS_AS(draw_as(line_figure(), folder.path() / name), Error);
  CHECK_THROWS_AS(draw_as(line_figure(), folder.path() / "nowhere" / "line.png"), Error);
  CHECK(files_in(folder.path()) == 3);
}

TEST_CASE("a folder that cannot be made is an error") {
  const AwkwardFolder folder;
  std::ofstream(folder.path() / "file") << "in the way";
  CHECK_THROWS_AS(draw(line_figure(), folder.path() / "file"), Error);
}

TEST_CASE("a user's own gnuplot settings do not show") {
  const AwkwardFolder folder;
  std::ofstream(folder.path() / ".gnuplot") << "set xlabel 'from the settings'\n";
  const Environment home("HOME", folder.path().string());
  CHECK_FALSE(contains(svg_of(line_figure()), "from the settings"));
}

TEST_CASE("a data block holds columns side by side, and nan for what is not finite") {
  GnuplotScript script;
  script.data("$d", {{1, 2.5}, {-INFINITY, 1e-7}});
  CHECK(script.text() == "$d << END\n1 nan \n2.5 1e-07 \nEND\n");
}
