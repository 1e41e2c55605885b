#include <spdlog/spdlog.h>

#include <algorithm>
#include <iostream>

#include "tapehead/app/arguments.h"
#include "tapehead/app/commands.h"
#include "tapehead/base/file.h"
#include "tapehead/base/require.h"
#include "tapehead/report/page.h"
#include "tapehead/report/page_data.h"
#include "tapehead/study/table_origin.h"
#include "tapehead/train/run_directory.h"

namespace tapehead::app {

namespace {

/// The calls that make, of a trained model, the tables that a run can have and has not yet, each once.
std::vector<CommandLine> missing_measurements(const RunDirectory& run) {
  std::vector<CommandLine> lines;
  for (const std::string_view table : kRunTables) {
    if (table == kSweepTable || std::ranges::find(kTablesOfTraining, table) != kTablesOfTraining.end() ||
        std::filesystem::exists(run.table_file(table)))
      continue;
    for (CommandLine& line : commands_for_table(run, table, CsvTable({})))
      if (std::ranges::find(lines, line) == lines.end()) lines.push_back(std::move(line));
  }
  return lines;
}

/// Makes them, as by hand. One that cannot be made, as where a model has not learnt to copy, holds up no
/// other.
void measure(const RunDirectory& run) {
  for (const CommandLine& line : missing_measurements(run)) {
    spdlog::info("{}", shell_text({line}));
    try {
      std::ranges::find(commands(), line.front(), &Command::name)->run({line.begin() + 1, line.end()});
    } catch (const Error& error) {
      spdlog::warn("left out: {}", error.what());
    }
  }
}

}  // namespace

int report_command(const Words& words) {
  Arguments arguments(
      "report", "Writes a run as one page to explore in a browser: a file that needs no network.", "RUN");
  arguments.options()("o,out", "the page (default: report.html in the run)", cxxopts::value<std::string>(),
                      "FILE");
  arguments.options()("measure", "first make what the run's tables do not hold yet, printing it as it comes");
  arguments.add_threads();
  arguments.epilogue(
      "\nWhat the run's tables do not hold is left out of the page, which says what command measures it. "
      "The\n"
      "page tells of the newest checkpoint; attention is shown at every checkpoint that there is.\n");
  if (!arguments.parse(words)) return 0;
  const RunDirectory run = RunDirectory::open(arguments.positional());
  if (arguments.flag("measure")) measure(run);
  const std::filesystem::path file =
      arguments.has("out") ? std::filesystem::path(arguments.text("out")) : run.page_file();
  const PageData page = page_data(run, arguments.threads());
  replace_file(file, page_text(page.document), "page");
  std::cout << file.string() << "\n";
  for (const std::string& fault : page.faults) spdlog::error("{}", fault);
  return page.faults.empty() ? 0 : 1;
}

}  // namespace tapehead::app
