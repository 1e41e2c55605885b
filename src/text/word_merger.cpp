#include "tapehead/text/word_merger.h"

#include <algorithm>
#include <limits>

#include "tapehead/base/require.h"

namespace tapehead {

namespace {

constexpr std::int32_t kNowhere = -1;

/// Lower ranks first, then places further left: the heap's order, which puts the largest in front.
constexpr auto kComesLater = [](const auto& a, const auto& b) {
  return a.rank != b.rank ? a.rank > b.rank : a.place > b.place;
};

}  // namespace

void WordMerger::encode(std::string_view word, std::vector<std::int32_t>& ids) {
  constexpr std::size_t limit = std::numeric_limits<std::int32_t>::max();
  require(word.size() <= limit, "[tokenizer] expected words of at most {} bytes, got one of {}", limit,
          word.size());
  start(word);
  merge_all();
  const auto end = static_cast<std::int32_t>(word.size());
  for (std::int32_t place = 0; place < end; place = part(place).next) ids.push_back(part(place).id);
}

void WordMerger::start(std::string_view word) {
  const auto size = static_cast<std::int32_t>(word.size());
  parts_.clear();
  for (std::int32_t place = 0; place < size; ++place) {
    const auto byte = static_cast<unsigned char>(word[static_cast<std::size_t>(place)]);
    parts_.push_back({byte_ids_[byte], Merges::kNever, place - 1, place + 1});
  }
  for (std::int32_t place = 0; place + 1 < size; ++place) propose(place);
}

void WordMerger::merge_all() {
  while (!candidates_.empty()) {
    const std::int32_t rank = candidates_.front().rank;
    merged_.clear();
    while (!candidates_.empty() && candidates_.front().rank == rank) {
      const Candidate best = take_best();
      if (part(best.place).rank != rank) continue;
      merge_at(best.place);
      merged_.push_back(best.place);
    }
    // What the products can merge with may have a lower rank still, and yet comes after the last of this one.
    for (const std::int32_t place : merged_) {
      propose(part(place).previous);
      propose(place);
    }
  }
}

void WordMerger::merge_at(std::int32_t place) {
  Part& left = part(place);
  Part& right = part(left.next);
  left.id = merges_.product(left.rank);
  left.rank = Merges::kNever;
  right.rank = Merges::kNever;
  left.next = right.next;
  if (left.previous != kNowhere) part(left.previous).rank = Merges::kNever;
  if (static_cast<std::size_t>(left.next) < parts_.size()) part(left.next).previous = place;
}

/// Asks once whether the part there and the one after it merge.
void WordMerger::propose(std::int32_t place) {
  if (place == kNowhere) return;
  Part& left = part(place);
  if (left.rank != Merges::kNever || static_cast<std::size_t>(left.next) == parts_.size()) return;
  left.rank = merges_.rank(left.id, part(left.next).id);
  if (left.rank == Merges::kNever) return;
  candidates_.push_back({left.rank, place});
  std::push_heap(candidates_.begin(), candidates_.end(), kComesLater);
}

WordMerger::Candidate WordMerger::take_best() {
  std::pop_heap(candidates_.begin(), candidates_.end(), kComesLater);
  const Candidate best = candidates_.back();
  candidates_.pop_back();
  return best;
}

}  // namespace tapehead
