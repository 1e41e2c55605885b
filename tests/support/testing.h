/// What the tests share: the precision they run in, and how close is close.
#pragma once

#include <doctest/doctest.h>

#include <initializer_list>
#include <span>
#include <string>

#include "tapehead/base/number.h"
#include "tapehead/base/require.h"
#include "tapehead/tensor/tensor.h"

/// A test that only means something in double (finite differences): it exists in the double build alone.
#ifdef TAPEHEAD_DOUBLE
#define DOUBLE_TEST_CASE(name) TEST_CASE(name)
#else
#define DOUBLE_TEST_CASE(name) \
  template <class Unused>      \
  void DOCTEST_ANONYMOUS(not_in_float_)()
#endif

namespace tapehead::testing {

/// The rounding that a few hundred operations may gather: 1e-9 in double, 2e-5 in float.
inline constexpr double kRounding = sizeof(Real) == 8 ? 1e-9 : 2e-5;

/// Checks the shape and every element, to an absolute and relative tolerance.
void check_close(const Tensor& actual, const Tensor& expected, double tolerance = kRounding);
void check_close(const Tensor& actual, const Shape& shape, std::initializer_list<double> expected,
                 double tolerance = kRounding);

/// Independent standard normals.
Tensor random_tensor(const Shape& shape, std::uint64_t seed, double scale = 1);

/// What the call says against its input, or "accepted".
template <class Call>
std::string complaint_of(const Call& call) {
  try {
    call();
  } catch (const UsageError& error) {
    return error.what();
  }
  return "accepted";
}

/// The message of the Error that the call throws, or "done".
template <class Call>
std::string failure_of(const Call& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.what();
  }
  return "done";
}

}  // namespace tapehead::testing
