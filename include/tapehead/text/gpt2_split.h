/// How GPT-2 cuts text into words before it looks at bytes: merges never cross a word's border.
///
/// The words are the matches, from left to right, of the pattern
///     's|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+
/// which together are the whole text. Letters and numbers are the general categories L and N, blanks (\s) are
/// White_Space, all by ICU and so by its version of Unicode. A byte that is in no UTF-8 character counts as a
/// character that is none of the three, like a punctuation mark.
#pragma once

#include <string_view>

namespace tapehead {

/// The first word of a text that is not empty; at least one byte, and found in time linear in its length.
std::string_view first_word(std::string_view text);

}  // namespace tapehead
