/// A handle to a value that was computed in a pass, and to its gradient once the tape has run backward.
///
/// Copies of a handle share the value. A value never changes after it was computed. A variable made without a
/// tape is a constant: it takes part in every op and asks for no gradient.
#pragma once

#include <initializer_list>
#include <memory>

#include "tapehead/autograd/parameters.h"
#include "tapehead/kernels/sink.h"
#include "tapehead/tensor/tensor.h"

namespace tapehead {

class Tape;

class Variable {
 public:
  /// Nothing: what an optional argument is when it is not given.
  Variable() = default;
  /// A constant that holds this value.
  explicit Variable(Tensor value);

  explicit operator bool() const { return node_ != nullptr; }
  const Shape& shape() const { return node().shape; }
  const Real* data() const { return node().value; }
  /// A copy of the value.
  Tensor value() const;
  /// The value of a variable with one element. Throws Error for any other.
  Real item() const;

  /// Whether ops on it are recorded.
  bool is_recorded() const { return tape() != nullptr; }
  /// The tape it is recorded on; null for a constant, and once that tape has run backward.
  Tape* tape() const { return node_ == nullptr ? nullptr : node_->tape; }
  /// A copy of d loss / d this after `Tape::backward`, zeros where the loss does not depend on it. Throws
  /// Error for a constant and before backward.
  Tensor gradient() const;

  // For those who write ops: check, compute, record (fused.cpp shows how).

  /// An uninitialised result of the inputs, on their tape if any of them is recorded; inputs that were not
  /// given are passed over. Throws Error for inputs of two tapes, or of a tape that has already run backward.
  static Variable result(const char* op, const Shape& shape, std::initializer_list<const Variable*> inputs);
  /// Where the op that made this variable writes its value.
  Real* output() { return node_->storage.get(); }
  /// Where a backward step puts this variable's gradient, all of it; null if nobody asked for one. One
  /// variable may be two inputs: ask for sinks in the order in which the kernel fills them.
  kernels::Sink gradient_sink() const;
  /// The same for a step that adds to some of it only: zeros where nothing was added yet.
  Real* gradient_sum() const;
  /// d loss / d this, for the backward step of the op that made it.
  const Real* upstream() const { return node_->gradient; }
  /// Adds d loss / d this to the gradient of x, which has the same number of elements.
  void add_gradient_to(const Variable& x) const;
  /// The same, as the last thing the step does with it: the array itself is handed over where x has none yet
  /// and nobody else will look at this one.
  void move_gradient_to(const Variable& x) const;

 private:
  friend class Tape;
  friend Variable constant(const Real* numbers, const Shape& shape);

  struct Node {
    Shape shape{0};
    Buffer storage;                 // null for a parameter, whose value is a window
    const Real* value = nullptr;    // in storage, or in Parameters
    Buffer gradient_storage;        // null for a parameter, whose gradient is a window
    Real* gradient_home = nullptr;  // of a parameter: that window
    Real* gradient = nullptr;       // null until something was added
    Tape* tape = nullptr;           // null for a constant, and once the tape has run
    bool was_recorded = false;
    bool has_run = false;  // its tape went back through it
  };

  const Node& node() const;
  static Variable window(const Real* value, const Shape& shape);

  std::shared_ptr<Node> node_;
};

/// A constant window onto numbers that somebody else keeps; it must not outlive them.
Variable constant(const Real* numbers, const Shape& shape);
/// The same onto a parameter's current value.
Variable constant(const Parameter& parameter);

}  // namespace tapehead
