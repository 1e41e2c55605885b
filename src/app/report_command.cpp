#include <spdlog/spdlog.h>

#include <algorithm>
#include <iostream>

#include "tapehead/app/arguments.h"
#include "tapehead/app/commands.h"
#include "tapehead/app/output_file.h"
#include "tapehead/base/file.h"
#include "tapehead/base/require.h"
#include "tapehead/interp/subsets.h"
#include "tapehead/report/page.h"
#include "tapehead/report/page_data.h"
#include "tapehead/study/sound_table.h"
#include "tapehead/study/table_origin.h"
#include "tapehead/train/run_directory.h"

namespace tapehead::app {

namespace {

/// Whether the run's table is there and tells of its newest checkpoint; one without rows may tell of any.
bool is_measured(const RunDirectory& run, std::string_view table) {
  if (!std::filesystem::exists(run.table_file(table))) return false;
  try {
    const CsvTable there = sound_table(run, table);
    return there.rows() == 0 || there.cell(there.rows() - 1, "step") == std::to_string(run.latest_step());
  } catch (const Error&) {
    return false;
  }
}

/// The calls that make, of the newest checkpoint, the tables that the run has not, each once.
std::vector<CommandLine> missing_measurements(const RunDirectory& run) {
  std::vector<CommandLine> lines;
  for (const std::string_view table : kRunTables) {
    if (table == kSweepTable || is_of_training(table) || is_measured(run, table)) continue;
    for (CommandLine& line : commands_for_table(run, table, CsvTable({})))
      if (std::ranges::find(lines, line) == lines.end()) lines.push_back(std::move(line));
  }
  return lines;
}

/// Every subset of so many heads may take an hour: only by hand.
bool takes_long(const RunDirectory& run, const CommandLine& line) {
  return run.config().model.heads > kDefaultMostHeads && std::ranges::find(line, "--subsets") != line.end();
}

/// Makes them, as by hand. One that cannot be made, as where a model has not learnt to copy, holds up no
/// other.
void measure(const RunDirectory& run) {
  for (const CommandLine& line : missing_measurements(run)) {
    if (takes_long(run, line)) {
      spdlog::warn("left out, since it may take an hour: {}", shell_text({line}));
      continue;
    }
    spdlog::info("{}", shell_text({line}));
    try {
      std::ranges::find(commands(), line.front(), &Command::name)->run({line.begin() + 1, line.end()});
    } catch (const Error& error) {
      spdlog::warn("left out: {}", error.what());
    }
  }
}

/// Throws Error for a file that is no page.
void look_at_page(const std::filesystem::path& file) { document_in(MappedFile(file, "page").bytes()); }

}  // namespace

int report_command(const Words& words) {
  Arguments arguments(
      "report", "Writes a run as one page to explore in a browser: a file that needs no network.", "RUN");
  arguments.options()("o,out", "the page (default: report.html in the run)", cxxopts::value<std::string>(),
                      "FILE");
  arguments.options()(
      "measure",
      "first measure what the run's tables do not hold of its newest checkpoint, printing it as it "
      "comes");
  arguments.add_threads();
  arguments.epilogue(
      "\nWhat the run's tables do not hold is left out of the page, which says what command measures it.\n"
      "Attention is shown at every checkpoint that there is, everything else of the newest one.\n");
  if (!arguments.parse(words)) return 0;
  const RunDirectory run = RunDirectory::open(arguments.positional());
  std::filesystem::path file = run.page_file();
  if (arguments.has("out")) {
    file = arguments.text("out");
    require_writable(file, "--out", {"page", look_at_page});
  }
  if (arguments.flag("measure")) {
    run.require_no_writer();
    measure(run);
  }
  const PageData page = page_data(run, arguments.threads());
  replace_file(file, page_text(page.document), "page");
  std::cout << file.string() << "\n";
  if (!holds_patterns(run.config().model))
    spdlog::info("the page goes without maps of attention: {} holds no patterns (model.attention = tiled)",
                 run.path().string());
  for (const std::string& warning : page.warnings) spdlog::warn("{}; --measure measures it anew", warning);
  for (const std::string& fault : page.faults) spdlog::error("{}", fault);
  return page.faults.empty() ? 0 : 1;
}

}  // namespace tapehead::app
