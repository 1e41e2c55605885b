/// UTF-8 as text comes and goes: read character by character, written, and printed while it arrives.
///
/// Strict, as Unicode has it (section 3.9, table 3-7): no overlong forms, no surrogates, nothing above
/// U+10FFFF. A character here is one code point. What it is (letter, blank) is asked elsewhere.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace tapehead {

/// What stands for bytes that are no character.
inline constexpr char32_t kReplacementCharacter = 0xFFFD;

/// The character a text begins with, or the bytes there that are none: the longest start of a character, or
/// one byte that cannot even start one.
struct Utf8Character {
  enum class Kind {
    whole,
    unfinished,  ///< the text ends before the character does
    invalid,     ///< whatever may follow
  };
  Kind kind;
  std::size_t length;   ///< in bytes, at least 1
  char32_t code_point;  ///< kReplacementCharacter unless whole
};

/// The first character of a text that is not empty.
Utf8Character first_character(std::string_view text);

/// The offset of the first byte that is in no character; npos for valid UTF-8.
std::size_t find_invalid_utf8(std::string_view text);

/// Whether text is valid UTF-8 without control characters, so that it may be shown as it is.
bool is_printable(std::string_view text);

/// The bytes of a code point; those of kReplacementCharacter for a surrogate and above U+10FFFF.
std::string utf8_of(char32_t code_point);

/// Turns bytes, in whatever pieces they come, into text fit to be printed at once: a character comes out when
/// its last byte is in, and bytes that can no longer become one come out as U+FFFD, one for each longest
/// start of a character, as Unicode recommends.
class Utf8Stream {
 public:
  /// Takes the next bytes; returns whole characters.
  std::string feed(std::string_view bytes);
  /// At the end: U+FFFD where a character was left unfinished, otherwise nothing.
  std::string flush();

 private:
  std::string held_;  // the start of a character
};

}  // namespace tapehead
