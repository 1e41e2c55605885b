#include "tapehead/report/figures.h"

#include <map>

#include "report/drawing.h"
#include "support/folder.h"
#include "support/testing.h"
#include "tapehead/interp/ablation.h"
#include "tapehead/interp/attribution.h"
#include "tapehead/interp/circuit_tables.h"
#include "tapehead/interp/subsets.h"
#include "tapehead/train/checkpoint.h"
#include "tapehead/train/trainer.h"

using namespace tapehead;
using namespace tapehead::testing;

namespace {

Config small_config() {
  Config config;
  config.model.width = 16;
  config.model.context = config.task.length;
  config.train.steps = 20;
  config.train.evaluation_sequences = 16;
  return config;
}

void write_metrics(const RunDirectory& run) {
  CsvTable metrics({"step", "tokens", "loss", "loss_induction", "loss_noise", "accuracy_induction",
                    "learning_rate", "gradient_norm", "seconds"});
  metrics.add({"0", "0", "4.2", "4.2", "4.2", "0.02", "0.001", "", "0.1"});
  metrics.add({"20", "30720", "4.1", "4.0", "4.3", "0.05", "0.001", "1", "0.2"});
  metrics.write(run.metrics_file());
}

void write_heads(const RunDirectory& run) {
  CsvTable heads({"step", "layer", "head", "previous_token", "induction"});
  for (const char* step : {"0", "20"})
    for (const auto& [layer, head] : {std::pair("0", "0"), {"0", "1"}, {"1", "0"}, {"1", "1"}})
      heads.add({step, layer, head, "0.1", "0.2"});
  heads.write(run.heads_file());
}

std::vector<std::string> names(const std::vector<std::filesystem::path>& files) {
  std::vector<std::string> result;
  for (const auto& file : files) {
    CHECK(std::filesystem::file_size(file) > 1000);
    result.push_back(file.filename().string());
  }
  return result;
}

using Names = std::vector<std::string>;

/// The files of figures that are all drawn without a fault.
std::vector<std::filesystem::path> drawn(const RunDirectory& run) {
  const DrawnFigures figures = draw_figures(run);
  CHECK(figures.faults.empty());
  return figures.files;
}

}  // namespace

TEST_CASE("figures of a run are drawn as far as its data go, in a folder of any name") {
  const AwkwardFolder folder;
  const RunDirectory run = RunDirectory::create(folder.path() / "a run", small_config(), false);
  CHECK(drawn(run).empty());
  CHECK_FALSE(std::filesystem::exists(run.figures_folder()));

  write_metrics(run);
  CHECK(names(drawn(run)) == Names{"loss.svg", "loss.png"});

  write_heads(run);
  const Trainer trainer(run.config(), 1);
  save_checkpoint(run.checkpoint_file(0), run.config(), trainer.model(), trainer.optimizer(), 0);
  ablation_table({Ablation{.removal = {AblationKind::zero, {head_output(0, 0)}}}}, 6, 8)
      .write(run.table_file("ablation"));
  const Circuits circuits = circuits_of(trainer.model());
  composition_table(circuits, 6, 8).write(run.table_file("composition"));
  eigenvalue_table(circuits, 6, 8).write(run.table_file("eigenvalues"));
  attribution_table(attribute_logits(trainer.model(), evaluation_batch(run.config())), 6, 8)
      .write(run.table_file("attribution"));
  const auto files = drawn(run);
  CHECK(names(files) == Names{"loss.svg", "loss.png", "heads.svg", "heads.png", "attention.svg",
                              "attention.png", "ablation.svg", "ablation.png", "composition.svg",
                              "composition.png", "eigenvalues.svg", "eigenvalues.png", "attribution.svg",
                              "attribution.png"});
  CHECK_FALSE(std::filesystem::exists(run.figures_folder() / "shapley.svg"));
  CHECK(png_size(run.figures_folder() / "loss.png")[0] == 1760);
  CHECK(contains(contents(run.figures_folder() / "attention.svg"), "after 0 steps"));

  const LayerSubsets layer{.subsets = {{}, {}}, .heads = {{.share = 1}}};
  shapley_table({layer}, 6, 8).write(run.table_file("shapley"));
  const Names figures = names(drawn(run));
  CHECK(std::ranges::find(figures, "shapley.png") != figures.end());
}

