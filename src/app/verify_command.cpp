#include <algorithm>
#include <iostream>
#include <nlohmann/json.hpp>
#include <optional>

#include "tapehead/app/arguments.h"
#include "tapehead/app/commands.h"
#include "tapehead/app/interrupt.h"
#include "tapehead/app/json.h"
#include "tapehead/app/progress.h"
#include "tapehead/app/table.h"
#include "tapehead/base/require.h"
#include "tapehead/report/page_check.h"
#include "tapehead/study/verify.h"

namespace tapehead::app {

namespace {

constexpr std::size_t kMostShown = 10;  // differences of one table

void print_json(const RunDirectory& run, const std::vector<Verified>& all, std::size_t differences) {
  nlohmann::ordered_json document{{"run", run.path().string()}, {"differences", differences}};
  for (const Verified& verified : all) {
    nlohmann::ordered_json entry{{"what", verified.what}, {"compared", verified.cells}};
    entry["differences"] = nlohmann::ordered_json::array();
    for (const Difference& d : verified.differences)
      entry["differences"].push_back(
          {{"place", d.place}, {"stands", d.stands}, {"recomputed", d.recomputed}});
    if (!verified.left_out.empty()) entry["left_out"] = verified.left_out;
    document["verified"].push_back(std::move(entry));
  }
  std::cout << json_text(document);
}

void print_table(const RunDirectory& run, const std::vector<Verified>& all, std::size_t differences) {
  TextTable table({"what", "compared", "different", "left out"});
  for (const Verified& verified : all)
    table.add({verified.what, grouped(verified.cells),
               grouped(static_cast<Index>(verified.differences.size())), verified.left_out});
  std::cout << fmt::format("{}: trained again, and recomputed from its checkpoints\n\n{}",
                           run.path().string(), table.text());
  for (const Verified& verified : all) {
    for (std::size_t i = 0; i < std::min(kMostShown, verified.differences.size()); ++i) {
      const Difference& d = verified.differences[i];
      std::cout << fmt::format("\n{}: {}: '{}' stands there, '{}' comes out", verified.what, d.place,
                               d.stands, d.recomputed);
    }
    if (verified.differences.size() > kMostShown)
      std::cout << fmt::format("\n{}: and {} more", verified.what, verified.differences.size() - kMostShown);
  }
  const bool all_was = std::ranges::all_of(all, [](const Verified& v) { return v.left_out.empty(); });
  std::cout << (differences > 0 ? "\n"
                : all_was       ? "\nEvery number is what comes out.\n"
                                : "\nEvery number that was compared is what comes out.\n");
}

/// A page that cannot be compared is one difference.
Verified verified_page(const RunDirectory& run, const VerifyOptions& options) {
  try {
    return verify_page(run, options);
  } catch (const Error& error) {
    return {std::string(kPageFile), 0, {{"the whole page", "numbers", error.what()}}};
  }
}

}  // namespace

int verify_command(const Words& words) {
  Arguments arguments(
      "verify", "Trains a run again and recomputes its tables: fails on any number that differs.", "RUN");
  arguments.options()("tolerance",
                      "how far numbers may differ, as a share (default: not at all; a run of another machine "
                      "may need 1e-4)",
                      cxxopts::value<std::string>(), "X");
  arguments.add_threads();
  arguments.add_json();
  if (!arguments.parse(words)) return 0;
  const RunDirectory run = RunDirectory::open(arguments.positional());
  const Config& config = run.config();
  watch_for_interrupt();
  std::optional<Progress> progress;
  VerifyOptions options{.threads = arguments.threads(), .should_stop = interrupt_wished};
  if (arguments.has("tolerance")) options.tolerance = arguments.positive("tolerance");
  options.stepped = [&](Index step, double loss) {
    if (!progress) progress.emplace(step - 1, config.train.steps, config.train.batch * config.task.length);
    progress->update(step, loss);
  };
  std::vector<Verified> all = verify(run, options);
  progress.reset();
  if (std::filesystem::exists(run.page_file())) all.push_back(verified_page(run, options));
  std::size_t differences = 0;
  for (const Verified& verified : all) differences += verified.differences.size();
  arguments.flag("json") ? print_json(run, all, differences) : print_table(run, all, differences);
  std::cout.flush();
  if (differences > 0)
    throw Error(fmt::format("[verify] {} number{} of {} {} not what its config, seeds and checkpoints give",
                            differences, differences == 1 ? "" : "s", run.path().string(),
                            differences == 1 ? "is" : "are"));
  return 0;
}

}  // namespace tapehead::app
