#include "tapehead/tasks/copied_segment.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "tapehead/base/require.h"

namespace tapehead {

namespace {

void require_usage(bool condition, const std::string& message) {
  if (!condition) throw UsageError("[task] " + message);
}

/// A sum of weights w V^n, held as a multiple of the largest power that came.
class PowerSum {
 public:
  explicit PowerSum(Index vocabulary) : log_(std::log(static_cast<double>(vocabulary))) {}
  void add(Index power, double weight) {
    if (power > power_) {
      value_ *= scale(power_ - power);
      power_ = power;
    }
    value_ += power == power_ ? weight : weight * scale(power - power_);
  }
  bool empty() const { return value_ == 0; }
  double log() const { return std::log(value_) + static_cast<double>(power_) * log_; }

 private:
  double scale(Index power) const { return std::exp(static_cast<double>(power) * log_); }

  double log_;
  double value_ = 0;
  Index power_ = 0;
};

/// How many tokens that are the same by law have agreed in a row, by how much each such agreement tells: that
/// both are known and equal is V times likelier than if they were independent; that one is known to be none
/// of n tokens, and the other to be none of them either or known too, V / (V - n) times.
class Agreement {
 public:
  static constexpr std::uint8_t kNone = 3;  ///< two that cannot be the same
  /// 0 where both are known, else that n of 1 or 2, or kNone.
  static std::uint8_t of(const Possible& a, const Possible& b) {
    if (!a.meets(b)) return kNone;
    if (a.known() && b.known()) return 0;
    if (a.known()) return static_cast<std::uint8_t>(std::popcount(b.named));
    if (b.known()) return static_cast<std::uint8_t>(std::popcount(a.named));
    return static_cast<std::uint8_t>(std::popcount(static_cast<std::uint8_t>(a.named & b.named)));
  }

  void add(std::uint8_t kind) { ++counts_[kind]; }
  void remove(std::uint8_t kind) { --counts_[kind]; }
  Index size() const { return counts_[0] + counts_[1] + counts_[2]; }
  Index known() const { return counts_[0]; }
  Index but(std::size_t n) const { return counts_[n]; }

 private:
  std::array<Index, 3> counts_{};
};

/// Every pair of a segment's place and its copy's, weighed against tokens that are all independent.
class CopyLaw {
 public:
  CopyLaw(const CopiedSegment::Config& config, Index last_first, const Knowledge& knowledge)
      : vocabulary_(config.vocabulary),
        segment_(config.segment),
        last_first_(last_first),
        last_second_(config.length + 1 - config.segment),
        knowledge_(knowledge),
        elsewhere_(config.vocabulary) {
    for (std::size_t n = 1; n < 3; ++n) {
      const auto left = static_cast<double>(std::max<Index>(1, vocabulary_ - static_cast<Index>(n)));
      for (Index count = 0; count <= segment_; ++count)
        powers_[n - 1].push_back(
            std::pow(static_cast<double>(vocabulary_) / left, static_cast<double>(count)));
    }
  }

  std::vector<Outcome> outcomes() {
    const Index read = knowledge_.size();
    std::vector<Outcome> list;
    add_not_begun();
    for (Index distance = segment_; distance <= std::min(read, last_second_); ++distance) {
      compare(distance);
      add_ended(distance);
      const PowerSum here = going_on(distance);
      if (!here.empty()) list.push_back({here.log(), knowledge_[read - distance]});
    }
    if (!elsewhere_.empty()) list.push_back({elsewhere_.log(), {}});
    return list;
  }

 private:
  /// How likely a pair of places is, but for a constant; 0 where the task does not draw it.
  double chance(Index first, Index second) const {
    if (first < 0 || first > last_first_ || second > last_second_) return 0;
    return 1 / static_cast<double>(last_second_ - first - segment_ + 1);
  }
  double weight(const Agreement& agreement) const {
    return powers_[0][static_cast<std::size_t>(agreement.but(1))] *
           powers_[1][static_cast<std::size_t>(agreement.but(2))];
  }

  /// Copies that begin after the next token.
  void add_not_begun() {
    const Index next = knowledge_.size();
    for (Index first = 0; first <= last_first_; ++first) {
      const Index places = last_second_ - std::max(first + segment_, next + 1) + 1;
      if (places > 0) elsewhere_.add(0, static_cast<double>(places) * chance(first, last_second_));
    }
  }

  /// How each token that has been read agrees with the one so far before it, as far as a copy can reach.
  void compare(Index distance) {
    const Index end = std::min(knowledge_.size(), distance + last_first_ + segment_);
    kinds_.clear();
    for (Index k = distance; k < end; ++k)
      kinds_.push_back(Agreement::of(knowledge_[k - distance], knowledge_[k]));
  }

