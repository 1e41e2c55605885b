/// What a model learns: one flat buffer, in which every parameter is a named window.
///
/// A set of gradients is a second buffer of the same layout, so reducing, clipping, updating and saving are
/// one loop over one buffer each. Gradients do not live here: several tapes may read the same parameters at
/// once.
#pragma once

#include <cstdint>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tapehead/base/number.h"
#include "tapehead/tensor/shape.h"
#include "tapehead/tensor/tensor.h"

namespace tapehead {

class Parameters;

/// How a parameter starts: independent normals of this standard deviation around this mean.
struct Start {
  double mean = 0;
  double deviation = 0;

  static Start constant(double value) { return {value, 0}; }
  static Start normal(double deviation) { return {0, deviation}; }
};

/// A window into Parameters: what a module keeps of each of its parameters.
struct Parameter {
  const Parameters* owner = nullptr;
  Index offset = 0;  ///< of its first number in the flat buffer
  Shape shape{0};

  /// The window onto rows first, ..., first + count - 1. Throws Error where there are no such rows.
  Parameter rows(Index first, Index count) const;
  const Real* data() const;
};

/// Gradients of all parameters, in the parameters' own layout.
using Gradients = Tensor;

class Parameters {
 public:
  struct Entry {
    std::string name;
    Shape shape;
    Index offset;
    Start start;
    /// Weight decay is for matrices and embeddings, never for biases and gains.
    bool decays() const { return shape.rank() >= 2; }
    Index count() const { return shape.count(); }
  };

  Parameters() = default;
  // Parameter windows point here, so it stays where it is.
  Parameters(const Parameters&) = delete;
  Parameters& operator=(const Parameters&) = delete;

  /// Registers a parameter. Throws Error for a name that is taken, or after `initialise`.
  Parameter add(std::string name, const Shape& shape, Start start);
  /// Allocates the buffer and draws every parameter from its own stream of `seed`.
  void initialise(std::uint64_t seed);
  /// The same with zeros, for whoever reads all values from a file next.
  void initialise_with_zeros();

  const std::vector<Entry>& entries() const { return entries_; }
  /// How many numbers in all.
  Index count() const { return count_; }
  /// The window of that name. Throws Error, naming the nearest, where there is none.
  Parameter find(std::string_view name) const;

  std::span<const Real> values() const { return values_.values(); }
  const Real* data() const { return values_.data(); }
  /// The first parameter that holds a number that is not finite; null where all are.
  const Entry* first_not_finite() const;
  /// For whoever changes parameters; a tape that has used the old values will refuse to go back through them.
  std::span<Real> change();
  /// Goes up with every `change`.
  std::uint64_t version() const { return version_; }

 private:
  std::vector<Entry> entries_;
  std::set<std::string> names_;
  Index count_ = 0;
  Tensor values_;
  std::uint64_t version_ = 0;
};

}  // namespace tapehead
