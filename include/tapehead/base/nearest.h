/// The name somebody probably meant, for error messages.
#pragma once

#include <span>
#include <string_view>

namespace tapehead {

/// The candidate with the smallest edit distance (Levenshtein) to `name`, the first of equals; empty if there
/// is no candidate.
std::string_view nearest(std::string_view name, std::span<const std::string_view> candidates);

}  // namespace tapehead
