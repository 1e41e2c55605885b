/// What every tokenizer promises of every text that it can write.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <vector>

#include "tapehead/base/require.h"
#include "tapehead/text/tokenizer.h"

namespace tapehead::fuzz {

inline Index count(std::string_view text, std::string_view part) {
  Index found = 0;
  for (std::size_t at = 0; (at = text.find(part, at)) != text.npos; at += part.size()) ++found;
  return found;
}

/// The text's tokens. Throws InternalError unless the ids are in range and give the text back, and the end of
/// a text is there just as often as it is asked for.
inline std::vector<std::int32_t> round_trip(const Tokenizer& tokenizer, std::string_view text,
                                            Specials specials) {
  std::vector<std::int32_t> ids = tokenizer.encode(text, specials);
  ensure(std::ranges::all_of(ids, [&](std::int32_t id) { return id >= 0 && id < tokenizer.size(); }),
         "[fuzz] a text was given ids that are out of range");
  ensure(tokenizer.decode(ids) == text, "[fuzz] a text changed when it was encoded and decoded");
  if (const auto end = tokenizer.end_of_text())
    ensure(std::ranges::count(ids, *end) == (specials == Specials::as_text ? 0 : count(text, kEndOfText)),
           "[fuzz] a text ends at another place than it says");
  return ids;
}

}  // namespace tapehead::fuzz
