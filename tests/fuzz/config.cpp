/// Any text is a config or is refused with a UsageError, also under overrides. A config is the same after it
/// was saved and read again.
#include "tapehead/train/config.h"

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "fuzz/target.h"

namespace tapehead {

namespace {

/// A line that begins so is an override; the others are the file.
constexpr std::string_view kOverride = "--set ";

std::optional<Config> parse(std::string_view lines) {
  std::string text;
  std::vector<std::string> overrides;
  while (!lines.empty()) {
    const std::string_view line = lines.substr(0, std::min(lines.find('\n'), lines.size() - 1) + 1);
    lines.remove_prefix(line.size());
    if (!line.starts_with(kOverride))
      text += line;
    else
      overrides.emplace_back(line.substr(kOverride.size(), line.find('\n') - kOverride.size()));
  }
  try {
    return parse_config(text, "fuzz.toml", overrides);
  } catch (const UsageError&) {
    return std::nullopt;
  }
}

void take_config(std::string_view lines) {
  const std::optional<Config> config = parse(lines);
  if (!config) return;
  ensure(parse_config(to_toml(*config), "again.toml") == *config,
         "[fuzz] a config changed when it was saved and read again");
}

}  // namespace

// Two characters can be one more table inside a table, which toml++ makes much of. A config is short, though.
FUZZ_TARGET(config, 150, take_config)

}  // namespace tapehead
