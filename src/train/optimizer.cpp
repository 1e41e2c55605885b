#include "tapehead/train/optimizer.h"

#include <algorithm>
#include <cmath>

#include "tapehead/base/parallel.h"
#include "tapehead/base/require.h"

namespace tapehead {

namespace {

bool all_finite(const Tensor& values, int threads) {
  // A sum of zeros times the numbers is NaN exactly if one of them is not finite.
  return sum_over_chunks(values.count(), threads, [&](Index begin, Index end) {
           Real probe = 0;
#pragma omp simd reduction(+ : probe)
           for (Index i = begin; i < end; ++i) probe += 0 * values.data()[i];
           return static_cast<double>(probe);
         }) == 0;
}

/// Calls body(entry, begin, end) for the part of each entry that lies in a stretch of the flat buffer.
template <class Body>
void for_each_part(const std::vector<Parameters::Entry>& entries, Index begin, Index end, const Body& body) {
  auto entry = std::partition_point(entries.begin(), entries.end(), [&](const Parameters::Entry& e) {
    return e.offset + e.count() <= begin;
  });
  for (; entry != entries.end() && entry->offset < end; ++entry)
    body(*entry, std::max(begin, entry->offset), std::min(end, entry->offset + entry->count()));
}

}  // namespace

Optimizer::Optimizer(double learning_rate, std::vector<std::string> state_names)
    : learning_rate_(learning_rate) {
  for (std::string& name : state_names) state_.push_back({std::move(name), Tensor()});
}

void Optimizer::step(Parameters& parameters, const Gradients& gradients, const StepOptions& options) {
  require(gradients.count() == parameters.count(), "[optimizer] expected {} gradients, got {}",
          parameters.count(), gradients.count());
  require(std::isfinite(options.scale), "[optimizer] expected a finite scale of the gradients, got {}",
          options.scale);
  require(all_finite(gradients, options.threads),
          "[optimizer] a gradient is not finite; the parameters were left as they are");
  for (State& state : state_) {
    if (state.values.count() == 0) state.values = Tensor({parameters.count()});
    require(state.values.count() == parameters.count(), "[optimizer] has averages of {} numbers, not of {}",
            state.values.count(), parameters.count());
  }
  ++steps_;
  Real* values = parameters.change().data();
  for_each_chunk(parameters.count(), options.threads, [&](Index begin, Index end) {
    for_each_part(parameters.entries(), begin, end,
                  [&](const Parameters::Entry& entry, Index from, Index to) {
                    update({.values = values + from,
                            .gradients = gradients.data() + from,
                            .scale = static_cast<Real>(options.scale),
                            .offset = from,
                            .count = to - from,
                            .decays = entry.decays()});
                  });
  });
}

void Optimizer::restore(Index steps, std::vector<State> state) {
  require(state.size() == state_.size(), "[optimizer] expected {} averages, got {}", state_.size(),
          state.size());
  for (std::size_t i = 0; i < state.size(); ++i) {
    require(state[i].name == state_[i].name, "[optimizer] expected the average {}, got {}", state_[i].name,
            state[i].name);
    const Index count = state[i].values.count();
    require((count > 0) == (steps > 0) && count == state[0].values.count(),
            "[optimizer] after {} updates, an average {} of {} numbers does not fit", steps, state[i].name,
            count);
  }
  steps_ = steps;
  state_ = std::move(state);
}

Sgd::Sgd(const Config& config) : Optimizer(config.learning_rate, {"momentum"}), config_(config) {}

void Sgd::update(const Part& part) {
  Real* w = part.values;
  Real* v = state_at(0, part.offset);
  const Real rate = static_cast<Real>(learning_rate());
  const Real momentum = static_cast<Real>(config_.momentum);
  const Real pull = static_cast<Real>(part.decays ? config_.weight_decay : 0);
  for (Index i = 0; i < part.count; ++i) {
    v[i] = momentum * v[i] + (part.scale * part.gradients[i] + pull * w[i]);
    w[i] -= rate * v[i];
  }
}

Adam::Adam(const AdamConfig& config, bool decoupled)
    : Optimizer(config.learning_rate, {"first_moment", "second_moment"}),
      config_(config),
      decoupled_(decoupled) {}

void Adam::update(const Part& part) {
  Real* w = part.values;
  const Real* g = part.gradients;
  Real* m = state_at(0, part.offset);
  Real* v = state_at(1, part.offset);
  const double t = static_cast<double>(steps());
  const double rate = learning_rate();
  const double weight_decay = part.decays ? config_.weight_decay : 0;
  const Real beta1 = static_cast<Real>(config_.beta1);
  const Real beta2 = static_cast<Real>(config_.beta2);
  const Real new1 = static_cast<Real>(1 - config_.beta1);
  const Real new2 = static_cast<Real>(1 - config_.beta2);
  const Real pull = static_cast<Real>(decoupled_ ? 0 : weight_decay);
  const Real shrink = static_cast<Real>(decoupled_ ? 1 - rate * weight_decay : 1);
  const Real step_size = static_cast<Real>(rate / (1 - std::pow(config_.beta1, t)));
  const Real correct2 = static_cast<Real>(1 / std::sqrt(1 - std::pow(config_.beta2, t)));
  const Real epsilon = static_cast<Real>(config_.epsilon);
  const Real scale = part.scale;
  for (Index i = 0; i < part.count; ++i) {
    const Real gradient = scale * g[i] + pull * w[i];
    m[i] = beta1 * m[i] + new1 * gradient;
    v[i] = beta2 * v[i] + new2 * gradient * gradient;
    w[i] = shrink * w[i] - step_size * m[i] / (std::sqrt(v[i]) * correct2 + epsilon);
  }
}

double sum_of_squares(std::span<const Real> gradients) {
  double sum = 0;
#pragma omp simd reduction(+ : sum)
  for (std::size_t i = 0; i < gradients.size(); ++i)
    sum += static_cast<double>(gradients[i]) * static_cast<double>(gradients[i]);
  return sum;
}

double clip_scale(double norm, double limit) {
  return limit > 0 && norm > limit && std::isfinite(norm) ? limit / norm : 1;
}

double clip_norm(Gradients& gradients, double limit) {
  const double norm = std::sqrt(sum_of_squares(gradients.values()));
  const Real scale = static_cast<Real>(clip_scale(norm, limit));
  if (scale != 1)
    for (Real& gradient : gradients.values()) gradient *= scale;
  return norm;
}

}  // namespace tapehead
