#include "tapehead/autograd/elementwise.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <span>
#include <vector>
#include <xtensor/xbroadcast.hpp>
#include <xtensor/xmath.hpp>
#include <xtensor/xnoalias.hpp>

#include "tapehead/autograd/tape.h"
#include "tapehead/base/require.h"
#include "tapehead/tensor/xtensor.h"

namespace tapehead {

namespace {

/// An array as a flat one, whose rank is known when this is compiled.
auto flat(Real* data, const Shape& shape) {
  const auto count = static_cast<std::size_t>(shape.count());
  return xt::adapt(data, count, xt::no_ownership(), std::array<std::size_t, 1>{count});
}
auto flat(const Real* data, const Shape& shape) {
  const auto count = static_cast<std::size_t>(shape.count());
  return xt::adapt(data, count, xt::no_ownership(), std::array<std::size_t, 1>{count});
}

/// Whether stretching `small` to `large` is repeating it as a whole, as with a row for every token.
bool is_tail(const Shape& small, const Shape& large) {
  return std::equal(small.sizes().rbegin(), small.sizes().rend(), large.sizes().rbegin());
}

/// An input of an elementwise op at the shape of its result: itself, or a copy stretched along its axes of
/// size 1.
class Operand {
 public:
  Operand(const Variable& x, const Shape& shape) : data_(x.data()) {
    if (x.shape() == shape) return;
    stretched_ = Tensor::uninitialised(shape);
    data_ = stretched_.data();
    if (is_tail(x.shape(), shape)) {
      const Index count = x.shape().count();
      for (Index i = 0; i < shape.count(); i += count) std::copy_n(x.data(), count, stretched_.data() + i);
    } else {
      xt::noalias(view(stretched_)) = xt::broadcast(view(x.data(), x.shape()), detail::xtensor_shape(shape));
    }
  }
  const Real* data() const { return data_; }

