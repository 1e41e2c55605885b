/// Any files are a tokenizer or are refused with an Error, and what is a tokenizer gives every text back that
/// it can write.
///
/// An input is files with lines "---" between them: vocabulary, merges and a text, or characters and a text.
/// A vocabulary that begins with a comma goes on after the 256 bytes, which have the ids 255, ..., 0.
#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "fuzz/round_trip.h"
#include "fuzz/target.h"
#include "support/byte_pairs.h"
#include "tapehead/text/character_tokenizer.h"
#include "tapehead/text/utf8.h"

namespace tapehead {

namespace {

/// A vocabulary file of the 256 bytes, open at its end.
std::string make_bytes() {
  const std::string file = testing::BytePairs().vocabulary_file().text;
  return file.substr(0, file.rfind('}'));
}

const std::string kBytes = make_bytes();

std::vector<std::string_view> files_in(std::string_view input) {
  constexpr std::string_view kBetween = "\n---\n";
  std::vector<std::string_view> files;
  for (std::size_t at; files.size() < 2 && (at = input.find(kBetween)) != input.npos;
       input.remove_prefix(at + kBetween.size()))
    files.push_back(input.substr(0, at));
  files.push_back(input);
  return files;
}

/// What the call returns, or nothing where it throws an Error; its message must be fit to be shown.
template <class Call>
auto unless_refused(const Call& call) -> decltype(call()) {
  try {
    return call();
  } catch (const Error& error) {
    const std::string_view message = error.what();
    ensure(message.size() < 2000 && is_printable(message),
           "[fuzz] expected a message that can be read, got one of {} bytes", message.size());
    return {};
  }
}

std::unique_ptr<Tokenizer> make_tokenizer(const std::vector<std::string_view>& files) {
  std::string first(files[0]);
  if (files.size() == 2) return std::make_unique<CharacterTokenizer>(NamedText{"c.json", std::move(first)});
  if (first.starts_with(',')) first.insert(0, kBytes);
  return std::make_unique<BytePairTokenizer>(NamedText{"v.json", std::move(first)},
                                             NamedText{"m.txt", std::string(files[1])});
}

std::vector<std::string> tokens_of(const Tokenizer& tokenizer) {
  std::vector<std::string> tokens;
  for (std::int32_t id = 0; id < tokenizer.size(); ++id) tokens.emplace_back(tokenizer.bytes_of(id));
  return tokens;
}

void check_characters(std::string_view file, const std::vector<std::string>& tokens) {
  ensure(Vocabulary({"c.json", std::string(file)}).take() == tokens,
         "[fuzz] the characters are other than their file says");
  ensure(tokens_of(CharacterTokenizer({"again", format_vocabulary(tokens)})) == tokens,
         "[fuzz] characters changed when they were written and read again");
}

void take_tokenizer(std::string_view input) {
  const std::vector<std::string_view> files = files_in(input);
  if (files.size() == 1) return;
  const auto tokenizer = unless_refused([&] { return make_tokenizer(files); });
  if (!tokenizer) return;
  const std::vector<std::string> tokens = tokens_of(*tokenizer);
  ensure(std::ranges::find(tokens, "") == tokens.end(), "[fuzz] a token is nothing");
  for (const Specials specials : {Specials::as_text, Specials::recognised}) {
    const auto encode = [&] { return fuzz::round_trip(*tokenizer, files.back(), specials); };
    if (files.size() == 3)
      encode();
    else
      unless_refused(encode);
  }
  if (files.size() == 2) check_characters(files[0], tokens);
}

}  // namespace

// An entry of five bytes, "a":0 and its comma, is a string and a number, twice while a list of them grows.
FUZZ_TARGET(tokenizer, 50, take_tokenizer)

}  // namespace tapehead
