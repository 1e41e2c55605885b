/// Which characters the fonts of this machine can draw. What they cannot, gnuplot makes a picture unreadable
/// with, instead of drawing a small box.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tapehead {

/// The code points from first to last.
struct GlyphRange {
  char32_t first;
  char32_t last;
};

/// Reads what fontconfig's fc-list prints of its fonts' charsets: words that are "20-7e" or "e3f", in base
/// 16; others say nothing.
std::vector<GlyphRange> parse_charsets(std::string_view listing);

/// The text with a box, or "?" where no font has one, in place of characters beyond ASCII that are in no
/// range. Without ranges nothing is known, and all stay.
std::string with_glyphs_of(std::string_view text, const std::vector<GlyphRange>& ranges);

/// The same for the fonts that fontconfig knows of.
std::string with_known_glyphs(std::string_view text);

}  // namespace tapehead
