/// The file that lists the merges of byte-pair encoding, best first, and the question asked of it all the
/// time: do these two tokens merge, and how early?
///
/// A line is two tokens with a space between them, as the vocabulary writes them. The place in the list is
/// the merge's rank; of all the merges that a word allows, the one of lowest rank comes first.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "tapehead/base/number.h"
#include "tapehead/text/vocabulary.h"

namespace tapehead {

class Merges {
 public:
  /// The rank of two tokens that do not merge: above all others.
  static constexpr std::int32_t kNever = std::numeric_limits<std::int32_t>::max();

  /// The first line may be `#version: ...`; lines end with or without a carriage return. Throws Error, with
  /// file and line, for a line of another form, a token or a product that is not in the vocabulary, a part
  /// that is neither a byte nor made by a line above, and a merge that is there twice.
  Merges(const NamedText& file, const Vocabulary& vocabulary);

  Index size() const { return static_cast<Index>(products_.size()); }
  std::int32_t rank(std::int32_t left, std::int32_t right) const;
  /// What the merge of that rank makes.
  std::int32_t product(std::int32_t rank) const { return products_[static_cast<std::size_t>(rank)]; }

 private:
  /// How a merge is looked up: those of one left token lie together, ordered by the right.
  struct Entry {
    std::int32_t right;
    std::int32_t rank;
  };

  std::vector<std::int32_t> products_;  // by rank
  std::vector<std::int32_t> first_;     // of a left token's entries, by id, and one more
  std::vector<Entry> entries_;
};

}  // namespace tapehead
