#include <spdlog/spdlog.h>

#include <algorithm>
#include <charconv>
#include <iostream>
#include <utility>

#include "tapehead/app/arguments.h"
#include "tapehead/app/commands.h"
#include "tapehead/app/loaded_run.h"
#include "tapehead/base/require.h"
#include "tapehead/report/figures.h"
#include "tapehead/report/sweep_figures.h"
#include "tapehead/train/run_directory.h"

namespace tapehead::app {

namespace {

namespace fs = std::filesystem;

/// What stands between commas. Throws UsageError for an empty part.
std::vector<std::string> parts_of(const Arguments& arguments, const std::string& option) {
  std::vector<std::string> parts;
  const std::string list = arguments.text(option);
  for (std::size_t from = 0; from <= list.size(); from += parts.back().size() + 1) {
    parts.push_back(list.substr(from, list.find(',', from) - from));
    if (parts.back().empty())
      throw UsageError(fmt::format("--{}: expected names with commas between them, got '{}'", option, list));
  }
  return parts;
}

std::vector<FigureFormat> formats_of(const Arguments& arguments) {
  std::vector<FigureFormat> formats;
  for (const std::string& part : parts_of(arguments, "format")) {
    const auto found = std::ranges::find(kFigureFormats, part, &FigureFormatName::name);
    if (found == kFigureFormats.end())
      throw UsageError(fmt::format("--format: expected svg, png or pdf, got '{}'", part));
    if (std::ranges::find(formats, found->format) == formats.end()) formats.push_back(found->format);
  }
  return formats;
}

/// One side of a size in pixels.
int pixels_of(std::string_view text, const std::string& size, int least) {
  int pixels = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), pixels);
  if (error != std::errc() || end != text.data() + text.size() || pixels < least ||
      pixels > FigureSize::kMost)
    throw UsageError(fmt::format(
        "--size: expected column, page, WIDTH or WIDTHxHEIGHT, in pixels from {} and {} to {}, got '{}'",
        FigureSize::kLeastWidth, FigureSize::kLeastHeight, FigureSize::kMost, size));
  return pixels;
}

FigureSize size_of(const Arguments& arguments) {
  const std::string size = arguments.text("size");
  if (size == "column") return kColumnSize;
  if (size == "page") return kPageSize;
  const std::string_view sides = size;
  const std::size_t cross = sides.find('x');
  const int width = pixels_of(sides.substr(0, cross), size, FigureSize::kLeastWidth);
  return {width, cross == std::string_view::npos
                     ? 0
                     : pixels_of(sides.substr(cross + 1), size, FigureSize::kLeastHeight)};
}

DrawnFigures plot_run(const RunDirectory& run, const FigureOptions& options) {
  if (!options.only.empty()) return draw_figures(run, options);
  for (const auto& [table, command] :
       {std::pair(run.metrics_file(), "train"), std::pair(run.heads_file(), "train"),
        std::pair(run.table_file("ablation"), "ablate")})
    if (!fs::exists(table) && (run.config().model.layers > 0 || table == run.metrics_file()))
      spdlog::warn("{} is not there, and its figure is left out; tapehead {} makes it", table.string(),
                   command);
  return draw_figures(run, options);
}

/// The innermost folder that all these, runs or sweeps, are in.
template <class Folder>
fs::path folder_of(const std::vector<Folder>& folders) {
  const auto parent = [](const Folder& folder) {
    return (folder.path() / "").lexically_normal().parent_path().parent_path();
  };
  fs::path common = parent(folders.front());
  for (const Folder& folder : folders) {
    fs::path shared;
    const fs::path other = parent(folder);
    for (auto a = common.begin(), b = other.begin(); a != common.end() && b != other.end() && *a == *b;
         ++a, ++b)
      shared /= *a;
    common = shared;
  }
  return common;
}

/// Whether sweeps are to be drawn. Throws UsageError for runs and sweeps together, and for what is neither.
bool are_sweeps(const std::vector<std::string>& paths) {
  std::string run;
  std::string sweep;
  for (const std::string& path : paths) {
    const bool is_run = RunDirectory::stands_at(path);
    if (!is_run && !SweepFolder::stands_at(path))
      throw UsageError(fmt::format(
          "[plot] {} is not a run, and not a sweep: it has no config.toml and no {}.csv", path, kSweepTable));
    (is_run ? run : sweep) = path;
  }
  if (!run.empty() && !sweep.empty())
    throw UsageError(
        fmt::format("[plot] expected runs or sweeps, got both: {} is a run, {} a sweep", run, sweep));
  return run.empty();
}

