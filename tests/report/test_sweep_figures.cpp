#include "tapehead/report/sweep_figures.h"

#include "report/drawing.h"
#include "support/folder.h"
#include "support/testing.h"
#include "support/training.h"
#include "tapehead/base/require.h"

using namespace tapehead;
using namespace tapehead::testing;

namespace {

/// A sweep of two runs, of which the first formed.
SweepFolder sweep_at(const std::filesystem::path& path, Index layers, const std::string& more = "",
                     bool forms = true) {
  Config config = tiny_config();
  config.model.layers = layers;
  for (const char* name : {"seed-1", "seed-2"}) {
    const RunDirectory run = RunDirectory::create(path / name, config, false);
    std::ofstream(run.metrics_file()) << "step,tokens,loss,loss_induction,loss_noise,accuracy_induction\n"
                                         "0,0,4.2,4.2,4.2,0.02\n20,30720,4.1,4.0,4.3,0.55\n";
  }
  std::ofstream(path / "sweep.csv") << "run,status,step,formed,half\n"
                                    << (forms ? "seed-1,finished,20,1,20\nseed-2,finished,20,0,\n"
                                              : "seed-1,finished,20,,\nseed-2,finished,20,,\n")
                                    << more;
  return SweepFolder::open(path);
}

std::vector<std::string> names(const DrawnFigures& figures) {
  CHECK(figures.faults.empty());
  std::vector<std::string> names;
  for (const auto& file : figures.files) names.push_back(file.filename().string());
  return names;
}

using Names = std::vector<std::string>;

}  // namespace

TEST_CASE("sweeps side by side have two figures, which name each sweep and what they differ in") {
  const Folder folder;
  const std::vector<SweepFolder> sweeps{sweep_at(folder / "one-layer", 1),
                                        sweep_at(folder / "two-layers", 2, "seed-3,failed,,,\n")};
  CHECK(names(draw_sweeps(sweeps, folder / "out", {.formats = {FigureFormat::svg}})) ==
        Names{"formation.svg", "curves.svg"});
  const std::string formation = contents(folder / "out" / "formation.svg");
  for (const std::string text : {"one-layer", "two-layers", "1 of 2", "the sweeps differ in model.layers",
                                 "1 run is not finished, and left out"}) {
    CAPTURE(text);
    CHECK(contains(formation, text));
  }
  CHECK(contains(contents(folder / "out" / "curves.svg"), "Learning curves of 2 sweeps"));
  CHECK(names(draw_sweeps(sweeps, folder / "out", {.only = {"curves"}, .size = kColumnSize})) ==
        Names{"curves.svg", "curves.png"});
  CHECK(png_size(folder / "out" / "curves.png")[0] == 880);
}

TEST_CASE("curves of one sweep are those of its runs") {
  const Folder folder;
  const std::vector<SweepFolder> sweeps{sweep_at(folder / "sweep", 1)};
  draw_sweeps(sweeps, folder / "out", {.formats = {FigureFormat::svg}});
  CHECK(contains(contents(folder / "out" / "curves.svg"), "Learning curves of 2 runs"));
  CHECK(contains(contents(folder / "out" / "formation.svg"), "1 layer, "));
}

TEST_CASE("sweeps of the same name are told apart by their paths") {
  const Folder folder;
  const std::vector<SweepFolder> sweeps{sweep_at(folder / "a" / "x", 1), sweep_at(folder / "b" / "x", 1)};
  draw_sweeps(sweeps, folder / "out", {.only = {"curves"}, .formats = {FigureFormat::svg}});
  CHECK(contains(contents(folder / "out" / "curves.svg"), "/b/x"));
}

TEST_CASE("where nothing is copied, formation is left out, and a fault when it is asked for") {
  const Folder folder;
  const std::vector<SweepFolder> sweeps{sweep_at(folder / "a", 1), sweep_at(folder / "b", 1, "", false)};
  CHECK(names(draw_sweeps(sweeps, folder / "out")) == Names{"curves.svg", "curves.png"});
  const DrawnFigures asked = draw_sweeps(sweeps, folder / "out", {.only = {"formation"}});
  CHECK(asked.files.empty());
  REQUIRE(asked.faults.size() == 1);
  CHECK(contains(asked.faults.front(),
                 "b has no data for the figure formation: in its task nothing is copied"));
}

TEST_CASE("a grid has a row and a line a setting, and maps where it has two fields") {
  const Folder folder;
  const auto path = folder / "grid";
  std::string rows = "run,setting,model.heads,model.layers,status,step,formed,half\n";
  for (const int heads : {1, 2})
    for (const int layers : {1, 2}) {
      const std::string name = fmt::format("heads={}_layers={}/seed-1", heads, layers);
      Config config = tiny_config();
      config.model.heads = heads;
      config.model.layers = layers;
      const RunDirectory run = RunDirectory::create(path / name, config, false);
      std::ofstream(run.metrics_file())
          << "step,tokens,loss,accuracy_induction\n0,0,4.2,0.02\n20,30,4.1,0.55\n";
      rows += fmt::format("{},,{},{},finished,20,{}\n", name, heads, layers, layers == 2 ? "1,10" : "0,");
    }
  std::ofstream(path / "sweep.csv") << rows;
  std::vector<SweepFolder> sweeps{SweepFolder::open(path)};
  CHECK(names(draw_sweeps(sweeps, folder / "out", {.formats = {FigureFormat::svg}})) ==
        Names{"formation.svg", "phase.svg", "curves.svg"});
  for (const std::string text : {"heads 1, layers 2", "the settings differ in ", "model.heads"}) {
    CAPTURE(text);
    CHECK(contains(contents(folder / "out" / "formation.svg"), text));
  }
  CHECK(contains(contents(folder / "out" / "phase.svg"), "1/1"));
  CHECK(contains(contents(folder / "out" / "curves.svg"), "Learning curves of 4 settings"));
  // Beside another sweep there are no maps, and asked for they are a fault.
  sweeps.push_back(sweep_at(folder / "other", 1));
  CHECK(names(draw_sweeps(sweeps, folder / "out", {.formats = {FigureFormat::svg}})) ==
        Names{"formation.svg", "curves.svg"});
  CHECK(contains(contents(folder / "out" / "formation.svg"), "grid: heads 1, layers 2"));
  const DrawnFigures asked = draw_sweeps(sweeps, folder / "out", {.only = {"phase"}});
  REQUIRE(asked.faults.size() == 1);
  CHECK(contains(asked.faults.front(), "phase is of one sweep whose grid has two or three fields"));
}

TEST_CASE("a sweep that cannot be drawn is a fault, and a name of no figure a wrong call") {
  const Folder folder;
  const std::vector<SweepFolder> sweeps{sweep_at(folder / "a", 1), sweep_at(folder / "b", 2)};
  std::ofstream(folder / "b" / "seed-2" / "metrics.csv") << "step,tokens,loss\n0,0,1e308\n";
  const DrawnFigures drawn = draw_sweeps(sweeps, folder / "out", {.formats = {FigureFormat::svg}});
  CHECK(drawn.files.size() == 1);
  REQUIRE(drawn.faults.size() == 1);
  CHECK(contains(drawn.faults.front(), "got 1e308 as loss"));
  CHECK_THROWS_WITH_AS(
      draw_sweeps(sweeps, folder / "out", {.only = {"curvs"}}),
      doctest::Contains(
          "no figure 'curvs' of sweeps; the nearest is curves, and there are formation, phase, curves"),
      UsageError);
}
