/// The one listing of config fields. To add a field: a member in its struct, and a line here.
///
/// It knows names, types, ranges and words, and how to get and set a member; it knows nothing of files.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "tapehead/train/config.h"
#include "tapehead/train/field_value.h"

namespace tapehead {

/// A member of `Owner`, or of a part of it.
template <class Owner>
struct Field {
  std::string_view table;
  std::string_view key;
  Allowed allowed;
  std::string_view documentation;
  std::function<FieldValue(const Owner&)> get;
  std::function<void(Owner&, const FieldValue&)> set;

  /// "train.steps"
  std::string name() const { return std::string(table) + "." + std::string(key); }
  FieldValue default_value() const { return get(Owner{}); }
  bool is_free_text() const { return tapehead::is_free_text(allowed, default_value()); }
  bool admits(const FieldValue& value) const { return tapehead::admits(allowed, value); }
  /// "an integer of at least 1", "learned, sinusoidal or none"
  std::string expected() const { return expected_text(allowed, default_value()); }
};

using ConfigField = Field<Config>;
using InterventionField = Field<Intervention>;

/// Every field, table by table, in the order of help and saved copy.
const std::vector<ConfigField>& config_fields();

/// The fields of one [[intervention]].
inline constexpr std::string_view kInterventionTable = "intervention";
const std::vector<InterventionField>& intervention_fields();

/// There are no more, so that a config stays one that is read.
inline constexpr std::size_t kMostInterventions = 16;

/// "intervention[0].site", counted from 0; without a key "intervention[0]".
std::string intervention_name(std::size_t index, std::string_view key = {});

/// As one line of TOML: `[{site = "embedding", head = -1, ...}]`.
std::string written(const std::vector<Intervention>& interventions);

/// A field in which two configs differ, and both values as TOML has them. The interventions count as one.
struct FieldDifference {
  std::string name;
  std::string first;
  std::string second;
};
std::vector<FieldDifference> differences(const Config& first, const Config& second);

}  // namespace tapehead
