#include "tapehead/text/merge_training.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <queue>
#include <unordered_map>
#include <utility>

#include "tapehead/base/require.h"
#include "tapehead/text/byte_alphabet.h"
#include "tapehead/text/gpt2_split.h"
#include "tapehead/text/tokenizer.h"
#include "tapehead/text/utf8.h"

namespace tapehead {

namespace {

constexpr std::int32_t kNowhere = -1;

using WordCounts = std::unordered_map<std::string_view, std::int64_t>;

/// A token of a word, at the place of its first byte.
struct Part {
  std::int32_t id;  // kNowhere once it has become part of the token before it
  std::int32_t previous;
  std::int32_t next;
  std::int32_t word;
};

/// Two neighbours, by their ids.
struct Pair {
  std::int32_t left;
  std::int32_t right;

  std::uint64_t key() const {
    return static_cast<std::uint64_t>(left) << 32 | static_cast<std::uint32_t>(right);
  }
};

/// Where a pair stands, and how often that is in the text.
struct Places {
  std::int64_t count = 0;
  std::vector<std::int32_t> at = {};  // of its left part; some may be out of date
};

/// A pair with the count that it had when it was put into the queue.
struct Candidate {
  std::int64_t count;
  Pair pair;

  /// Whether its turn comes later: what std::priority_queue takes for smaller.
  friend bool operator<(const Candidate& a, const Candidate& b) {
    return a.count != b.count ? a.count < b.count : a.pair.key() > b.pair.key();
  }
};

/// The different words of a text with all their pairs, kept up to date merge by merge.
class Pairs {
 public:
  Pairs(const WordCounts& words, const std::vector<std::int32_t>& byte_ids) {
    std::size_t bytes = 0;
    for (const auto& [word, count] : words) bytes += word.size();
    require(bytes <= std::numeric_limits<std::int32_t>::max(),
            "[tokenizer] expected a text whose different words have less than 2^31 bytes, got {}", bytes);
    parts_.reserve(bytes);
    for (const auto& [word, count] : words) add_word(word, count, byte_ids);
    queue_changed();
  }

  /// The pair whose turn it is; nothing where no two neighbours are left.
  std::optional<Candidate> best() {
    while (!queue_.empty()) {
      const Candidate candidate = queue_.top();
      queue_.pop();
      const auto places = places_.find(candidate.pair.key());
      const std::int64_t count = places == places_.end() ? 0 : places->second.count;
      if (count == candidate.count) return candidate;
      // One that has grown is in the queue a second time, with what it has grown to.
      if (count > 0 && count < candidate.count) queue_.push({count, candidate.pair});
    }
    return std::nullopt;
  }

  /// Makes every such pair the token `product`.
  void merge(const Pair& pair, std::int32_t product) {
    // From left to right, as "aaa" needs: all places of a pair were noted in the merge that made its later
    // token.
    const std::vector<std::int32_t> at = std::move(places_.extract(pair.key()).mapped().at);
    for (const std::int32_t place : at)
      if (stands_at(place, pair)) merge_at(place, product);
    queue_changed();
  }

 private:
  Part& part(std::int32_t place) { return parts_[static_cast<std::size_t>(place)]; }

  void add_word(std::string_view word, std::int64_t count, const std::vector<std::int32_t>& byte_ids) {
    const auto begin = static_cast<std::int32_t>(parts_.size());
    const auto end = begin + static_cast<std::int32_t>(word.size());
    for (std::int32_t place = begin; place < end; ++place) {
      const auto byte = static_cast<unsigned char>(word[static_cast<std::size_t>(place - begin)]);
      parts_.push_back({byte_ids[byte], place == begin ? kNowhere : place - 1,
                        place + 1 == end ? kNowhere : place + 1, static_cast<std::int32_t>(counts_.size())});
    }
    counts_.push_back(count);
    for (std::int32_t place = begin; place + 1 < end; ++place) appear(place);
  }

  std::int64_t count_of_word_at(std::int32_t place) {
    return counts_[static_cast<std::size_t>(part(place).word)];
  }

  Pair pair_at(std::int32_t place) { return {part(place).id, part(part(place).next).id}; }

  bool stands_at(std::int32_t place, const Pair& pair) {
    return part(place).id == pair.left && part(place).next != kNowhere &&
           part(part(place).next).id == pair.right;
  }

  /// The part there and the one after it are neighbours from now on.
  void appear(std::int32_t place) {
    Places& places = places_[pair_at(place).key()];
    places.count += count_of_word_at(place);
    places.at.push_back(place);
    changed_.push_back(pair_at(place));
  }

  /// They no longer are. A pair that is being merged counts no more.
  void vanish(std::int32_t place) {
    const auto places = places_.find(pair_at(place).key());
    if (places != places_.end()) places->second.count -= count_of_word_at(place);
  }

