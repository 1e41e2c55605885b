#include "support/functions.h"

#include <cstring>

#include "tapehead/autograd/elementary.h"
#include "tapehead/autograd/gradient_check.h"
#include "tapehead/base/random.h"

namespace tapehead::testing {

Variable weighed(const Variable& y) { return sum(y * Variable(random_tensor(y.shape(), 4242))); }

Outcome outcome_of(const Function& function, const std::vector<Tensor>& inputs) {
  Tape tape;
  Inputs variables;
  for (const Tensor& input : inputs) variables.push_back(tape.variable(input));
  const Variable y = function(variables);
  tape.backward(weighed(y));
  Outcome outcome{y.value(), {}};
  for (const Variable& variable : variables) outcome.gradients.push_back(variable.gradient());
  return outcome;
}

void check_same(const Function& function, const Function& definition, const std::vector<Tensor>& inputs,
                double tolerance) {
  const Outcome actual = outcome_of(function, inputs);
  const Outcome expected = outcome_of(definition, inputs);
  check_close(actual.value, expected.value, tolerance);
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    CAPTURE(i);
    check_close(actual.gradients[i], expected.gradients[i], tolerance);
  }
}

void check_roles(const Function& function, const Tensor& value) {
  const Outcome apart = outcome_of(function, {value, value});
  const Outcome together = outcome_of([&](const Inputs& in) { return function({in[0], in[0]}); }, {value});
  CHECK(same_bits(together.value, apart.value));
  Tensor sum = apart.gradients[0];
  for (Index i = 0; i < sum.count(); ++i) sum.data()[i] += apart.gradients[1].data()[i];
  check_close(together.gradients[0], sum);
}

double gradient_error(const Function& function, const std::vector<Tensor>& inputs) {
  return gradient_check(inputs, [&](Tape&, const Inputs& variables) { return weighed(function(variables)); });
}

Tokens random_tokens(Index batch, Index length, Index limit, std::uint64_t seed) {
  Generator generator(seed);
  Tokens tokens(batch, length);
  for (Index b = 0; b < batch; ++b)
    for (Index t = 0; t < length; ++t) tokens(b, t) = static_cast<std::int32_t>(generator.below(limit));
  return tokens;
}

bool same_bits(const Tensor& a, const Tensor& b) {
  if (a.shape() != b.shape()) return false;
  // Of an empty tensor the address may be null, which memcmp does not take.
  return a.count() == 0 ||
         std::memcmp(a.data(), b.data(), static_cast<std::size_t>(a.count()) * sizeof(Real)) == 0;
}

}  // namespace tapehead::testing
