/// The steps of one forward pass, in order. Start here to read the autograd.
///
/// Every op on a recorded variable appends one step: a closure that adds to the gradients of the op's inputs.
/// `backward` runs the steps once, last to first, and drops each as soon as it has run; its activations go
/// with it. Since a value can only be used after it was made, that order needs no sort and no recursion. A
/// step owns the variables it needs, and no variable owns a step: there is no cycle.
#pragma once

#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "tapehead/autograd/parameters.h"
#include "tapehead/autograd/profile.h"
#include "tapehead/autograd/variable.h"

namespace tapehead {

class Tape {
 public:
  Tape() = default;
  /// Adds the time that every op takes to `profile`; what lies between two ops counts for the later one.
  explicit Tape(Profile* profile) : laps_(profile) {}
  ~Tape() { clear(); }
  Tape(const Tape&) = delete;
  Tape& operator=(const Tape&) = delete;

  /// A recorded input that holds this value.
  Variable variable(Tensor value);
  /// A recorded window onto a parameter. All parameters of one tape must have the same owner.
  Variable parameter(const Parameter& parameter);

  /// Appends the step that goes back through the op that made `result`. Ops call it through `record`.
  void record(const char* op, const Variable& result, std::function<void()> backward);

  /// d loss / d parameter for all parameters, and each recorded variable's own gradient in its handle. The
  /// loss must have one element and come from this tape. Afterwards the tape is empty and records a new pass;
  /// the variables of the old one can be read and not used. Throws Error for a loss of another kind, for a
  /// tape that was already run, and if the parameters were changed since they were used.
  Gradients backward(const Variable& loss);

  /// How many ops were recorded.
  std::size_t size() const { return steps_.size(); }

  /// The op that made the first number that is not finite: in its result, or, on the way back, in a gradient.
  struct Fault {
    const char* op;
    std::size_t step;  ///< how many ops were recorded before it
    bool backward;
  };
  /// From here on every number is looked at as it is made. That takes long: it is for a pass that is known to
  /// go wrong, run once more.
  void look_for_fault() { looking_ = true; }
  const std::optional<Fault>& fault() const { return fault_; }

 private:
  struct Step {
    const char* op;
    Variable result;
    std::function<void()> backward;
  };

  Variable recorded(Variable variable);
  /// Where in the flat buffer a window begins.
  Index begin_of(const Variable& window) const;
  bool gradients_are_finite() const;
  /// Zeros wherever no window got a gradient.
  void fill_gaps();
  void clear();

  std::vector<Step> steps_;
  std::vector<Variable> leaves_;
  std::vector<Variable> windows_;  // onto parameters
  const Parameters* parameters_ = nullptr;
  std::uint64_t parameters_version_ = 0;
  Gradients gradients_;
  Laps laps_{nullptr};
  bool looking_ = false;
  std::optional<Fault> fault_;
};

/// The last move of an op: `record("gelu", y, [x, y] { ... })` appends the step if y is on a tape.
template <class Backward>
void record(const char* op, const Variable& result, Backward&& backward) {
  if (result.is_recorded()) result.tape()->record(op, result, std::forward<Backward>(backward));
}

}  // namespace tapehead
