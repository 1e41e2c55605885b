#include "tapehead/train/safe_toml.h"

#include <algorithm>

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

}  // namespace

std::string safe_toml(std::string_view text, std::string_view place) {
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
  std::string result;
  std::string_view open;  // the mark of the comment or string this is in
  std::size_t line = 1;
  std::size_t column = 1;
  const auto fail = [&](const std::string& fault) {
    throw UsageError(fmt::format("{}:{}:{}: {}", place, line, column, fault));
  };
  for (std::size_t taken = 0; !text.empty(); text.remove_prefix(taken)) {
    const Utf8Character character = first_character(text);
    if (character.kind != Utf8Character::Kind::whole)
      fail(fmt::format("expected UTF-8, got the byte {:#04x}", static_cast<unsigned char>(text[0])));
    const bool beyond_ascii = character.length > 1;
    const bool masked = beyond_ascii && open == "#";
    taken = character.length;
    if (open.empty()) {
      open = opening(text);
      taken = std::max(taken, open.size());
      if (beyond_ascii)
        fail(
            fmt::format("expected only ASCII outside comments and strings, got '{}'", text.substr(0, taken)));
    } else if (open.size() == 1 && text[0] == '\n') {
      open = {};
    } else if (open != "#" && text.starts_with(open)) {
      taken = closing(text, open);
      open = {};
    } else if (open[0] == '"' && (text.starts_with("\\\"") || text.starts_with("\\\\"))) {
      taken = 2;
    }
    result += masked ? "?" : text.substr(0, taken);
    column = text[0] == '\n' ? 1 : column + (beyond_ascii ? 1 : taken);
    line += text[0] == '\n' ? 1 : 0;
  }
  return result;
}

}  // namespace tapehead
