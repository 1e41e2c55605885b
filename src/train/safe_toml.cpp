#include "tapehead/train/safe_toml.h"

#include <algorithm>
#include <cstdint>

#include "tapehead/base/require.h"
#include "tapehead/text/utf8.h"

namespace tapehead {

namespace {

/// The mark that begins a comment or a string at the start of `text`, or nothing.
std::string_view opening(std::string_view text) {
  for (const std::string_view mark : {R"(""")", "'''", "\"", "'", "#"})
    if (text.starts_with(mark)) return mark;
  return {};
}

/// The quotes that end a string at the start of `text`: three may follow up to two that are part of it.
std::size_t closing(std::string_view text, std::string_view mark) {
  if (mark.size() == 1) return 1;
  return std::min<std::size_t>(5, std::min(text.find_first_not_of(mark.front()), text.size()));
}

bool is_beyond_ascii(char byte) { return static_cast<unsigned char>(byte) > 0x7F; }

/// What a character beyond ASCII becomes after that mark; empty where it has no place.
std::string stand_in(char32_t code_point, std::string_view open) {
  if (open == "#") return "?";
  if (!open.starts_with('"')) return "";
  const auto number = static_cast<std::uint32_t>(code_point);
  return number <= 0xFFFF ? fmt::format("\\u{:04X}", number) : fmt::format("\\U{:08X}", number);
}

}  // namespace

std::string safe_toml(std::string_view text, std::string_view place) {
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
  std::string result;
  std::string_view open;  // the mark of the comment or string this is in
  std::size_t line = 1, column = 1;
  const auto fail = [&](const std::string& fault) {
    throw UsageError(fmt::format("{}:{}:{}: {}", place, line, column, fault));
  };
  for (std::size_t taken = 0; !text.empty(); text.remove_prefix(taken)) {
    const Utf8Character character = first_character(text);
    taken = character.length;
    if (character.kind != Utf8Character::Kind::whole)
      fail(fmt::format("expected UTF-8, got the byte {:#04x}", static_cast<unsigned char>(text[0])));
    if (is_beyond_ascii(text[0])) {
      const std::string ascii = stand_in(character.code_point, open);
      if (ascii.empty())
        fail(fmt::format("expected ASCII outside comments and double quotes, got '{}'",
                         text.substr(0, taken)));
      result += ascii;
      ++column;
      continue;
    }
    if (open.empty()) {
      open = opening(text);
      taken = std::max(taken, open.size());
    } else if (open.size() == 1 && text[0] == '\n') {
      open = {};
    } else if (open != "#" && text.starts_with(open)) {
      taken = closing(text, open);
      open = {};
    } else if (open[0] == '"' && text[0] == '\\' && text.size() > 1) {
      if (is_beyond_ascii(text[1])) fail("expected an escape of TOML after a backslash");
      if (text[1] == '"' || text[1] == '\\') taken = 2;
    }
    result += text.substr(0, taken);
    column = text[0] == '\n' ? 1 : column + taken;
    line += text[0] == '\n' ? 1 : 0;
  }
  return result;
}

}  // namespace tapehead
