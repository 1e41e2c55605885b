/// The alphabet in which GPT-2's files write bytes: one visible character for each of the 256.
///
/// Bytes that are visible in Latin-1 stand for themselves; the other 68 (blanks and controls) are U+0100,
/// U+0101, ... in their order, so that a space is written "Ġ" and a line end "Ċ".
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace tapehead {

/// The byte as the files write it, in UTF-8.
std::string written_byte(unsigned char byte);

/// The bytes that `text` writes; nothing where it has a character that is not in the alphabet.
std::optional<std::string> bytes_written(std::string_view text);

}  // namespace tapehead
