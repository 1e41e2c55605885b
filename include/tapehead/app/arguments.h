/// The words after a command's name, read by cxxopts. Everything wrong with them is a UsageError.
#pragma once

#include <cxxopts.hpp>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "tapehead/base/number.h"
#include "tapehead/base/ranks.h"

namespace tapehead::app {

/// One command's options, and what it takes without a dash.
class Arguments {
 public:
  /// `positional` names the argument without a dash, as in "RUN"; as in "RUN..." there may be several; empty
  /// if there is none.
  Arguments(const std::string& command, const std::string& summary, const std::string& positional);

  /// Adds options as cxxopts does: arguments.options()("json", "one JSON document", cxxopts::value<bool>()).
  cxxopts::OptionAdder options() { return options_.add_options(); }
  /// Text printed by --help after the options.
  void epilogue(std::string text) { epilogue_ = std::move(text); }

  /// Reads the words. Returns false after printing help, when that was asked for. Throws UsageError for an
  /// unknown option, a missing value, a value of another type, or a word too many.
  bool parse(const std::vector<std::string>& words);

  bool has(const std::string& option) const { return result_.count(option) > 0; }
  bool flag(const std::string& option) const { return result_[option].as<bool>(); }
  /// Throws UsageError if the option was given more than once.
  std::string text(const std::string& option) const;
  std::vector<std::string> texts(const std::string& option) const;
  /// A whole number of at least `least`. Throws UsageError for anything else.
  Index number(const std::string& option, Index least) const;
  /// A number. Throws UsageError for anything else.
  double real(const std::string& option) const;
  /// A number above 0. Throws UsageError for anything else.
  double positive(const std::string& option) const;
  /// Whole numbers with commas between them, each at least `least`.
  std::vector<Index> numbers(const std::string& option, Index least) const;
  /// The same in growing order, each once.
  std::vector<Index> distinct_numbers(const std::string& option, Index least) const;
  /// The argument without a dash; throws UsageError if it was not given.
  std::string positional() const;
  /// All of them, at least one; throws UsageError as positional().
  std::vector<std::string> positionals() const;
  bool has_positional() const { return has(kPositional); }
  /// The value of --threads: by default as many as run at once, shared out over the ranks on this machine.
  int threads() const;
  /// These threads, and the ranks of this job.
  Workers workers() const { return {threads(), Ranks::of_this_job()}; }
  void add_threads(const std::string& remark = "the results do not depend on it");
  void add_json();

 private:
  static constexpr const char* kPositional = "positional";

  std::string command_;
  std::string positional_;
  std::string epilogue_;
  cxxopts::Options options_;
  cxxopts::ParseResult result_;
};

}  // namespace tapehead::app
