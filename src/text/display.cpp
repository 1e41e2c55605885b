#include "tapehead/text/display.h"

#include <unicode/uchar.h>

#include "tapehead/text/utf8.h"

namespace tapehead {

namespace {

constexpr std::string_view kNotShown = "·";
constexpr std::string_view kDottedCircle = "◌";

UChar32 icu(char32_t code_point) { return static_cast<UChar32>(code_point); }

bool is_mark(char32_t code_point) {
  const auto type = u_charType(icu(code_point));
  return type == U_NON_SPACING_MARK || type == U_ENCLOSING_MARK;
}

/// Those choose between two looks of a character, of which one may be wider.
bool is_variation_selector(char32_t code_point) {
  return u_hasBinaryProperty(icu(code_point), UCHAR_VARIATION_SELECTOR) != 0;
}

/// Korean vowels and final consonants, which join the letter before.
bool joins_syllable(char32_t code_point) { return code_point >= 0x1160 && code_point <= 0x11FF; }

}  // namespace

bool is_shown(char32_t code_point) {
  switch (u_charType(icu(code_point))) {
    case U_CONTROL_CHAR:
    case U_FORMAT_CHAR:
    case U_LINE_SEPARATOR:
    case U_PARAGRAPH_SEPARATOR:
    case U_SURROGATE:
      return false;
    default:
      return true;
  }
}

int display_width(char32_t code_point) {
  if (!is_shown(code_point) || is_mark(code_point) || joins_syllable(code_point)) return 0;
  const int width = u_getIntPropertyValue(icu(code_point), UCHAR_EAST_ASIAN_WIDTH);
  return width == U_EA_WIDE || width == U_EA_FULLWIDTH ? 2 : 1;
}

int display_width(std::string_view text) {
  int width = 0;
  while (!text.empty()) {
    const Utf8Character character = first_character(text);
    width += display_width(character.code_point);
    text.remove_prefix(character.length);
  }
  return width;
}

std::string cut_to_width(std::string_view text, int columns) {
  if (display_width(text) <= columns) return std::string(text);
  std::string cut;
  int width = 0;
  while (!text.empty()) {
    const Utf8Character character = first_character(text);
    width += display_width(character.code_point);
    if (width >= columns) break;
    cut += text.substr(0, character.length);
    text.remove_prefix(character.length);
  }
  return columns > 0 ? cut + "…" : "";
}

std::string fitting(std::span<const std::string> wordings, int columns) {
  for (const std::string& wording : wordings)
    if (display_width(wording) <= columns) return wording;
  return wordings.empty() ? "" : cut_to_width(wordings.back(), columns);
}

std::vector<std::string> display_cells(std::string_view text) {
  std::vector<std::string> cells;
  while (!text.empty()) {
    const Utf8Character character = first_character(text);
    const std::string_view bytes = text.substr(0, character.length);
    text.remove_prefix(character.length);
    const bool is_whole = character.kind == Utf8Character::Kind::whole;
    if (is_whole && is_variation_selector(character.code_point)) continue;
    if (!is_whole || !is_shown(character.code_point))
      cells.emplace_back(kNotShown);
    else if (display_width(character.code_point) > 0)
      cells.emplace_back(bytes);
    else if (cells.empty())
      cells.push_back(std::string(kDottedCircle).append(bytes));
    else
      cells.back() += bytes;
  }
  return cells;
}

}  // namespace tapehead
