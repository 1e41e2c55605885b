/// A Tensor seen through xtensor: `xt::noalias(view(c)) = view(a) + view(b)`.
///
/// Included only where expressions are written, since xtensor's headers are heavy and its own array type
/// changes with compiler flags; a Tensor does not. Three rules keep expressions right (xtensor 0.24):
/// assign through xt::noalias; reduce into a named array before using the result in another expression;
/// never keep an expression in `auto`.
#pragma once

#include <cstddef>
#include <xtensor/xadapt.hpp>
#include <xtensor/xarray.hpp>

#include "tapehead/tensor/tensor.h"

namespace tapehead {

namespace detail {

/// Held inline up to rank 4, so that a view costs no allocation.
inline xt::dynamic_shape<std::size_t> xtensor_shape(const Shape& shape) {
  return {shape.sizes().begin(), shape.sizes().end()};
}

}  // namespace detail

/// A window with the tensor's shape onto `data`; it owns nothing.
inline auto view(Real* data, const Shape& shape) {
  return xt::adapt(data, static_cast<std::size_t>(shape.count()), xt::no_ownership(),
                   detail::xtensor_shape(shape));
}
inline auto view(const Real* data, const Shape& shape) {
  return xt::adapt(data, static_cast<std::size_t>(shape.count()), xt::no_ownership(),
                   detail::xtensor_shape(shape));
}
inline auto view(Tensor& tensor) { return view(tensor.data(), tensor.shape()); }
inline auto view(const Tensor& tensor) { return view(tensor.data(), tensor.shape()); }

}  // namespace tapehead