  void merge_at(std::int32_t place, std::int32_t product) {
    Part& left = part(place);
    const std::int32_t taken = left.next;
    if (left.previous != kNowhere) vanish(left.previous);
    if (part(taken).next != kNowhere) vanish(taken);
    left.id = product;
    left.next = part(taken).next;
    part(taken).id = kNowhere;
    if (left.next != kNowhere) part(left.next).previous = place;
    if (left.previous != kNowhere) appear(left.previous);
    if (left.next != kNowhere) appear(place);
  }

  void queue_changed() {
    std::ranges::sort(changed_, {}, &Pair::key);
    const auto end = std::unique(changed_.begin(), changed_.end(),
                                 [](const Pair& a, const Pair& b) { return a.key() == b.key(); });
    changed_.erase(end, changed_.end());
    for (const Pair& pair : changed_)
      if (const auto places = places_.find(pair.key()); places != places_.end() && places->second.count > 0)
        queue_.push({places->second.count, pair});
    changed_.clear();
  }

  std::vector<Part> parts_;           // of all words, by place
  std::vector<std::int64_t> counts_;  // of each word
  std::unordered_map<std::uint64_t, Places> places_;
  std::priority_queue<Candidate> queue_;
  std::vector<Pair> changed_;  // with a higher count since the queue was filled
};

void require_trainable(std::string_view text, const std::string& name, const MergeTrainingConfig& config) {
  const Index least = kByteTokens + (config.end_of_text ? 1 : 0);
  if (config.vocabulary < least)
    throw UsageError(fmt::format(
        "[tokenizer] expected a vocabulary of {} tokens or more, got {}: the {} bytes{} "
        "are tokens whatever the text",
        least, config.vocabulary, kByteTokens, config.end_of_text ? fmt::format(" and {}", kEndOfText) : ""));
  if (config.vocabulary > kMostTokens)
    throw UsageError(fmt::format("[tokenizer] expected a vocabulary of {} tokens or fewer, got {}",
                                 kMostTokens, config.vocabulary));
  if (text.empty()) throw UsageError(fmt::format("[tokenizer] {} is empty", name));
  const std::size_t invalid = find_invalid_utf8(text);
  require(invalid == std::string_view::npos,
          "[tokenizer] {}: expected UTF-8, got the byte {:#04x} at offset {}; iconv turns other encodings "
          "into it",
          name, invalid == std::string_view::npos ? 0U : static_cast<unsigned char>(text[invalid]), invalid);
}

/// The single bytes as tokens; `byte_ids` gets the id of each.
std::vector<std::string> byte_tokens(std::vector<std::int32_t>& byte_ids) {
  std::vector<std::pair<std::string, std::size_t>> bytes;
  for (std::size_t byte = 0; byte < kByteTokens; ++byte)
    bytes.emplace_back(written_byte(static_cast<unsigned char>(byte)), byte);
  std::ranges::sort(bytes);  // the order of UTF-8 is that of its code points
  std::vector<std::string> tokens;
  byte_ids.resize(bytes.size());
  for (const auto& [written, byte] : bytes) {
    byte_ids[byte] = static_cast<std::int32_t>(tokens.size());
    tokens.push_back(written);
  }
  return tokens;
}

}  // namespace

NamedText LearntVocabulary::vocabulary_file() const { return {"vocab.json", format_vocabulary(tokens)}; }

NamedText LearntVocabulary::merges_file() const {
  NamedText file{"merges.txt", "#version: 0.2\n"};
  for (const LearntMerge& merge : merges)
    file.text += fmt::format("{} {}\n", tokens[static_cast<std::size_t>(merge.left)],
                             tokens[static_cast<std::size_t>(merge.right)]);
  return file;
}

LearntVocabulary learn_vocabulary(std::string_view text, const std::string& name,
                                  const MergeTrainingConfig& config) {
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);  // a byte-order mark says nothing
  require_trainable(text, name, config);
  LearntVocabulary learnt;
  WordCounts words;
  for (; !text.empty(); ++learnt.words) {
    const std::string_view word = first_word(text);
    ++words[word];
    text.remove_prefix(word.size());
  }
  learnt.distinct_words = static_cast<std::int64_t>(words.size());

  std::vector<std::int32_t> byte_ids;
  learnt.tokens = byte_tokens(byte_ids);
  Pairs pairs(words, byte_ids);
  while (learnt.size() + (config.end_of_text ? 1 : 0) < config.vocabulary) {
    const std::optional<Candidate> best = pairs.best();
    if (!best) break;
    const auto [left, right] = best->pair;
    // Always a new token: the same bytes between the same borders have gone through the same merges before.
    const auto product = static_cast<std::int32_t>(learnt.size());
    learnt.tokens.push_back(learnt.tokens[static_cast<std::size_t>(left)] +
                            learnt.tokens[static_cast<std::size_t>(right)]);
    learnt.merges.push_back({left, right, best->count});
    pairs.merge(best->pair, product);
  }
  if (config.end_of_text) learnt.tokens.emplace_back(kEndOfText);
  return learnt;
}

}  // namespace tapehead
