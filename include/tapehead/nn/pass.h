/// What one forward pass may do: record on a tape or not, draw dropout or not, who watches, and what was read
/// before.
///
/// A pass is a value, made for one forward pass and gone with it, so nothing is left behind in the model:
/// there is no training flag to forget and no hook to remove.
#pragma once

#include <functional>
#include <initializer_list>
#include <optional>
#include <vector>

#include "tapehead/autograd/tape.h"
#include "tapehead/base/random.h"
#include "tapehead/base/ranks.h"
#include "tapehead/nn/key_value_cache.h"
#include "tapehead/nn/site.h"

namespace tapehead {

/// Where in a pass a watcher is.
struct Visit {
  Site site;
  Index heads;           ///< of a layer of this model
  Index first_sequence;  ///< the place, in the whole batch, of the first sequence of this pass
};

/// Somebody outside the model who reads or changes what passes a site. One watcher may serve several passes
/// at the same time, so `visit` must not write to shared state without care.
class Watcher {
 public:
  virtual ~Watcher() = default;
  /// Before the pass: throws Error if this watcher cannot do its work on a model of this config.
  virtual void check(const ModelConfig& config) const = 0;
  /// At every site: what goes on from there, which is `value` itself to leave it alone. A change is made of
  /// differentiable ops, so gradients through it are right.
  virtual Variable visit(const Visit& at, const Variable& value) = 0;
  /// After the pass: throws Error if a site this watcher counts on did not come by.
  virtual void finish(const std::vector<Site>& visited) const = 0;
  /// Where several ranks have passed a part of a batch each, rank r its sequences bounds[r], ...,
  /// bounds[r + 1] - 1: brings what this watcher has seen to rank 0. Called by all ranks together; throws
  /// Error for a watcher that cannot do so, which is what it does unless it says otherwise.
  virtual void bring_together(Ranks& ranks, std::span<const Index> bounds);
};

/// Those who watch a pass, in the order in which they are asked: `Watch{edits, recorder}`. It refers to them,
/// and they have to outlive the pass.
class Watch {
 public:
  Watch() = default;
  Watch(std::initializer_list<std::reference_wrapper<Watcher>> watchers) : watchers_(watchers) {}

  void add(Watcher& watcher) { watchers_.emplace_back(watcher); }
  bool empty() const { return watchers_.empty(); }
  auto begin() const { return watchers_.begin(); }
  auto end() const { return watchers_.end(); }

 private:
  std::vector<std::reference_wrapper<Watcher>> watchers_;
};

class Pass {
 public:
  /// Evaluation: no tape, no dropout.
  Pass() = default;
  /// Records on `tape`; no dropout.
  explicit Pass(Tape& tape) : tape_(&tape) {}
  /// Records on `tape` and draws dropout from `dropout`.
  Pass(Tape& tape, Generator dropout) : tape_(&tape), dropout_(dropout) {}

  /// The same pass with watchers. `first_sequence` tells them where in a larger batch its sequences lie.
  Pass watched_by(Watch watch, Index first_sequence = 0) &&;

  /// The same pass, reading on where the cache stands: its sequence continues what is in there, and is added
  /// to it. Throws Error for a pass that records.
  Pass reading_on(KeyValueCache& cache) &&;

  /// A parameter's value, recorded if the pass records.
  Variable parameter(const Parameter& parameter) const;
  /// The stream that dropout draws from, or null where nothing is dropped.
  Generator* dropout() { return dropout_ ? &*dropout_ : nullptr; }

  /// What was read before, or null.
  KeyValueCache* cache() { return cache_; }

  /// The model's one verb for outsiders: returns `value`, or what a watcher puts in its place. Throws Error
  /// if a watcher returns another shape.
  Variable at(const Site& site, Variable value);

  /// Called by the model as the first and last thing of a pass.
  void begin(const ModelConfig& config);
  void end();

 private:
  Tape* tape_ = nullptr;
  std::optional<Generator> dropout_;
  KeyValueCache* cache_ = nullptr;
  Watch watch_;
  Index first_sequence_ = 0;
  Index heads_ = 0;
  std::vector<Site> visited_;
};

}  // namespace tapehead
