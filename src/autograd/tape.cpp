#include "tapehead/autograd/tape.h"

#include <algorithm>

#include "tapehead/base/require.h"

namespace tapehead {

namespace {

/// As many numbers as x has.
std::span<const Real> span_of(const Variable& x, const Real* numbers) {
  return {numbers, static_cast<std::size_t>(x.shape().count())};
}

}  // namespace

Variable Tape::recorded(Variable variable) {
  variable.node_->tape = this;
  variable.node_->was_recorded = true;
  return variable;
}

Variable Tape::variable(Tensor value) {
  leaves_.push_back(recorded(Variable(std::move(value))));
  return leaves_.back();
}

Variable Tape::parameter(const Parameter& parameter) {
  if (parameters_ == nullptr) {
    parameters_ = parameter.owner;
    parameters_version_ = parameters_->version();
    gradients_ = Gradients::uninitialised({parameters_->count()});
  }
  require(parameters_ == parameter.owner, "[tape] one tape goes through the parameters of one model only");
  for (const Variable& window : windows_)
    if (begin_of(window) == parameter.offset && window.shape() == parameter.shape) return window;
  const Variable added = recorded(Variable::window(parameter.data(), parameter.shape));
  added.node_->gradient_home = gradients_.data() + parameter.offset;
  // Windows that overlap cannot each write the whole of theirs: they add, to zeros.
  for (const Variable& window : windows_)
    if (begin_of(window) < parameter.offset + parameter.shape.count() &&
        parameter.offset < begin_of(window) + window.shape().count()) {
      window.gradient_sum();
      added.gradient_sum();
    }
  windows_.push_back(added);
  return added;
}

Index Tape::begin_of(const Variable& window) const { return window.node_->gradient_home - gradients_.data(); }

void Tape::fill_gaps() {
  std::sort(windows_.begin(), windows_.end(),
            [&](const Variable& a, const Variable& b) { return begin_of(a) < begin_of(b); });
  Index filled = 0;
  const auto fill_to = [&](Index end) {
    if (filled < end) std::fill(gradients_.data() + filled, gradients_.data() + end, Real{0});
  };
  for (const Variable& window : windows_) {
    if (window.upstream() == nullptr) continue;
    fill_to(begin_of(window));
    filled = std::max(filled, begin_of(window) + window.shape().count());
  }
  fill_to(gradients_.count());
}

bool Tape::gradients_are_finite() const {
  const auto finite = [](const Variable& x) {
    return x.upstream() == nullptr || all_finite(span_of(x, x.upstream()));
  };
  return std::ranges::all_of(leaves_, finite) && std::ranges::all_of(windows_, finite) &&
         std::ranges::all_of(steps_, finite, &Step::result);
}

void Tape::record(const char* op, const Variable& result, std::function<void()> backward) {
  laps_.add_forward(op);
  if (looking_ && !fault_ && !all_finite(span_of(result, result.data()))) fault_ = {op, steps_.size(), false};
  steps_.push_back({op, result, std::move(backward)});
}

Gradients Tape::backward(const Variable& loss) {
  require(loss && loss.shape().count() == 1, "[backward] expected a loss with one element, got shape {}",
          loss ? to_string(loss.shape()) : "of nothing");
  require(loss.is_recorded() || !loss.node().was_recorded, "[backward] this tape has already run backward");
  require(loss.tape() == this, "[backward] the loss is not on this tape: no recorded variable leads to it");
  require(parameters_ == nullptr || parameters_->version() == parameters_version_,
          "[backward] the parameters were changed since the forward pass used them");
  laps_.skip();
  try {
    *loss.gradient_sum() += 1;
    while (!steps_.empty()) {
      const Step step = std::move(steps_.back());
      steps_.pop_back();
      if (step.result.upstream() != nullptr) step.backward();
      if (looking_ && !fault_ && !gradients_are_finite()) fault_ = {step.op, steps_.size(), true};
      step.result.node_->tape = nullptr;
      step.result.node_->has_run = true;
      laps_.add_backward(step.op);
    }
    for (const Variable& leaf : leaves_) leaf.node_->has_run = true;
    for (const Variable& window : windows_) window.node_->has_run = true;
    if (parameters_ != nullptr) fill_gaps();
  } catch (...) {
    clear();
    throw;
  }
  Gradients gradients = std::move(gradients_);
  clear();
  return gradients;
}

void Tape::clear() {
  for (const Step& step : steps_) step.result.node_->tape = nullptr;
  for (const Variable& leaf : leaves_) leaf.node_->tape = nullptr;
  for (const Variable& window : windows_) window.node_->tape = nullptr;
  steps_.clear();
  leaves_.clear();
  windows_.clear();
  parameters_ = nullptr;
  gradients_ = Gradients();
}

}  // namespace tapehead
