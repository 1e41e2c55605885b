/// From TOML to a config, field by field, with the place of every fault. What the fields are is in
/// config_fields.h, what they promise one another in config_rules.h.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "tapehead/train/config.h"

namespace tapehead {

/// Where each field that was given came from, by its name: "configs/x.toml:12:3:" or "--set model.layers=3:".
using Places = std::map<std::string, std::string>;

/// Takes over what the text of a file gives. Throws UsageError as parse_config does, but for rules.
void read_config_text(std::string_view text, std::string_view name, Config& config, Places& places);

/// The field that an override names, table.key: what stands before its first `=`, without blanks around it.
std::string_view override_name(std::string_view text);

/// Takes over an override `table.key=value`, or `intervention=[...]`. Throws UsageError likewise.
void read_override(std::string_view text, Config& config, Places& places);

}  // namespace tapehead
