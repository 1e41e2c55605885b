/// What a predictor knows of the tokens it has read, and what follows from that for the next one.
///
/// A view hides a part of a sequence: of some tokens a predictor is told which they are, of the others only
/// which they are not. A task that knows its own law answers with all that may come next (Task::outcomes).
#pragma once

#include <bit>
#include <cstdint>
#include <span>
#include <vector>

#include "tapehead/base/number.h"

namespace tapehead {

/// What is seen of x_0, ..., x_t by one who predicts x_{t+1}, beside t itself.
enum class View {
  current_token,  ///< x_t, where it stood before (so where it did not), and what followed it there
  last_two,       ///< the same and x_{t-1}, and before which of these places that stood too
  everything,     ///< every token
};

/// One token: a known one, or any but some. "Some" are among x_t (bit 1) and x_{t-1} (bit 2).
struct Possible {
  std::int32_t token = -1;  ///< which it is; negative if that is not known
  std::uint8_t named = 0;   ///< which of the two a known token is, or an unknown one is not

  bool known() const { return token >= 0; }
  /// How many tokens it may be, of a vocabulary.
  Index count(Index vocabulary) const { return known() ? 1 : vocabulary - std::popcount(named); }
  /// Whether one token can be both.
  bool meets(const Possible& other) const {
    if (known() && other.known()) return token == other.token;
    return (!known() && !other.known()) || (named & other.named) == 0;
  }
  /// Both are the same token, and it can be.
  Possible also(const Possible& other) const {
    if (known()) return *this;
    if (other.known()) return other;
    return {-1, static_cast<std::uint8_t>(named | other.named)};
  }
};

class Knowledge {
 public:
  /// What the view shows of the tokens x_0, ..., x_t, at least one.
  Knowledge(View view, std::span<const std::int32_t> tokens);

  /// t + 1
  Index size() const { return static_cast<Index>(known_.size()); }
  const Possible& operator[](Index i) const { return known_[static_cast<std::size_t>(i)]; }
  /// x_t and x_{t-1}, the latter negative where a view does not need it.
  std::int32_t current() const { return current_; }
  std::int32_t previous() const { return previous_; }

 private:
  Possible known(std::int32_t token) const;

  std::int32_t current_;
  std::int32_t previous_ = -1;
  std::vector<Possible> known_;
};

/// One case of what comes next: with a weight, evenly one of the possible tokens.
struct Outcome {
  double log_weight;  ///< weights need not sum to 1
  Possible next;
};

/// The chances that the cases give.
class NextToken {
 public:
  /// Throws InternalError where no case has a weight.
  NextToken(std::span<const Outcome> outcomes, const Knowledge& knowledge, Index vocabulary);

  double chance(std::int32_t token) const;
  /// Whether it is the likeliest: 1, or, where n are equally likely, 1/n; else 0.
  double hit(std::int32_t token) const;

 private:
  double of_unlisted(std::uint8_t named) const;

  std::int32_t current_;
  std::int32_t previous_;
  Index vocabulary_;
  double any_but_[4] = {};                              ///< by what is named, for each token it may be
  std::vector<std::pair<std::int32_t, double>> known_;  ///< more for known tokens, each once
};

}  // namespace tapehead
