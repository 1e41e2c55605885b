/// toml++, made safe, for the sources that read TOML.
///
/// With NDEBUG toml++ 3.3 hands its assertions to the optimiser as facts, though a file such as "[" breaks
/// them; without, it aborts. Here they are neither.
#pragma once

#include <string>
#include <string_view>

#pragma push_macro("NDEBUG")
#undef NDEBUG
#define TOML_ASSERT(expr) static_cast<void>(0)
#include <toml++/toml.h>
#pragma pop_macro("NDEBUG")

namespace tapehead {

/// Far more than any config has. What toml++ makes of a file can be more than a hundred times as large, and
/// it destroys nested tables by recursion, for which a file of 80 KB is too deep.
inline constexpr std::size_t kMostTomlBytes = 24 * 1024;

/// "x.toml:12:3:"
std::string toml_position(std::string_view name, const toml::source_position& at);

/// `name` stands for the file in errors. Throws UsageError, with line and column, for text that is not TOML,
/// and for more than kMostTomlBytes.
toml::table parse_toml(std::string_view text, std::string_view name);

}  // namespace tapehead
