#include <spdlog/spdlog.h>

#include <iostream>
#include <nlohmann/json.hpp>

#include "tapehead/app/arguments.h"
#include "tapehead/app/commands.h"
#include "tapehead/base/file.h"
#include "tapehead/report/page.h"
#include "tapehead/report/page_data.h"
#include "tapehead/train/run_directory.h"

namespace tapehead::app {

int report_command(const Words& words) {
  Arguments arguments(
      "report", "Writes a run as one page to explore in a browser: a file that needs no network.", "RUN");
  arguments.options()("o,out", "the page (default: report.html in the run)", cxxopts::value<std::string>(),
                      "FILE");
  arguments.add_threads();
  arguments.epilogue(
      "\nWhat the run's tables do not hold yet is left out of the page, which says what command measures "
      "it.\n");
  if (!arguments.parse(words)) return 0;
  const RunDirectory run = RunDirectory::open(arguments.positional());
  const std::filesystem::path file =
      arguments.has("out") ? std::filesystem::path(arguments.text("out")) : run.page_file();
  const PageData page = page_data(run, arguments.threads());
  replace_file(file, page_text(page.document), "page");
  std::cout << file.string() << "\n";
  for (const std::string& fault : page.faults) spdlog::error("{}", fault);
  return page.faults.empty() ? 0 : 1;
}

}  // namespace tapehead::app
