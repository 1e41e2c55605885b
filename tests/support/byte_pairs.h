/// Small byte-pair vocabularies, merge by merge.
#pragma once

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "tapehead/base/random.h"
#include "tapehead/text/byte_alphabet.h"
#include "tapehead/text/byte_pair_tokenizer.h"
#include "tapehead/text/vocabulary.h"

namespace tapehead::testing {

/// The 256 bytes, the last byte with the first id, and then whatever is added. Everything is in the byte
/// alphabet.
struct BytePairs {
  std::vector<std::string> tokens;
  std::vector<std::pair<std::string, std::string>> merges;

  BytePairs() {
    for (int byte = 255; byte >= 0; --byte) tokens.push_back(written_byte(static_cast<unsigned char>(byte)));
  }
  /// A merge, and its product where that is new.
  void merge(const std::string& left, const std::string& right) {
    merges.emplace_back(left, right);
    for (const std::string& token : tokens)
      if (token == left + right) return;
    tokens.push_back(left + right);
  }

  NamedText vocabulary_file() const { return {"vocab.json", format_vocabulary(tokens)}; }
  NamedText merges_file() const {
    NamedText file{"merges.txt", "#version: 0.2\n"};
    for (const auto& [left, right] : merges) file.text += left + ' ' + right + '\n';
    return file;
  }
  BytePairTokenizer tokenizer() const { return {vocabulary_file(), merges_file()}; }
};

/// `count` merges of random tokens over the characters given, no pair twice, no product above 9 bytes. Two
/// merges may have one product.
inline BytePairs random_byte_pairs(const std::string& characters, int count, Generator& generator) {
  BytePairs pairs;
  std::vector<std::string> parts;
  for (const char c : characters) parts.emplace_back(1, c);
  for (int tries = 0; tries < 20 * count && static_cast<int>(pairs.merges.size()) < count; ++tries) {
    const auto draw = [&] {
      return parts[static_cast<std::size_t>(generator.below(static_cast<Index>(parts.size())))];
    };
    const std::pair pair{draw(), draw()};
    const std::string product = pair.first + pair.second;
    if (product.size() > 9) continue;
    if (std::find(pairs.merges.begin(), pairs.merges.end(), pair) != pairs.merges.end()) continue;
    pairs.merge(pair.first, pair.second);
    if (std::find(parts.begin(), parts.end(), product) == parts.end()) parts.push_back(product);
  }
  return pairs;
}

inline std::string random_text(const std::string& characters, Index length, Generator& generator) {
  std::string text;
  for (Index i = 0; i < length; ++i)
    text += characters[static_cast<std::size_t>(generator.below(static_cast<Index>(characters.size())))];
  return text;
}

}  // namespace tapehead::testing
