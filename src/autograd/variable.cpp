#include "tapehead/autograd/variable.h"

#include <algorithm>
#include <utility>

#include "tapehead/base/require.h"

namespace tapehead {

Variable::Variable(Tensor value) : node_(std::make_shared<Node>()) {
  node_->shape = value.shape();
  node_->storage = std::move(value).release();
  node_->value = node_->storage.get();
}

Variable Variable::window(const Real* value, const Shape& shape) {
  Variable variable;
  variable.node_ = std::make_shared<Node>();
  variable.node_->shape = shape;
  variable.node_->value = value;
  return variable;
}

const Variable::Node& Variable::node() const {
  require(node_ != nullptr, "[variable] this variable holds no value");
  return *node_;
}

Tensor Variable::value() const {
  return Tensor(shape(), std::span(data(), static_cast<std::size_t>(shape().count())));
}

Real Variable::item() const {
  require(shape().count() == 1, "[variable] expected a single number, got shape {}", shape());
  return *data();
}

Tensor Variable::gradient() const {
  require(node().was_recorded, "[variable] a constant has no gradient; make it with Tape::variable");
  require(node().has_run, "[variable] the gradient is there after Tape::backward");
  require(node().value == node().storage.get(),
          "[variable] a parameter's gradient is in what Tape::backward returned");
  if (node().gradient == nullptr) return Tensor(shape());
  return Tensor(shape(), std::span<const Real>(node().gradient, static_cast<std::size_t>(shape().count())));
}

Variable Variable::result(const char* op, const Shape& shape, std::initializer_list<const Variable*> inputs) {
  Tape* tape = nullptr;
  for (const Variable* input : inputs) {
    if (!*input) continue;
    require(input->is_recorded() || !input->node().was_recorded,
            "[{}] an input comes from a tape that has already run backward; take its value() as a constant",
            op);
    if (!input->is_recorded()) continue;
    require(tape == nullptr || tape == input->tape(), "[{}] the inputs come from two tapes", op);
    tape = input->tape();
  }
  Variable result(Tensor::uninitialised(shape));
  result.node_->tape = tape;
  result.node_->was_recorded = tape != nullptr;
  return result;
}

kernels::Sink Variable::gradient_sink() const {
  if (!is_recorded()) return {nullptr, 0};
  if (node_->gradient != nullptr) return {node_->gradient, 1};
  if (node_->gradient_home == nullptr) node_->gradient_storage = allocate(node_->shape.count());
  node_->gradient = node_->gradient_home != nullptr ? node_->gradient_home : node_->gradient_storage.get();
  return {node_->gradient, 0};
}

Real* Variable::gradient_sum() const {
  const kernels::Sink gradient = gradient_sink();
  if (gradient && gradient.keep == 0) std::fill_n(gradient.data, node_->shape.count(), Real{0});
  return gradient.data;
}

void Variable::add_gradient_to(const Variable& x) const {
  if (!x.is_recorded()) return;
  const Index count = node_->shape.count();
  const kernels::Sink sum = x.gradient_sink();
  if (sum.keep == 0)
    std::copy_n(node_->gradient, count, sum.data);
  else
    for (Index i = 0; i < count; ++i) sum.data[i] += node_->gradient[i];
}

void Variable::move_gradient_to(const Variable& x) const {
  // The tape's step and the op's closure hold a variable; whoever else does may want to read its gradient.
  const bool unseen = node_.use_count() <= 2;
  if (!unseen || !x.is_recorded() || x.node_->gradient != nullptr || x.node_->gradient_home != nullptr) {
    add_gradient_to(x);
    return;
  }
  x.node_->gradient_storage = std::move(node_->gradient_storage);
  x.node_->gradient = std::exchange(node_->gradient, nullptr);
}

Variable constant(const Real* numbers, const Shape& shape) { return Variable::window(numbers, shape); }

Variable constant(const Parameter& parameter) { return constant(parameter.data(), parameter.shape); }

}  // namespace tapehead