 private:
  Tensor stretched_;
  const Real* data_;
};

/// y = f(inputs...), element by element. f is given xtensor expressions.
template <class F, class... Inputs>
void compute(Variable& y, const F& f, const Inputs&... inputs) {
  const Shape& shape = y.shape();
  xt::noalias(flat(y.output(), shape)) = f(flat(Operand(inputs, shape).data(), shape)...);
}

/// sink += gradient summed over the axes along which `shape` was stretched.
void add_reduced(Real* sink, const Shape& shape, const Tensor& gradient) {
  std::vector<std::size_t> axes;
  const int extra = gradient.shape().rank() - shape.rank();
  for (int axis = 0; axis < gradient.shape().rank(); ++axis)
    if (axis < extra || (shape[axis - extra] == 1 && gradient.shape()[axis] != 1))
      axes.push_back(static_cast<std::size_t>(axis));
  const xt::xarray<Real> reduced = xt::sum(view(gradient), axes, xt::evaluation_strategy::immediate);
  for (Index i = 0; i < shape.count(); ++i) sink[i] += reduced.data()[i];
}

/// The chain rule through an elementwise op y of x: adds upstream * slope(inputs...), and nothing where
/// upstream is 0, so that a value which was not taken passes nothing on, however steep the op is there.
template <class Slope, class... Inputs>
void accumulate_through(const Variable& x, const Variable& y, const Slope& slope, const Inputs&... inputs) {
  Real* sum = x.gradient_sum();
  if (sum == nullptr) return;
  const Shape& shape = y.shape();
  const auto add_to = [&](Real* to, const auto& up, const auto&... values) {
    xt::noalias(flat(to, shape)) += xt::where(xt::equal(up, Real{0}), Real{0}, up * slope(values...));
  };
  const auto add = [&](Real* to) {
    add_to(to, flat(y.upstream(), shape), flat(Operand(inputs, shape).data(), shape)...);
  };
  if (x.shape() == shape) {
    add(sum);
    return;
  }
  Tensor whole(shape);
  add(whole.data());
  add_reduced(sum, x.shape(), whole);
}

/// For an op that passes y's gradient on as it is: adds it to what x has so far, summed where x was
/// stretched.
void accumulate_all(const Variable& x, const Variable& y, bool is_last) {
  if (x.shape() == y.shape()) {
    is_last ? y.move_gradient_to(x) : y.add_gradient_to(x);
  } else if (Real* sum = x.gradient_sum()) {
    add_reduced(sum, x.shape(),
                Tensor(y.shape(), std::span(y.upstream(), static_cast<std::size_t>(y.shape().count()))));
  }
}

}  // namespace

Variable add(const Variable& a, const Variable& b) {
  Variable y = Variable::result("add", broadcast(a.shape(), b.shape()), {&a, &b});
  compute(
      y, [](const auto& u, const auto& v) { return u + v; }, a, b);
  record("add", y, [a, b, y] {
    accumulate_all(b, y, false);
    accumulate_all(a, y, true);
  });
  return y;
}

Variable subtract(const Variable& a, const Variable& b) {
  Variable y = Variable::result("subtract", broadcast(a.shape(), b.shape()), {&a, &b});
  compute(
      y, [](const auto& u, const auto& v) { return u - v; }, a, b);
  record("subtract", y, [a, b, y] {
    accumulate_through(b, y, [] { return Real{-1}; });
    accumulate_all(a, y, true);
  });
  return y;
}

Variable multiply(const Variable& a, const Variable& b) {
  Variable y = Variable::result("multiply", broadcast(a.shape(), b.shape()), {&a, &b});
  compute(
      y, [](const auto& u, const auto& v) { return u * v; }, a, b);
  record("multiply", y, [a, b, y] {
    const auto other = [](const auto& v) { return v; };
    accumulate_through(a, y, other, b);
    accumulate_through(b, y, other, a);
  });
  return y;
}

Variable divide(const Variable& a, const Variable& b) {
  Variable y = Variable::result("divide", broadcast(a.shape(), b.shape()), {&a, &b});
  compute(
      y, [](const auto& u, const auto& v) { return u / v; }, a, b);
  record("divide", y, [a, b, y] {
    accumulate_through(
        a, y, [](const auto& v) { return Real{1} / v; }, b);
    accumulate_through(
        b, y, [](const auto& out, const auto& v) { return -out / v; }, y, b);
  });
  return y;
}

Variable scale(const Variable& x, Real factor) {
  Variable y = Variable::result("scale", x.shape(), {&x});
  compute(
      y, [factor](const auto& v) { return factor * v; }, x);
  record("scale", y, [x, y, factor] { accumulate_through(x, y, [factor] { return factor; }); });
  return y;
}

Variable exp(const Variable& x) {
  Variable y = Variable::result("exp", x.shape(), {&x});
  compute(
      y, [](const auto& v) { return xt::exp(v); }, x);
  record("exp", y, [x, y] {
    accumulate_through(
        x, y, [](const auto& out) { return out; }, y);
  });
  return y;
}

Variable log(const Variable& x) {
  Variable y = Variable::result("log", x.shape(), {&x});
  compute(
      y, [](const auto& v) { return xt::log(v); }, x);
  record("log", y, [x, y] {
    accumulate_through(
        x, y, [](const auto& v) { return Real{1} / v; }, x);
  });
  return y;
}

Variable sqrt(const Variable& x) {
  Variable y = Variable::result("sqrt", x.shape(), {&x});
  compute(
      y, [](const auto& v) { return xt::sqrt(v); }, x);
  record("sqrt", y, [x, y] {
    accumulate_through(
        x, y, [](const auto& out) { return Real(0.5) / out; }, y);
  });
  return y;
}

Variable tanh(const Variable& x) {
  Variable y = Variable::result("tanh", x.shape(), {&x});
  compute(
      y, [](const auto& v) { return xt::tanh(v); }, x);
  record("tanh", y, [x, y] {
    accumulate_through(
        x, y, [](const auto& out) { return Real{1} - out * out; }, y);
  });
  return y;
}

Variable where(const Tensor& condition, const Variable& a, const Variable& b) {
  require(a.shape() == condition.shape() && b.shape() == condition.shape(),
          "[where] expected three arrays of one shape, got {}, {} and {}", condition.shape(), a.shape(),
          b.shape());
  Variable y = Variable::result("where", condition.shape(), {&a, &b});
  for (Index i = 0; i < condition.count(); ++i)
    y.output()[i] = condition.data()[i] != 0 ? a.data()[i] : b.data()[i];
  record("where", y, [condition, a, b, y] {
    Real* da = a.gradient_sum();
    Real* db = b.gradient_sum();
    for (Index i = 0; i < condition.count(); ++i) {
      Real* taken = condition.data()[i] != 0 ? da : db;
      if (taken != nullptr) taken[i] += y.upstream()[i];
    }
  });
  return y;
}

}  // namespace tapehead
