#include "tapehead/autograd/variable.h"

#include <utility>

#include "tapehead/base/require.h"

namespace tapehead {

Variable::Variable(Tensor value) : node_(std::make_shared<Node>()) {
  node_->shape = value.shape();
  node_->storage = std::move(value);
  node_->value = node_->storage.data();
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
  require(node().value == node().storage.data(),
          "[variable] a parameter's gradient is in what Tape::backward returned");
  return node().gradient == nullptr ? Tensor(shape()) : node().gradient_storage;
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

Real* Variable::gradient_sink() const {
  if (!is_recorded()) return nullptr;
  if (node_->gradient == nullptr) {
    node_->gradient_storage = Tensor(node_->shape);
    node_->gradient = node_->gradient_storage.data();
  }
  return node_->gradient;
}

Variable constant(const Parameter& parameter) { return Variable::window(parameter.data(), parameter.shape); }

}  // namespace tapehead
