#include "tapehead/study/table_origin.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>

#include "tapehead/base/require.h"
#include "tapehead/base/shell_word.h"
#include "tapehead/interp/context_score.h"
#include "tapehead/interp/patching.h"
#include "tapehead/interp/period_scores.h"
#include "tapehead/interp/probe.h"
#include "tapehead/interp/subsets.h"
#include "tapehead/train/config_fields.h"

namespace tapehead {

namespace {

/// What a command line is made of.
struct Subject {
  const RunDirectory& run;
  const CsvTable& there;

  std::string path() const { return run.path().string(); }
  bool is_there() const { return there.rows() > 0; }
  std::string cell(std::string_view column) const { return there.cell(0, column); }

  /// The command, with `--step` and `--sequences` as far as these are not what it takes by itself.
  CommandLine line(std::string command, CommandLine options, Index usual_sequences) const {
    CommandLine line{std::move(command), path()};
    std::ranges::move(options, std::back_inserter(line));
    const auto add = [&](const std::string& column, Index usual) {
      if (is_there() && there.has(column) && cell(column) != std::to_string(usual))
        line.insert(line.end(), {"--" + column, cell(column)});
    };
    add("step", run.latest_step());
    add("sequences", usual_sequences);
    return line;
  }
  CommandLine line(std::string command, CommandLine options = {}) const {
    return line(std::move(command), std::move(options), run.config().train.evaluation_sequences);
  }
};

/// A model that was imported, and not gone on with in a fork, was trained elsewhere.
bool was_trained_here(const RunDirectory& run) {
  return run.config().model.initialisation != Initialisation::imported || run.parent();
}

CommandLine fork_line(const Subject& subject, const Parent& parent, const std::string& out) {
  const std::filesystem::path path = (subject.run.path() / parent.path).lexically_normal();
  CommandLine line{"fork", path.string(), "--step", std::to_string(parent.step)};
  if (RunDirectory::stands_at(path))
    for (const FieldDifference& field : differences(RunDirectory::open(path).config(), subject.run.config()))
      line.insert(line.end(), {"--set", field.name + "=" + field.second});
  line.insert(line.end(), {"--out", out});
  return line;
}

/// Into a folder beside the run, since the run's own is taken.
std::vector<CommandLine> training(const Subject& subject) {
  if (!was_trained_here(subject.run)) return {};
  const std::string beside = (subject.run.path() / "").lexically_normal().parent_path().string() + "-again";
  if (const auto parent = subject.run.parent()) return {fork_line(subject, *parent, beside)};
  return {{"train", (subject.run.path() / "config.toml").string(), "--out", beside}};
}

std::vector<CommandLine> formation(const Subject& subject) {
  if (!task_kind(subject.run.config().task.name).repeats || !was_trained_here(subject.run)) return {};
  return {{"formation", subject.path()}};
}

/// Each period once, in order: those of the table, or those usual ones that the run's sequences have room
/// for.
std::vector<std::string> periods_of(const Subject& subject) {
  std::vector<std::string> periods;
  if (!subject.is_there()) {
    for (const Index period : PeriodOptions{}.periods)
      if (period < subject.run.config().task.length) periods.push_back(std::to_string(period));
    return periods;
  }
  for (Index row = 0; row < subject.there.rows(); ++row)
    if (const std::string& period = subject.there.cell(row, "period");
        std::ranges::find(periods, period) == periods.end())
      periods.push_back(period);
  return periods;
}

std::vector<CommandLine> scores(const Subject& subject) {
  const std::vector<std::string> periods = periods_of(subject);
  if (periods.empty()) return {};
  return {subject.line("heads", {"--periods", fmt::format("{}", fmt::join(periods, ","))})};
}

/// The kinds that stand in the table: all, or the only one.
std::string kind_of(const Subject& subject) {
  if (!subject.is_there()) return "all";
  const std::string first = subject.cell("kind");
  for (Index row = 0; row < subject.there.rows(); ++row)
    if (subject.there.cell(row, "kind") != first) return "all";
  return first;
}

std::vector<CommandLine> ablation(const Subject& subject) {
  return {subject.line("ablate", {"--kind", kind_of(subject)})};
}

std::vector<CommandLine> subsets(const Subject& subject) {
  const Index heads = subject.run.config().model.heads;
  if (heads > kMostSubsetHeads) return {};
  CommandLine options{"--subsets"};
  if (subject.is_there() && kind_of(subject) != "zero")
    options.insert(options.end(), {"--kind", kind_of(subject)});
  if (heads > kDefaultMostHeads) options.insert(options.end(), {"--most-heads", std::to_string(heads)});
  return {subject.line("ablate", std::move(options))};
}

bool is_among(const std::vector<PatchingGrid>& grids, const PatchingGrid& grid) {
  return std::ranges::any_of(grids, [&](const PatchingGrid& other) {
    return other.site == grid.site && other.by == grid.by && other.to.name == grid.to.name;
  });
}

/// One line for the usual grids, if all of them are there or none is, and one for each other grid.
std::vector<CommandLine> patching(const Subject& subject) {
  CommandLine structure;
  if (subject.is_there() && !subject.cell("sequence").empty())
    structure = {"--sequence", subject.cell("sequence")};
  const std::vector<PatchingGrid> usual = usual_grids(subject.run.config().model);
  std::vector<PatchingGrid> grids;
  if (subject.is_there()) grids = grids_of(subject.there, subject.run.config().model);
  const bool has_usual =
      std::ranges::all_of(usual, [&](const PatchingGrid& grid) { return is_among(grids, grid); });
  std::vector<CommandLine> lines;
  if (has_usual || grids.empty()) lines.push_back(subject.line("patch", structure, kPatchingSequences));
  for (const PatchingGrid& grid : grids) {
    if (has_usual && is_among(usual, grid)) continue;
    CommandLine options{"--site", std::string(patch_site_name(grid.site)), "--by",
                        std::string(patch_by_name(grid.by))};
    if (!grid.to.name.empty()) options.insert(options.end(), {"--to", grid.to.name});
    options.insert(options.end(), structure.begin(), structure.end());
    lines.push_back(subject.line("patch", std::move(options), kPatchingSequences));
  }
  return lines;
}

std::vector<CommandLine> circuits(const Subject& subject) { return {subject.line("circuits")}; }

std::vector<CommandLine> lens(const Subject& subject) { return {subject.line("lens")}; }

/// Of all checkpoints, so without --step.
std::vector<CommandLine> context(const Subject& subject) {
  const Index length = subject.run.config().task.length;
  if (length < 2) return {};
  CommandLine line{"context", subject.path()};
  if (!subject.is_there()) return {line};
  const ContextOptions usual = context_options(length, std::nullopt, std::nullopt);
  for (const auto& [option, value] :
       {std::pair<std::string, std::string>{"early", std::to_string(usual.early)},
        {"late", std::to_string(usual.late)},
        {"spread", csv_cell(usual.spread)},
        {"sequences", std::to_string(usual.sequences)}})
    if (subject.cell(option) != value) line.insert(line.end(), {"--" + option, subject.cell(option)});
  return {line};
}

std::vector<CommandLine> verdict(const Subject& subject) {
  const bool could_have_twin = subject.run.config().model.layers > 1;
  const bool without_twin = could_have_twin && subject.is_there() && subject.cell("twin") == "no";
  return {subject.line("verdict", without_twin ? CommandLine{"--no-twin"} : CommandLine{},
                       ProbeOptions{}.sequences)};
}

std::vector<CommandLine> sweep(const Subject& subject) {
  return {{"sweep", (subject.run.path() / "config.toml").string()}};
}

struct Origin {
  std::string_view table;
  std::string_view about;
  std::vector<CommandLine> (*lines)(const Subject& subject);
  bool is_of_heads = false;  ///< so that a model without layers has none
};

constexpr std::array<Origin, kRunTables.size()> kOrigins{{
    {"metrics", "a row an evaluation: losses in nats, accuracy, rates", training},
    {"heads", "a row a head and evaluation: its scores", training, true},
    {"floors", "what the best predictors of a kind lose on the evaluation batch, in nats", training},
    {"formation", "when the heads formed, in steps, and the bump", formation},
    {"scores", "a row a head and period, of the trained and of the untrained model", scores, true},
    {"ablation", "a row an ablation: changes in loss, in nats, and accuracy, with 95 % intervals", ablation,
     true},
    {"subsets", "a row a set of a layer's heads, ablated together", subsets, true},
    {"shapley", "a row a head: its share in what its layer does, in nats", subsets, true},
    {"interactions", "a row a pair of a layer's heads, in nats", subsets, true},
    {"patching", "a row a place that was patched: the share of the answer that it restores", patching, true},
    {"circuits", "a row a head: what its weights do", circuits, true},
    {"composition", "a row a pair of heads and way to compose, beside random matrices", circuits, true},
    {"eigenvalues", "a row an eigenvalue of a head's circuit", circuits, true},
    {"attribution", "a row a component: its part of the right token's logit", circuits, true},
    {"lens", "a row a layer: the losses when the stream is read out there, in nats", lens},
    {"context", "a row a checkpoint and band of positions: its loss, in nats, and the in-context score",
     context},
    {"verdict", "a row a piece of evidence, with its threshold", verdict},
    {"sweep", "a row a run of a sweep", sweep},
}};

const Origin& origin_of(std::string_view name) {
  const auto* found = std::ranges::find(kOrigins, name, &Origin::table);
  ensure(found != kOrigins.end(), "[table] no table of the name {}", name);
  return *found;
}

}  // namespace

std::string_view about_table(std::string_view name) { return origin_of(name).about; }

std::vector<CommandLine> commands_for_table(const RunDirectory& run, std::string_view name,
                                            const CsvTable& there) {
  const Origin& origin = origin_of(name);
  if (run.config().model.layers == 0 && origin.is_of_heads) return {};
  return origin.lines({run, there});
}

std::string shell_text(const std::vector<CommandLine>& lines) {
  std::vector<std::string> commands;
  for (const CommandLine& line : lines) {
    std::string text = "tapehead";
    for (const std::string& word : line) text += " " + (word.starts_with("--") ? word : shell_word(word));
    commands.push_back(std::move(text));
  }
  return fmt::format("{}", fmt::join(commands, " && "));
}

}  // namespace tapehead
