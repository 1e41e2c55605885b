#include "tapehead/autograd/elementary.h"

#include <algorithm>
#include <utility>
#include <vector>
#include <xtensor/xmanipulation.hpp>
#include <xtensor/xnoalias.hpp>

#include "tapehead/autograd/tape.h"
#include "tapehead/base/require.h"
#include "tapehead/kernels/softmax.h"
#include "tapehead/tensor/xtensor.h"

namespace tapehead {

namespace {

/// How an axis splits an array: outer blocks of `size` slices of `inner` elements.
struct AxisSplit {
  Index outer = 1;
  Index size = 1;
  Index inner = 1;
};

AxisSplit split_at(const Shape& shape, int axis) {
  axis = shape.checked_axis(axis);
  AxisSplit split;
  for (int i = 0; i < shape.rank(); ++i)
    (i < axis ? split.outer : i == axis ? split.size : split.inner) *= shape[i];
  return split;
}

}  // namespace

Variable reshape(const Variable& x, const Shape& shape) {
  require(x.shape().count() == shape.count(), "[reshape] {} has {} elements, {} has {}", x.shape(),
          x.shape().count(), shape, shape.count());
  Variable y = Variable::result("reshape", shape, {&x});
  std::copy_n(x.data(), shape.count(), y.output());
  record("reshape", y, [x, y] { y.move_gradient_to(x); });
  return y;
}

Variable transpose(const Variable& x, int axis, int other_axis) {
  std::vector<std::size_t> order(static_cast<std::size_t>(x.shape().rank()));
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  axis = x.shape().checked_axis(axis);
  other_axis = x.shape().checked_axis(other_axis);
  std::swap(order[static_cast<std::size_t>(axis)], order[static_cast<std::size_t>(other_axis)]);
  const Shape shape = x.shape().with(axis, x.shape()[other_axis]).with(other_axis, x.shape()[axis]);
  Variable y = Variable::result("transpose", shape, {&x});
  xt::noalias(view(y.output(), y.shape())) = xt::transpose(view(x.data(), x.shape()), order);
  record("transpose", y, [x, y, order] {
    xt::noalias(view(x.gradient_sum(), x.shape())) += xt::transpose(view(y.upstream(), y.shape()), order);
  });
  return y;
}

Variable slice(const Variable& x, int axis, Index begin, Index end) {
  const AxisSplit split = split_at(x.shape(), axis);
  require(begin >= 0 && begin <= end && end <= split.size, "[slice] no elements {} to {} along axis {} of {}",
          begin, end, axis, x.shape());
  const Index run = (end - begin) * split.inner;
  const Index stride = split.size * split.inner;
  const Index first = begin * split.inner;
  Variable y = Variable::result("slice", x.shape().with(axis, end - begin), {&x});
  for (Index i = 0; i < split.outer; ++i)
    std::copy_n(x.data() + i * stride + first, run, y.output() + i * run);
  record("slice", y, [x, y, split, run, stride, first] {
    Real* dx = x.gradient_sum();
    for (Index i = 0; i < split.outer; ++i)
      for (Index j = 0; j < run; ++j) dx[i * stride + first + j] += y.upstream()[i * run + j];
  });
  return y;
}

Variable sum(const Variable& x) { return reshape(sum(reshape(x, {x.shape().count()}), 0), {}); }

Variable sum(const Variable& x, int axis) {
  const AxisSplit split = split_at(x.shape(), axis);
  Variable y = Variable::result("sum", x.shape().with(axis, 1), {&x});
  for (Index i = 0; i < split.outer; ++i)
    for (Index k = 0; k < split.inner; ++k) {
      double total = 0;
      for (Index j = 0; j < split.size; ++j)
        total += static_cast<double>(x.data()[(i * split.size + j) * split.inner + k]);
      y.output()[i * split.inner + k] = static_cast<Real>(total);
    }
  record("sum", y, [x, y, split] {
    Real* dx = x.gradient_sum();
    for (Index i = 0; i < split.outer; ++i)
      for (Index j = 0; j < split.size; ++j)
        for (Index k = 0; k < split.inner; ++k)
          dx[(i * split.size + j) * split.inner + k] += y.upstream()[i * split.inner + k];
  });
  return y;
}

Variable mean(const Variable& x) {
  require(x.shape().count() > 0, "[mean] the mean of no elements, shape {}", x.shape());
  return scale(sum(x), 1 / static_cast<Real>(x.shape().count()));
}

Variable mean(const Variable& x, int axis) {
  require(x.shape()[axis] > 0, "[mean] the mean of no elements along axis {} of {}", axis, x.shape());
  return scale(sum(x, axis), 1 / static_cast<Real>(x.shape()[axis]));
}

Variable max(const Variable& x, int axis) {
  const AxisSplit split = split_at(x.shape(), axis);
  require(split.size > 0, "[max] the largest of no elements along axis {} of {}", axis, x.shape());
  Variable y = Variable::result("max", x.shape().with(axis, 1), {&x});
  std::vector<Index> places(static_cast<std::size_t>(y.shape().count()));
  for (Index i = 0; i < split.outer; ++i)
    for (Index k = 0; k < split.inner; ++k) {
      Index place = i * split.size * split.inner + k;
      for (Index j = 1; j < split.size; ++j) {
        const Index candidate = (i * split.size + j) * split.inner + k;
        if (x.data()[candidate] > x.data()[place]) place = candidate;
      }
      places[static_cast<std::size_t>(i * split.inner + k)] = place;
      y.output()[i * split.inner + k] = x.data()[place];
    }
  record("max", y, [x, y, places] {
    Real* dx = x.gradient_sum();
    for (std::size_t i = 0; i < places.size(); ++i) dx[places[i]] += y.upstream()[i];
  });
  return y;
}

Variable softmax(const Variable& x) {
  const Index width = x.shape()[-1];
  require(width > 0, "[softmax] a row of no elements, shape {}", x.shape());
  Variable y = Variable::result("softmax", x.shape(), {&x});
  for (Index i = 0; i < x.shape().rows(); ++i)
    kernels::softmax_row(y.output() + i * width, x.data() + i * width, width);
  record("softmax", y, [x, y, width] {
    Real* dx = x.gradient_sum();
    for (Index i = 0; i < x.shape().rows(); ++i)
      kernels::softmax_row_backward(dx + i * width, y.upstream() + i * width, y.data() + i * width, width);
  });
  return y;
}

Variable gather(const Variable& x, const Tokens& ids) {
  require(x.shape().rank() == 3 && x.shape()[0] == ids.batch() && x.shape()[1] == ids.length(),
          "[gather] expected x (B, T, N) for ids ({}, {}), got {}", ids.batch(), ids.length(), x.shape());
  const Index width = x.shape()[2];
  for (const std::int32_t id : ids.values())
    require(id >= 0 && id < width, "[gather] expected ids between 0 and {}, got {}", width - 1, id);
  Variable y = Variable::result("gather", {ids.batch(), ids.length()}, {&x});
  for (Index i = 0; i < ids.count(); ++i) y.output()[i] = x.data()[i * width + ids.data()[i]];
  record("gather", y, [x, y, ids, width] {
    Real* dx = x.gradient_sum();
    for (Index i = 0; i < ids.count(); ++i) dx[i * width + ids.data()[i]] += y.upstream()[i];
  });
  return y;
}

}  // namespace tapehead
