/// Any bytes can be written in byte pairs and come back, word by word the same as at once, and come out as
/// valid UTF-8 in whatever pieces they are printed.
#include <string>
#include <vector>

#include "fuzz/round_trip.h"
#include "fuzz/target.h"
#include "support/byte_pairs.h"
#include "tapehead/text/gpt2_split.h"
#include "tapehead/text/utf8.h"

namespace tapehead {

namespace {

/// Merges that compete for the same bytes, that run on, and that end within a character.
BytePairTokenizer make_tokenizer() {
  testing::BytePairs pairs;
  pairs.merge("h", "e");
  pairs.merge("Ġ", "t");
  pairs.merge("Ġt", "he");
  pairs.merge("t", "h");
  pairs.merge("Ġ", "th");
  pairs.merge("e", "r");
  pairs.merge("he", "r");
  pairs.merge("'", "s");
  for (const std::string byte : {"a", "Ġ", "Ċ", "ÿ"})
    for (std::string run = byte; run.size() < 16 * byte.size(); run += run) pairs.merge(run, run);
  pairs.merge("a", "b");
  pairs.merge("b", "a");
  pairs.merge("Ã", "©");
  pairs.merge("ð", "Ł");
  pairs.merge("ðŁ", "ĺ");
  pairs.merge("<", "|");
  pairs.merge("|", ">");
  pairs.tokens.insert(pairs.tokens.end(), {"<s>", std::string(kEndOfText)});
  return pairs.tokenizer();
}

const BytePairTokenizer kTokenizer = make_tokenizer();

std::vector<std::int32_t> encode_word_by_word(std::string_view text) {
  std::vector<std::int32_t> ids;
  while (!text.empty()) {
    const std::string_view word = first_word(text);
    const std::vector<std::int32_t> more = kTokenizer.encode(word);
    ids.insert(ids.end(), more.begin(), more.end());
    text.remove_prefix(word.size());
  }
  return ids;
}

std::string printed(const std::vector<std::string_view>& pieces) {
  Utf8Stream stream;
  std::string text;
  for (const std::string_view piece : pieces) {
    const std::string now = stream.feed(piece);
    ensure(find_invalid_utf8(now) == now.npos, "[fuzz] what is printed is no UTF-8");
    text += now;
  }
  return text + stream.flush();
}

std::vector<std::string_view> pieces_of(std::string_view text, std::size_t size) {
  std::vector<std::string_view> pieces;
  for (; !text.empty(); text.remove_prefix(std::min(size, text.size())))
    pieces.push_back(text.substr(0, size));
  return pieces;
}

void take_text(std::string_view text) {
  fuzz::round_trip(kTokenizer, text, Specials::recognised);
  const std::vector<std::int32_t> ids = fuzz::round_trip(kTokenizer, text, Specials::as_text);
  ensure(encode_word_by_word(text) == ids, "[fuzz] a word became other tokens than it is within the text");

  std::vector<std::string_view> tokens;
  for (const std::int32_t id : ids) tokens.push_back(kTokenizer.bytes_of(id));
  const std::string at_once = printed({text});
  const bool is_valid = find_invalid_utf8(text) == text.npos;
  ensure(!is_valid || at_once == text, "[fuzz] a text changed when it was printed");
  ensure(printed(tokens) == at_once, "[fuzz] a text was printed otherwise token by token");
  for (const std::size_t size : {1u, 2u, 3u, 5u})
    ensure(printed(pieces_of(text, size)) == at_once,
           "[fuzz] a text was printed otherwise in pieces of {} bytes", size);
}

}  // namespace

// A byte is a part of 16 bytes and a candidate of 8 while its word is merged.
FUZZ_TARGET(text, 100, take_text)

}  // namespace tapehead
