/// What the fields of a config promise one another, and the machine's memory.
///
/// What a field may be by itself is in config_fields.h.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "tapehead/train/config.h"

namespace tapehead {

/// A promise between two fields, and the message when it is broken; the first is the one to change.
struct Rule {
  bool holds;
  std::array<std::string, 2> fields;
  std::string message;
};

/// The complaint about so many sequences of that length; empty if they fit in half of the memory.
std::string complaint_about_sequences(Index count, Index length);

/// All of them, kept or broken.
std::vector<Rule> rules_of(const Config& config);

}  // namespace tapehead
