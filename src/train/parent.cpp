#include "tapehead/train/parent.h"

#include <fmt/format.h>

#include <fstream>
#include <iterator>

#include "tapehead/base/file.h"
#include "tapehead/base/require.h"
#include "tapehead/train/field_value.h"
#include "tapehead/train/toml.h"

namespace tapehead {

namespace {

constexpr std::string_view kComment =
    "# This run goes on from a checkpoint of another: the run at `path`, as seen from this folder, after\n"
    "# `step`. The rows of metrics.csv and heads.csv up to there are that run's, under its config.toml.\n";

}  // namespace

void write_parent(const std::filesystem::path& file, const Parent& parent) {
  if (!admits(Allowed{}, parent.path))
    throw UsageError(
        "[fork] the path of the run cannot be written down: expected text in UTF-8 without "
        "control characters");
  replace_file(file,
               fmt::format("{}path = {}\nstep = {}\n", kComment, written(parent.path), written(parent.step)),
               "fork");
}

std::optional<Parent> read_parent(const std::filesystem::path& file) {
  if (!std::filesystem::exists(file)) return std::nullopt;
  // A pipe would be waited for.
  if (!std::filesystem::is_regular_file(file))
    throw UsageError(fmt::format("{}: expected a file", file.string()));
  std::ifstream stream(file, std::ios::binary);
  std::string text(kMostTomlBytes + 1, '\0');
  stream.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(stream.gcount()));
  const toml::table table = parse_toml(text, file.string());
  const auto path = table["path"].value_exact<std::string>();
  const auto step = table["step"].value_exact<std::int64_t>();
  if (!path || !step || *step < 0 || *step > static_cast<Index>(kLargestCount) || table.size() != 2 ||
      !admits(Allowed{}, *path))
    throw UsageError(
        fmt::format("{}: expected path = \"...\" and step = N, of at least 0, and no more", file.string()));
  return Parent{*path, *step};
}

}  // namespace tapehead
