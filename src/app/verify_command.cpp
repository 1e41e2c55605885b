#include <fmt/format.h>

#include <algorithm>
#include <iostream>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>

#include "tapehead/app/arguments.h"
#include "tapehead/app/commands.h"
#include "tapehead/app/interrupt.h"
#include "tapehead/app/json.h"
#include "tapehead/app/progress.h"
#include "tapehead/app/table.h"
#include "tapehead/base/require.h"
#include "tapehead/base/shell_word.h"
#include "tapehead/report/page_check.h"
#include "tapehead/study/verify.h"

namespace tapehead::app {

namespace {

constexpr std::size_t kMostShown = 10;  // differences of one table

/// What did not come out, in numbers.
struct Outcome {
  std::size_t differences = 0;
  std::size_t failures = 0;

  bool is_whole() const { return differences + failures == 0; }
};

Outcome outcome_of(const std::vector<Verified>& all) {
  Outcome outcome;
  for (const Verified& verified : all) {
    outcome.differences += verified.differences.size();
    outcome.failures += verified.failure.empty() ? 0 : 1;
  }
  return outcome;
}

/// Then the page was drawn of other tables than those that are there.
bool only_the_page_differs(const std::vector<Verified>& all) {
  const Outcome page = outcome_of({all.back()});
  const Outcome outcome = outcome_of(all);
  return all.back().what == kPageFile && outcome.failures == 0 && page.differences > 0 &&
         page.differences == outcome.differences;
}

/// "3 numbers of runs/a are not what ...; 1 table cannot be recomputed"
std::string in_words(const RunDirectory& run, const Outcome& outcome) {
  std::vector<std::string> parts;
  if (const std::size_t n = outcome.differences; n > 0)
    parts.push_back(fmt::format("{} number{} of {} {} not what its config, seeds and checkpoints give", n,
                                n == 1 ? "" : "s", run.path().string(), n == 1 ? "is" : "are"));
  if (const std::size_t n = outcome.failures; n > 0)
    parts.push_back(
        fmt::format("{} file{} of {} cannot be recomputed", n, n == 1 ? "" : "s", run.path().string()));
  return fmt::format("{}", fmt::join(parts, "; "));
}

void print_json(const RunDirectory& run, const std::vector<Verified>& all, const Outcome& outcome) {
  nlohmann::ordered_json document{
      {"run", run.path().string()}, {"differences", outcome.differences}, {"failures", outcome.failures}};
  for (const Verified& verified : all) {
    nlohmann::ordered_json entry{{"what", verified.what}, {"compared", verified.cells}};
    entry["differences"] = nlohmann::ordered_json::array();
    for (const Difference& d : verified.differences)
      entry["differences"].push_back(
          {{"place", d.place}, {"stands", d.stands}, {"recomputed", d.recomputed}});
    if (!verified.left_out.empty()) entry["left_out"] = verified.left_out;
    if (!verified.failure.empty()) entry["failure"] = verified.failure;
    document["verified"].push_back(std::move(entry));
  }
  std::cout << json_text(document);
}

void print_differences(const Verified& verified) {
  for (std::size_t i = 0; i < std::min(kMostShown, verified.differences.size()); ++i) {
    const Difference& d = verified.differences[i];
    std::cout << fmt::format("\n{}: {}: '{}' stands there, '{}' comes out", verified.what, d.place, d.stands,
                             d.recomputed);
  }
  if (verified.differences.size() > kMostShown)
    std::cout << fmt::format("\n{}: and {} more", verified.what, verified.differences.size() - kMostShown);
}

/// Every reason once, with all that it concerns.
void print_failures(const std::vector<Verified>& all) {
  std::map<std::string, std::vector<std::string>> concerned;
  for (const Verified& verified : all)
    if (!verified.failure.empty()) concerned[verified.failure].push_back(verified.what);
  for (const auto& [failure, files] : concerned)
    std::cout << fmt::format("\ncannot be recomputed: {}: {}", fmt::join(files, ", "), failure);
}

void print_table(const RunDirectory& run, const std::vector<Verified>& all, const Outcome& outcome) {
  TextTable table({"what", "compared", "different", "left out"});
  for (const Verified& verified : all)
    table.add({verified.what, grouped(verified.cells),
               verified.failure.empty() ? grouped(static_cast<Index>(verified.differences.size())) : "all",
               verified.left_out});
  std::cout << fmt::format("{}: trained again, and recomputed from its checkpoints\n\n{}",
                           run.path().string(), table.text());
  for (const Verified& verified : all) print_differences(verified);
  print_failures(all);
  const bool all_was = std::ranges::all_of(all, [](const Verified& v) { return v.left_out.empty(); });
  std::cout << (!outcome.is_whole() ? "\n"
                : all_was           ? "\nEvery number is what comes out.\n"
                                    : "\nEvery number that was compared is what comes out.\n");
}

Verified verified_page(const RunDirectory& run, const VerifyOptions& options) {
  try {
    return verify_page(run, options);
  } catch (const Error& error) {
    return {.what = std::string(kPageFile), .failure = error.what()};
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
  const Outcome outcome = outcome_of(all);
  arguments.flag("json") ? print_json(run, all, outcome) : print_table(run, all, outcome);
  std::cout.flush();
  if (only_the_page_differs(all))
    throw Error(
        fmt::format("[verify] {} shows other numbers than the run's tables, which are what comes out; "
                    "`tapehead report {}` draws it anew",
                    run.page_file().string(), shell_word(run.path().string())));
  if (!outcome.is_whole()) throw Error("[verify] " + in_words(run, outcome));
  return 0;
}

}  // namespace tapehead::app
