#include "tapehead/app/arguments.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <iostream>

#include "tapehead/base/parallel.h"
#include "tapehead/base/require.h"

namespace tapehead::app {

namespace {

/// cxxopts quotes names with typographic marks; errors here use plain ones.
std::string plain_quotes(std::string text) {
  for (const std::string_view mark : {"\u2018", "\u2019"})
    for (std::size_t at = text.find(mark); at != std::string::npos; at = text.find(mark))
      text.replace(at, mark.size(), "'");
  return text;
}

Index whole_number(const std::string& option, std::string_view text, Index least) {
  Index value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool is_whole = end == text.data() + text.size();
  if (is_whole && error == std::errc::result_out_of_range && !text.starts_with('-'))
    throw UsageError(fmt::format("--{}: {} is too large", option, text));
  if (error != std::errc() || !is_whole || value < least)
    throw UsageError(
        fmt::format("--{}: expected a whole number of at least {}, got '{}'", option, least, text));
  return value;
}

}  // namespace

Arguments::Arguments(const std::string& command, const std::string& summary, const std::string& positional)
    : command_(command), positional_(positional), options_("tapehead " + command, summary) {
  options_.add_options()("h,help", "show this help");
  if (positional.empty()) return;
  options_.add_options("positional")(kPositional, "", cxxopts::value<std::vector<std::string>>());
  options_.parse_positional({kPositional});
  options_.positional_help(positional);
  options_.custom_help("[OPTION...]");
}

bool Arguments::parse(const std::vector<std::string>& words) {
  std::vector<const char*> argv{command_.c_str()};
  for (const std::string& word : words) argv.push_back(word.c_str());
  try {
    result_ = options_.parse(static_cast<int>(argv.size()), argv.data());
  } catch (const cxxopts::exceptions::exception& error) {
    throw UsageError(fmt::format("{}; see tapehead {} --help", plain_quotes(error.what()), command_));
  }
  if (has("help")) {
    std::cout << options_.help({""}) << epilogue_;
    return false;
  }
  std::vector<std::string> surplus = result_.unmatched();
  if (has_positional() && !positional_.ends_with("...")) {
    const auto given = result_[kPositional].as<std::vector<std::string>>();
    surplus.insert(surplus.end(), given.begin() + 1, given.end());
  }
  if (!surplus.empty())
    throw UsageError(
        fmt::format("'{}' is one argument too many; see tapehead {} --help", surplus.front(), command_));
  return true;
}

std::string Arguments::text(const std::string& option) const {
  if (result_.count(option) > 1) throw UsageError(fmt::format("--{} was given more than once", option));
  return result_[option].as<std::string>();
}

std::vector<std::string> Arguments::texts(const std::string& option) const {
  return has(option) ? result_[option].as<std::vector<std::string>>() : std::vector<std::string>{};
}

Index Arguments::number(const std::string& option, Index least) const {
  return whole_number(option, text(option), least);
}

double Arguments::real(const std::string& option) const {
  const std::string word = text(option);
  double value = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (error != std::errc() || end != word.data() + word.size() || !std::isfinite(value))
    throw UsageError(fmt::format("--{}: expected a number, got '{}'", option, word));
  return value;
}

double Arguments::positive(const std::string& option) const {
  const double value = real(option);
  if (!(value > 0))
    throw UsageError(fmt::format("--{}: expected a number above 0, got '{}'", option, text(option)));
  return value;
}

std::vector<Index> Arguments::numbers(const std::string& option, Index least) const {
  std::vector<Index> values;
  const std::string list = text(option);
  std::string_view rest = list;
  for (;;) {
    const std::size_t comma = rest.find(',');
    values.push_back(whole_number(option, rest.substr(0, comma), least));
    if (comma == std::string_view::npos) return values;
    rest.remove_prefix(comma + 1);
  }
}

std::vector<Index> Arguments::distinct_numbers(const std::string& option, Index least) const {
  std::vector<Index> values = numbers(option, least);
  std::ranges::sort(values);
  values.erase(std::unique(values.begin(), values.end()), values.end());
  return values;
}

std::string Arguments::positional() const { return positionals().front(); }

std::vector<std::string> Arguments::positionals() const {
  if (!has_positional())
    throw UsageError(fmt::format("{} is missing; see tapehead {} --help",
                                 positional_.substr(0, positional_.find("...")), command_));
  return result_[kPositional].as<std::vector<std::string>>();
}

void Arguments::add_threads(const std::string& remark) {
  options()("threads", "how many threads; " + remark + " (default: all cores, shared out over ranks)",
            cxxopts::value<std::string>(), "N");
}

void Arguments::add_json() { options()("json", "print one JSON document instead of a table"); }

int Arguments::threads() const {
  constexpr Index most = 1024;
  if (!has("threads")) return Ranks::of_this_job().threads_each();
  const Index threads = number("threads", 1);
  if (threads > most) throw UsageError(fmt::format("--threads: expected at most {}, got {}", most, threads));
  return static_cast<int>(threads);
}

}  // namespace tapehead::app
