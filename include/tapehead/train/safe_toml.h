/// TOML as text that the parser can be given.
///
/// toml++ 3.3 has undefined behaviour on characters beyond ASCII wherever it looks for a key, a blank or the
/// end of a value, so it is given none. Those in double quotes, such as a path has, it is given as escapes.
#pragma once

#include <string>
#include <string_view>

namespace tapehead {

/// The text without a byte-order mark and without characters beyond ASCII: each is '?' in comments, and in
/// double quotes the escape that means it. `place` begins errors: the name of a file. Throws UsageError, with
/// line and column, for bytes that are no UTF-8 and for characters beyond ASCII elsewhere.
std::string safe_toml(std::string_view text, std::string_view place);

}  // namespace tapehead
