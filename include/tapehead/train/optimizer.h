/// What turns gradients into better parameters: one loop over the flat buffers.
///
/// Weight decay is decoupled in AdamW and an added gradient in Adam and Sgd; in all of them it acts on
/// matrices and embeddings only, never on biases and gains (see Parameters::Entry::decays).
#pragma once

#include <span>
#include <string>
#include <vector>

#include "tapehead/autograd/parameters.h"

namespace tapehead {

class Optimizer {
 public:
  virtual ~Optimizer() = default;

  struct StepOptions {
    double scale = 1;  ///< gradients are multiplied by it as they are read
    int threads = 1;   ///< the bits are the same for any number
  };
  /// One update. Throws Error, and changes nothing, for gradients of another layout, or for a
  /// gradient or a scale that is not finite.
  void step(Parameters& parameters, const Gradients& gradients, const StepOptions& options);
  void step(Parameters& parameters, const Gradients& gradients) {
    step(parameters, gradients, StepOptions{});
  }

  double learning_rate() const { return learning_rate_; }
  void set_learning_rate(double rate) { learning_rate_ = rate; }
  /// Updates done so far.
  Index steps() const { return steps_; }

  /// A running average, in the layout of the parameters; empty before the first step.
  struct State {
    std::string name;
    Tensor values;
  };
  const std::vector<State>& state() const { return state_; }
  /// Continues where another optimizer of this kind stood. Throws Error for other names or sizes.
  void restore(Index steps, std::vector<State> state);

 protected:
  Optimizer(double learning_rate, std::vector<std::string> state_names);

  /// `count` numbers at `offset`, of a parameter that decays or does not, and their gradients before scaling.
  struct Part {
    Real* values;
    const Real* gradients;
    Real scale;
    Index offset;
    Index count;
    bool decays;
  };
  /// Updates a part; `steps()` counts this update already. Called on several threads at once.
  virtual void update(const Part& part) = 0;
  Real* state_at(std::size_t which, Index offset) { return state_[which].values.data() + offset; }

 private:
  double learning_rate_;
  Index steps_ = 0;
  std::vector<State> state_;
};

/// v = momentum v + g; w -= rate v (Sutskever et al. 2013, without Nesterov's step, in PyTorch's scaling).
class Sgd : public Optimizer {
 public:
  struct Config {
    double learning_rate = 1e-2;
    double momentum = 0;
    double weight_decay = 0;
  };
  explicit Sgd(const Config& config);

 private:
  void update(const Part& part) override;
  Config config_;
};

struct AdamConfig {
  double learning_rate = 1e-3;
  double beta1 = 0.9;
  double beta2 = 0.999;
  double epsilon = 1e-8;
  double weight_decay = 0;
};

/// Kingma and Ba 2015, algorithm 1; epsilon is added after the bias correction, as there.
class Adam : public Optimizer {
 public:
  explicit Adam(const AdamConfig& config) : Adam(config, false) {}

 protected:
  Adam(const AdamConfig& config, bool decoupled);

 private:
  void update(const Part& part) override;
  AdamConfig config_;
  bool decoupled_;
};

/// Loshchilov and Hutter 2019, algorithm 2, with the decay scaled by the learning rate.
class AdamW : public Adam {
 public:
  explicit AdamW(const AdamConfig& config) : Adam(config, true) {}
};

/// The sum of the squares, in double.
double sum_of_squares(std::span<const Real> gradients);
/// What gradients of this norm are to be multiplied by to have at most the norm `limit` (0: no limit); 1 for
/// a norm that is not finite (Pascanu et al. 2013).
double clip_scale(double norm, double limit);
/// Scales gradients so, and returns their norm before.
double clip_norm(Gradients& gradients, double limit);

}  // namespace tapehead