  /// Copies that have been read to their end.
  void add_ended(Index distance) {
    Agreement row;
    for (std::size_t i = 0; i < kinds_.size(); ++i) {
      if (kinds_[i] == Agreement::kNone) {
        row = {};
        continue;
      }
      row.add(kinds_[i]);
      if (row.size() > segment_) row.remove(kinds_[i - static_cast<std::size_t>(segment_)]);
      if (row.size() < segment_) continue;
      const Index first = static_cast<Index>(i) + 1 - segment_;
      const double drawn = chance(first, first + distance);
      if (drawn > 0) elsewhere_.add(row.known(), drawn * weight(row));
    }
  }

  /// Copies of which the next token is one: the first, the second, and so on.
  PowerSum going_on(Index distance) const {
    PowerSum sum(vocabulary_);
    Agreement row;
    for (Index first = knowledge_.size() - distance; first >= 0; --first) {
      const double drawn = chance(first, first + distance);
      if (drawn > 0) sum.add(row.known(), drawn * weight(row));
      // One token earlier, if that can be: it has to agree, and the copy not to end before the next.
      if (first == 0 || row.size() == segment_ - 1 || first > static_cast<Index>(kinds_.size())) break;
      const std::uint8_t kind = kinds_[static_cast<std::size_t>(first - 1)];
      if (kind == Agreement::kNone) break;
      row.add(kind);
    }
    return sum;
  }

  Index vocabulary_;
  Index segment_;
  Index last_first_;
  Index last_second_;
  const Knowledge& knowledge_;
  std::array<std::vector<double>, 2> powers_;  ///< of V / (V - 1) and of V / (V - 2)
  PowerSum elsewhere_;                         ///< of all cases in which the next token is not in the copy
  std::vector<std::uint8_t> kinds_;
};

}  // namespace

CopiedSegment::CopiedSegment(const Config& config) : config_(config) {
  constexpr Index most = std::numeric_limits<std::int32_t>::max();
  require_usage(config.vocabulary >= 2 && config.vocabulary <= most,
                fmt::format("expected a vocabulary of 2 to {}, got {}", most, config.vocabulary));
  require_usage(config.segment >= 2, fmt::format("expected a segment of at least 2 tokens, got {}: nothing "
                                                 "could be told from what came before",
                                                 config.segment));
  require_usage(config.segment <= config.length / 2,
                fmt::format("expected a segment of at most half the length, got {} and {}: there would be no "
                            "places to choose from for its copy",
                            config.segment, config.length));
}

void CopiedSegment::fill_row(Batch& batch, Index b, Index first, Index second, Generator& generator) const {
  std::vector<std::int32_t> tokens(static_cast<std::size_t>(config_.length) + 1);
  const Index end = second + config_.segment;
  for (Index t = 0; t <= config_.length; ++t)
    tokens[static_cast<std::size_t>(t)] =
        t >= second && t < end ? tokens[static_cast<std::size_t>(t - (second - first))]
                               : static_cast<std::int32_t>(generator.below(config_.vocabulary));
  for (Index t = 0; t < config_.length; ++t) {
    batch.inputs(b, t) = tokens[static_cast<std::size_t>(t)];
    batch.targets(b, t) = tokens[static_cast<std::size_t>(t) + 1];
    if (t < second || t + 1 >= end) continue;
    batch.kinds(b, t) = Kind::induction;
    batch.earlier_copy(b, t) = static_cast<std::int32_t>(t - (second - first));
  }
}

Batch CopiedSegment::sample(Generator& generator, Index count) const {
  Batch batch = noise_batch(count, config_.length);
  for (Index b = 0; b < count; ++b) {
    const Index first = generator.below(last_first() + 1);
    const Index earliest = first + config_.segment;
    const Index second = earliest + generator.below(config_.length + 2 - config_.segment - earliest);
    fill_row(batch, b, first, second, generator);
  }
  return batch;
}

std::vector<Outcome> CopiedSegment::outcomes(const Knowledge& knowledge) const {
  return CopyLaw(config_, last_first(), knowledge).outcomes();
}

Batch CopiedSegment::resample(const Batch& batch, Generator& generator) const {
  Batch fresh = noise_batch(batch.size(), batch.length());
  for (Index b = 0; b < batch.size(); ++b) {
    Index second = 0;
    while (batch.kinds(b, second) != Kind::induction) ++second;
    fill_row(fresh, b, batch.earlier_copy(b, second), second, generator);
  }
  return fresh;
}

}  // namespace tapehead
