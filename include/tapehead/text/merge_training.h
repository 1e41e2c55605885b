/// Learns a vocabulary for byte-pair encoding from a text (Sennrich et al. 2016, algorithm 1; on bytes and
/// within GPT-2's words: Radford et al. 2019, section 2.2).
///
/// The text is cut into words (gpt2_split.h), and every word is its bytes. Again and again the pair of
/// neighbours that stands in the text most often becomes one token, everywhere and from left to right. Every
/// place of a pair counts, also where two of them overlap, as in "aaa". Of equal counts the pair whose left
/// token has the lower id comes first, then the one whose right token has. So a text has one outcome.
///
/// Here text becomes a vocabulary; how a vocabulary then encodes is byte_pair_tokenizer.h.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tapehead/base/number.h"
#include "tapehead/text/vocabulary.h"

namespace tapehead {

/// The tokens that every vocabulary has: the single bytes.
inline constexpr Index kByteTokens = 256;
/// The largest vocabulary that may be asked for.
inline constexpr Index kMostTokens = 1'000'000;

struct MergeTrainingConfig {
  Index vocabulary = 1024;   ///< tokens at the end, at most
  bool end_of_text = false;  ///< whether the last of them is <|endoftext|>
};

/// A merge, by the ids of its parts, and how often the pair stood in the text when its turn came.
struct LearntMerge {
  std::int32_t left = 0;
  std::int32_t right = 0;
  std::int64_t count = 0;
};

struct LearntVocabulary {
  /// By id, in the byte alphabet: the bytes in the order of their characters there, as GPT-2 has them; what
  /// merges make, in the order in which it was learnt; and <|endoftext|>, if it was asked for.
  std::vector<std::string> tokens = {};
  /// In their order; each makes a token of its own.
  std::vector<LearntMerge> merges = {};
  std::int64_t words = 0;           ///< of the text
  std::int64_t distinct_words = 0;  ///< of them

  Index size() const { return static_cast<Index>(tokens.size()); }
  /// The two files that BytePairTokenizer reads, as other programs have them: `vocab.json` and `merges.txt`.
  NamedText vocabulary_file() const;
  NamedText merges_file() const;
};

/// Learns until the vocabulary is full, or earlier, when every word is one token. Throws UsageError for a
/// vocabulary without room for the single bytes (and <|endoftext|>) or of more than kMostTokens, and for a
/// text without characters; Error for a text that is no UTF-8 and for one of 2^31 bytes of different words.
/// `name` stands for the text in errors. Time grows with the text, and then with the places that are merged
/// in its different words.
LearntVocabulary learn_vocabulary(std::string_view text, const std::string& name,
                                  const MergeTrainingConfig& config);

}  // namespace tapehead
