#include "tapehead/report/glyphs.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <cstdio>
#include <optional>

#include "tapehead/text/utf8.h"

namespace tapehead {

namespace {

constexpr char32_t kBox = 0x25A1;

bool has(const std::vector<GlyphRange>& ranges, char32_t c) {
  return std::ranges::any_of(ranges,
                             [c](const GlyphRange& range) { return range.first <= c && c <= range.last; });
}

/// A whole number in base 16, or nothing.
std::optional<char32_t> code_point_of(std::string_view digits) {
  std::uint32_t value = 0;
  const char* const end = digits.data() + digits.size();
  const auto [rest, error] = std::from_chars(digits.data(), end, value, 16);
  if (error != std::errc() || rest != end) return std::nullopt;
  return static_cast<char32_t>(value);
}

/// What fc-list prints, or nothing where it is not installed.
std::string charset_listing() {
  std::FILE* pipe = popen("fc-list : charset 2> /dev/null", "re");
  if (pipe == nullptr) return "";
  std::string listing;
  for (int c = std::fgetc(pipe); c != EOF; c = std::fgetc(pipe)) listing += static_cast<char>(c);
  pclose(pipe);
  return listing;
}

}  // namespace

std::vector<GlyphRange> parse_charsets(std::string_view listing) {
  std::vector<GlyphRange> ranges;
  while (!listing.empty()) {
    const std::size_t end = std::min(listing.find_first_of(" \n"), listing.size());
    std::string_view word = listing.substr(0, end);
    listing.remove_prefix(std::min(end + 1, listing.size()));
    if (word.starts_with(":charset=")) word.remove_prefix(9);
    const std::size_t dash = std::min(word.find('-'), word.size());
    const std::optional<char32_t> first = code_point_of(word.substr(0, dash));
    const std::optional<char32_t> last = dash == word.size() ? first : code_point_of(word.substr(dash + 1));
    if (first && last) ranges.push_back({*first, *last});
  }
  return ranges;
}

std::string with_glyphs_of(std::string_view text, const std::vector<GlyphRange>& ranges) {
  if (ranges.empty()) return std::string(text);
  const std::string missing = has(ranges, kBox) ? utf8_of(kBox) : "?";
  std::string drawable;
  while (!text.empty()) {
    const Utf8Character character = first_character(text);
    const char32_t c = character.code_point;
    const bool is_known = c < 0x80 || (character.kind == Utf8Character::Kind::whole && has(ranges, c));
    drawable += is_known ? std::string(text.substr(0, character.length)) : missing;
    text.remove_prefix(character.length);
  }
  return drawable;
}

std::string with_known_glyphs(std::string_view text) {
  static const std::vector<GlyphRange> ranges = parse_charsets(charset_listing());
  return with_glyphs_of(text, ranges);
}

}  // namespace tapehead
