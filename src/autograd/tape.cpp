#include "tapehead/autograd/tape.h"

#include "tapehead/base/require.h"

namespace tapehead {

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
  leaves_.push_back(recorded(Variable::window(parameter.data(), parameter.shape)));
  if (parameters_ == nullptr) {
    parameters_ = parameter.owner;
    parameters_version_ = parameters_->version();
    gradients_ = Gradients({parameters_->count()});
  }
  require(parameters_ == parameter.owner, "[tape] one tape goes through the parameters of one model only");
  leaves_.back().node_->gradient = gradients_.data() + parameter.offset;
  return leaves_.back();
}

void Tape::record(const char* op, const Variable& result, std::function<void()> backward) {
  steps_.push_back({op, result, std::move(backward)});
}

Gradients Tape::backward(const Variable& loss) {
  require(loss && loss.shape().count() == 1, "[backward] expected a loss with one element, got shape {}",
          loss ? to_string(loss.shape()) : "of nothing");
  require(loss.is_recorded() || !loss.node().was_recorded, "[backward] this tape has already run backward");
  require(loss.tape() == this, "[backward] the loss is not on this tape: no recorded variable leads to it");
  require(parameters_ == nullptr || parameters_->version() == parameters_version_,
          "[backward] the parameters were changed since the forward pass used them");
  try {
    *loss.gradient_sink() += 1;
    while (!steps_.empty()) {
      const Step step = std::move(steps_.back());
      steps_.pop_back();
      if (step.result.upstream() != nullptr) step.backward();
      step.result.node_->tape = nullptr;
      step.result.node_->has_run = true;
    }
    for (const Variable& leaf : leaves_) leaf.node_->has_run = true;
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
  steps_.clear();
  leaves_.clear();
  parameters_ = nullptr;
  gradients_ = Gradients();
}

}  // namespace tapehead
