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
  if (std::holds_alternative<std::vector<Index>>(value)) return std::vector<Index>{3, 1, 2};
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
  CHECK(names.size() == 20 + 9 + 24);
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
  const std::vector<std::string> room{"model.width=60", "model.context=100", "task.period_max=40",
                                      "train.evaluation_interval=1", "train.ring_interval=2"};
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

TEST_CASE("every field of an intervention is listed once, documented, and can be set and read back") {
  const std::string help = describe_fields();
  std::set<std::string_view> keys;
  for (const InterventionField& field : intervention_fields()) {
    CAPTURE(field.key);
    keys.insert(field.key);
    CHECK(field.table == "intervention");
    CHECK(field.documentation.ends_with("."));
    CHECK(help.find(fmt::format("\n  {}: {}; default", field.key, field.expected())) != std::string::npos);
    Intervention changed;
    const FieldValue value = field.default_value();
    const FieldValue other = field.key == "site"     ? FieldValue(std::string("embedding"))
                             : field.key == "kind"   ? FieldValue(std::string("mean"))
                             : field.key == "factor" ? FieldValue(0.5)
                                                     : FieldValue(std::get<Index>(value) + 4);
    field.set(changed, other);
    for (const InterventionField& each : intervention_fields())
      CHECK(each.get(changed) == (each.key == field.key ? other : each.default_value()));
  }
  CHECK(keys.size() == 6);
}

TEST_CASE("configs differ by the names of their fields, and by their interventions as a whole") {
  Config changed;
  CHECK(differences(Config{}, changed).empty());
  changed.train.steps = 3;
  changed.interventions = {{.site = "embedding", .from = 1}};
  const std::vector<FieldDifference> found = differences(Config{}, changed);
  REQUIRE(found.size() == 2);
  CHECK(found[0].name == "train.steps");
  CHECK(found[0].first == "2000");
  CHECK(found[0].second == "3");
  CHECK(found[1].name == "intervention");
  CHECK(found[1].first == "[]");
  CHECK(found[1].second ==
        "[{site = \"embedding\", head = -1, kind = \"zero\", factor = 1.0, from = 1, to = -1}]");
}
