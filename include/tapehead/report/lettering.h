/// How wide words are in Inter, the font of every figure, and where they break: what has to be known to place
/// words that touch nothing. The widths are the font's own, at regular and bold weight; kerning is left out,
/// and so is whoever has no Inter.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tapehead {

/// In pixels, of letters `size` pixels high.
double text_width(std::string_view text, double size, bool is_bold = false);

/// The words in lines no wider than `width` pixels, broken at spaces; a longer word has a line of its own.
/// No line for no words.
std::vector<std::string> wrap(std::string_view text, double width, double size, bool is_bold = false);

/// The text, or as much of its beginning as fits into `width` pixels with an ellipsis behind it.
std::string shortened(std::string_view text, double width, double size);

}  // namespace tapehead
