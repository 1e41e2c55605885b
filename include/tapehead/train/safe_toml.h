/// TOML as text that the parser can be given.
///
/// toml++ 3.3 has undefined behaviour on letters beyond ASCII in a key. No key of ours needs one: they are
/// let through in strings, such as paths, masked in comments, and refused elsewhere.
#pragma once

#include <string>
#include <string_view>

namespace tapehead {

/// The text with every character that comments have beyond ASCII replaced by '?', without a byte-order mark.
/// `place` begins errors: the name of a file. Throws UsageError, with line and column, for bytes that are no
/// UTF-8 and for characters beyond ASCII outside comments and strings.
std::string safe_toml(std::string_view text, std::string_view place);

}  // namespace tapehead