/// Opens the sweeps that the arguments name; one that is named twice counts once, with a warning.
std::vector<SweepFolder> open_sweeps(const Arguments& arguments) {
  std::vector<SweepFolder> sweeps;
  for (const std::string& path : arguments.positionals()) {
    const auto is_same = [&](const SweepFolder& other) { return fs::equivalent(path, other.path()); };
    if (std::ranges::any_of(sweeps, is_same)) {
      spdlog::warn("{} is named twice, and counts once", path);
      continue;
    }
    sweeps.push_back(SweepFolder::open(path));
    if (const Index unfinished = sweeps.back().unfinished(); unfinished > 0)
      spdlog::warn("{}: {} of its runs {} not finished, and left out", path, unfinished,
                   unfinished == 1 ? "is" : "are");
  }
  return sweeps;
}

DrawnFigures plot_sweeps(const Arguments& arguments, const FigureOptions& options) {
  const std::vector<SweepFolder> sweeps = open_sweeps(arguments);
  const fs::path folder = sweeps.size() == 1 ? sweeps.front().path() : folder_of(sweeps);
  return draw_sweeps(sweeps, arguments.has("out") ? fs::path(arguments.text("out")) : folder / "figures",
                     options);
}

DrawnFigures plot_runs(const Arguments& arguments, const FigureOptions& options) {
  const std::vector<RunDirectory> runs = open_runs(arguments);
  require_figure_names(options.only, runs.size());
  if (runs.size() == 1 && arguments.has("out"))
    throw UsageError(
        "--out goes with several runs, and with sweeps; one run's figures are drawn into the run");
  if (runs.size() == 1) return plot_run(runs.front(), options);
  return {.files = draw_curves(
              runs, arguments.has("out") ? fs::path(arguments.text("out")) : folder_of(runs) / "figures",
              options),
          .faults = {}};
}

std::string epilogue() {
  std::string text = "\nFigures of a run, and what makes the data that they show:\n";
  for (const FigureOfRun& figure : kFiguresOfRun)
    text += fmt::format("  {:<13}tapehead {}\n", figure.name, figure.command);
  return text + fmt::format(
                    "The figure of several runs is {}; figures of sweeps are {}.\n\nThe letters are of the "
                    "same size in every figure. A "
                    "column is {} pixels wide, 85 mm in a PDF,\nand a page {}, 170 mm; without a HEIGHT a "
                    "figure is as high as what it shows needs.\n",
                    kFigureOfRuns, fmt::join(kFiguresOfSweeps, ", "), kColumnSize.width, kPageSize.width);
}

}  // namespace

int plot_command(const Words& words) {
  Arguments arguments("plot",
                      "Draws a run's figures into its folder figures/; of several runs, their curves in one "
                      "figure; of sweeps "
                      "(folders with a sweep.csv), when each one's runs formed, and its curves.",
                      "RUN...");
  arguments.options()("only", "draw these alone, by name, with commas between them",
                      cxxopts::value<std::string>(),
                      "NAMES")("format", "svg, png (twice the pixels) and pdf, with commas between them",
                               cxxopts::value<std::string>()->default_value("svg,png"), "FORMATS")(
      "size", "column or page of a paper, or pixels: WIDTH or WIDTHxHEIGHT",
      cxxopts::value<std::string>()->default_value("page"), "SIZE")(
      "out",
      "where figures of several runs, or of sweeps, go (default: figures/ in the folder that they are in, of "
      "one sweep in its own)",
      cxxopts::value<std::string>(), "DIR");
  arguments.epilogue(epilogue());
  if (!arguments.parse(words)) return 0;
  FigureOptions options{.size = size_of(arguments), .formats = formats_of(arguments)};
  if (arguments.has("only")) options.only = parts_of(arguments, "only");
  const DrawnFigures drawn =
      are_sweeps(arguments.positionals()) ? plot_sweeps(arguments, options) : plot_runs(arguments, options);
  for (const fs::path& figure : drawn.files) std::cout << figure.string() << "\n";
  for (const std::string& fault : drawn.faults) spdlog::error("{}", fault);
  return drawn.faults.empty() ? 0 : 1;
}

}  // namespace tapehead::app
