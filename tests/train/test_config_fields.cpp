#include "tapehead/train/config_fields.h"

#include <fmt/format.h>

#include <array>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "support/testing.h"

using namespace tapehead;

namespace {

/// A value that the field admits and that is not its default.
FieldValue another_value(const ConfigField& field) {
  const FieldValue value = field.get(Config{});
  if (field.is_free_text()) return std::string("it's a \"text\" # \\ é");
  if (const auto* word = std::get_if<std::string>(&value))
    return std::string(*word == field.allowed.words[0] ? field.allowed.words[1] : field.allowed.words[0]);
  if (const auto* truth = std::get_if<bool>(&value)) return !*truth;
  if (const auto* count = std::get_if<Index>(&value)) return *count + 1;
  if (const auto* seed = std::get_if<std::uint64_t>(&value)) return *seed + 1;
  if (const auto* number = std::get_if<double>(&value)) return *number / 2 + 0.125;
  const auto pair = std::get<std::array<double, 2>>(value);
  return std::array<double, 2>{pair[0] / 2, pair[1] / 2};
}

std::string assignment(const ConfigField& field, const FieldValue& value) {
  return field.name() + "=" + written(value);
}

}  // namespace

TEST_CASE("every field of a config is listed once") {
  std::set<std::string> names;
  for (const ConfigField& field : config_fields()) names.insert(field.name());
  CHECK(names.size() == config_fields().size());
  CHECK(names.size() == 14 + 9 + 19);
}

TEST_CASE("every listed field is documented in a sentence, in the help text and in the saved copy") {
  const std::string help = describe_fields();
  const std::string saved = to_toml(Config{});
  const auto has = [](const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
  };
  for (const ConfigField& field : config_fields()) {
    CAPTURE(field.name());
    CHECK(field.documentation.size() > 20);
    CHECK(field.documentation.ends_with("."));
    const std::string_view start = field.documentation.substr(0, 20);
    CHECK(has(help, fmt::format("\n  {}: {}; default", field.key, field.expected())));
    CHECK(has(help, fmt::format("\n      {}", start)));
    CHECK(has(saved, fmt::format("\n# {}", start)));
    CHECK(has(saved, fmt::format("\n{} = {}\n", field.key, written(field.get(Config{})))));
  }
}

TEST_CASE("every listed field can be set, changes its own member only, and survives saving") {
  const std::vector<std::string> room{"model.width=60", "model.context=100", "task.period_max=40"};
  const Config base = parse_config("", "x.toml", room);
  for (const ConfigField& field : config_fields()) {
    CAPTURE(field.name());
    const FieldValue value = field.name() == "model.heads"   ? FieldValue(Index{3})
                             : field.name() == "model.width" ? FieldValue(Index{62})
                                                             : another_value(field);
    REQUIRE(field.admits(value));
    std::vector<std::string> overrides = room;
    overrides.push_back(assignment(field, value));
    const Config config = parse_config("", "x.toml", overrides);
    for (const ConfigField& other : config_fields())
      CHECK(other.get(config) == (other.key == field.key ? value : other.get(base)));
    CHECK(parse_config(to_toml(config), "x.toml") == config);
  }
}

TEST_CASE("every word of a field can be set and is read back") {
  for (const ConfigField& field : config_fields())
    for (const std::string_view word : field.allowed.words) {
      CAPTURE(field.name());
      CAPTURE(word);
      Config config;
      field.set(config, std::string(word));
      CHECK(field.get(config) == FieldValue(std::string(word)));
    }
}

TEST_CASE("words of an enum stand for the value of the same name") {
  Config config =
      parse_config("[model]\npositions = \"sinusoidal\"\ngelu = \"erf\"\ninitialisation = \"gpt2\"", "x");
  CHECK(config.model.positions == Positions::sinusoidal);
  CHECK(config.model.gelu == GeluForm::erf);
  CHECK(config.model.initialisation == Initialisation::gpt2);
  config = parse_config("[model]\npositions = \"none\"\ngelu = \"tanh\"\ninitialisation = \"fan_in\"", "x");
  CHECK(config.model.positions == Positions::none);
  CHECK(config.model.gelu == GeluForm::tanh);
  CHECK(config.model.initialisation == Initialisation::fan_in);
}

TEST_CASE("numbers are written in the fewest digits that read back the same, and floats as floats") {
  CHECK(written(3e-4) == "3e-4");
  CHECK(written(1e-8) == "1e-8");
  CHECK(written(1.5e300) == "1.5e300");
  CHECK(written(0.1 + 0.2) == "0.30000000000000004");
  CHECK(written(1.0) == "1.0");
  CHECK(written(-2.0) == "-2.0");
  CHECK(written(Index{-3}) == "-3");
  CHECK(written(std::array<double, 2>{0.9, 1}) == "[0.9, 1.0]");
  CHECK(written(true) == "true");
  CHECK(written(std::string("adam")) == "\"adam\"");
  CHECK(written(std::string("a\\b \"c\"")) == R"("a\\b \"c\"")");
}

TEST_CASE("the fields in which two configs differ are named in the order of the listing") {
  const Config a;
  Config b;
  CHECK(differing_fields(a, b).empty());
  b.train.steps = 3;
  b.model.layers = 5;
  const std::vector<const ConfigField*> differing = differing_fields(a, b);
  REQUIRE(differing.size() == 2);
  CHECK(differing[0]->name() == "model.layers");
  CHECK(differing[1]->name() == "train.steps");
}