TEST_CASE("curves of several runs have the floors that they share") {
  const Folder folder;
  std::vector<RunDirectory> runs;
  for (const char* name : {"a", "b"}) {
    runs.push_back(RunDirectory::create(folder / name, small_config(), false));
    write_metrics(runs.back());
    put(runs.back().table_file("floors"), "predictor,loss,loss_induction,loss_noise\nBayes,1.5,0.25,4\n");
  }
  const auto drawn_curves = [&] {
    draw_curves(runs, folder / "figures");
    return contents(folder / "figures" / "curves.svg");
  };
  for (const char* floor : {"floor: Bayes 1.50", "floor: Bayes 0.25", "floor: Bayes 4.00"})
    CHECK(contains(drawn_curves(), floor));
  put(runs.back().table_file("floors"), "predictor,loss,loss_induction,loss_noise\nBayes,1.5,0.5,4\n");
  CHECK_FALSE(contains(drawn_curves(), "floor"));
}

TEST_CASE("a table that cannot be read holds up no other figure") {
  const Folder folder;
  const RunDirectory run = RunDirectory::create(folder / "run", small_config(), false);
  write_metrics(run);
  write_heads(run);
  put(run.table_file("ablation"), "kind,loss\nzero\n");
  put(run.table_file("lens"), "layer,loss\n1\n");
  const DrawnFigures figures = draw_figures(run);
  CHECK(names(figures.files) == Names{"loss.svg", "loss.png", "heads.svg", "heads.png"});
  REQUIRE(figures.faults.size() == 2);
  CHECK(contains(figures.faults[0], run.table_file("ablation").string()));
  CHECK(contains(figures.faults[1], run.table_file("lens").string()));

  // One fault of several figures is said once.
  put(run.metrics_file(), "step,tok");
  CHECK(draw_figures(run).files.empty());
  CHECK(draw_figures(run).faults.size() == 3);
}

TEST_CASE("a number too large to be drawn is an error that says what and where") {
  const Folder folder;
  const RunDirectory run = RunDirectory::create(folder / "run", small_config(), false);
  write_metrics(run);
  CHECK(drawn(run).size() == 2);
  const std::string header = "step,tokens,loss,loss_induction,loss_noise,accuracy_induction\n";
  put(run.metrics_file(), header + "0,0,4.2,4.2,4.2,0.02\n20,30720,4.1,-1e308,4.3,0.05\n");
  const std::string message =
      "[figures] expected numbers that can be drawn, got -1e308 as loss_induction in row 2 of " +
      run.metrics_file().string();
  CHECK(draw_figures(run).faults == std::vector<std::string>{message});
  CHECK_THROWS_WITH_AS(draw_curves(std::span(&run, 1), folder / "figures"), message.c_str(), Error);
  // What a run that diverged can have is drawn.
  put(run.metrics_file(), header + "0,0,4.2,4.2,4.2,0.02\n20,30720,3e38,,3e38,0.05\n");
  CHECK(drawn(run).size() == 2);
  CHECK(draw_curves(std::span(&run, 1), folder / "figures").size() == 2);
}

TEST_CASE("figures are drawn by name, in the formats and the size that are asked for") {
  const AwkwardFolder folder;
  const RunDirectory run = RunDirectory::create(folder.path() / "run", small_config(), false);
  write_metrics(run);
  write_heads(run);
  const FigureOptions options{
      .only = {"heads"}, .size = {500, 1300}, .formats = {FigureFormat::pdf, FigureFormat::png}};
  const DrawnFigures figures = draw_figures(run, options);
  CHECK(figures.faults.empty());
  CHECK(names(figures.files) == Names{"heads.pdf", "heads.png"});
  CHECK(png_size(run.figures_folder() / "heads.png") == std::array{1000, 2600});
  CHECK(contents(run.figures_folder() / "heads.pdf").starts_with("%PDF"));

  const DrawnFigures missing = draw_figures(run, {.only = {"shapley", "loss"}});
  CHECK(names(missing.files) == Names{"loss.svg", "loss.png"});
  CHECK(missing.faults ==
        std::vector<std::string>{
            "[figures] " + run.path().string() +
            " has no data for the figure shapley yet; tapehead ablate RUN --subsets makes them"});
  draw_curves(std::span(&run, 1), folder.path(), {.only = {"curves"}, .size = kColumnSize});
  CHECK(png_size(folder.path() / "curves.png")[0] == 880);
}

TEST_CASE("a name that no figure has is a wrong call, with the nearest and all that there are") {
  CHECK_THROWS_WITH_AS(
      require_figure_names({"loss", "hedas"}, 1),
      "[figures] no figure 'hedas' of one run; the nearest is heads, and there are loss, heads, "
      "attention, ablation, shapley, patching, composition, eigenvalues, attribution, lens, "
      "context",
      UsageError);
  CHECK_THROWS_WITH_AS(require_figure_names({"loss"}, 2), doctest::Contains("there is curves"), UsageError);
  CHECK_NOTHROW(require_figure_names({"loss", "lens"}, 1));
  CHECK_NOTHROW(require_figure_names({"curves"}, 2));
}
