/// What a terminal makes of text: which characters it shows, and how many columns they take.
///
/// Widths are those of Unicode (Standard Annex 11): two for wide characters, such as Chinese ones and emoji,
/// none for accents that stand on the one before, one for the rest, ambiguous ones too.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tapehead {

/// Whether there is something to see, or a blank: neither a control character nor one that only says how
/// others are joined, broken into lines or ordered.
bool is_shown(char32_t code_point);

int display_width(char32_t code_point);
/// Of a line of UTF-8; bytes that are no character take a column each.
int display_width(std::string_view text);

/// At most so many columns of the text; where it is cut, its last one is "…".
std::string cut_to_width(std::string_view text, int columns);

/// The first of several wordings, from the longest to the shortest, that takes no more columns; the last one,
/// cut, where none does.
std::string fitting(std::span<const std::string> wordings, int columns);

/// What takes columns of its own: characters with the accents on them, one or two columns each. An accent
/// that stands on nothing gets a dotted circle; what is not shown becomes "·".
std::vector<std::string> display_cells(std::string_view text);

}  // namespace tapehead
