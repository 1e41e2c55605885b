/// Byte-pair encoding of one word (Sennrich et al. 2016; on bytes: Radford et al. 2019, section 2.2).
///
/// The word starts as its bytes. Again and again the pair of neighbours whose merge has the lowest rank is
/// merged, everywhere in the word and from left to right, until no neighbours merge. Time O(n log n) in the
/// word's n bytes, whatever they are.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "tapehead/text/merges.h"

namespace tapehead {

/// Encodes words one after another in memory of its own. For one thread; the merges and ids stay the
/// caller's.
class WordMerger {
 public:
  WordMerger(const Merges& merges, const std::array<std::int32_t, 256>& byte_ids)
      : merges_(merges), byte_ids_(byte_ids) {}

  /// Adds the word's tokens at the end of `ids`. Throws Error for a word of 2^31 bytes or more.
  void encode(std::string_view word, std::vector<std::int32_t>& ids);

 private:
  /// A token of the word, at the place of its first byte.
  struct Part {
    std::int32_t id;
    std::int32_t rank;  // of the merge with the part after it
    std::int32_t previous;
    std::int32_t next;  // the word's size after the last part
  };
  /// A merge to be made, unless one of the two was merged otherwise by then.
  struct Candidate {
    std::int32_t rank;
    std::int32_t place;
  };

  void start(std::string_view word);
  void merge_all();
  void merge_at(std::int32_t place);
  void propose(std::int32_t place);
  Candidate take_best();
  Part& part(std::int32_t place) { return parts_[static_cast<std::size_t>(place)]; }

  const Merges& merges_;
  const std::array<std::int32_t, 256>& byte_ids_;
  std::vector<Part> parts_;
  std::vector<Candidate> candidates_;  // a heap, the best in front
  std::vector<std::int32_t> merged_;
};

}  // namespace tapehead
