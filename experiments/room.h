/// What the rooms' programs share: a verdict that is remembered, and random numbers.
#pragma once

#include <string_view>

#include "tapehead/base/random.h"
#include "tapehead/tensor/tensor.h"

namespace tapehead::room {

/// Whether something was not as it must be; such a program ends with status 1.
inline bool failed = false;

/// To be printed behind a number: nothing where it is good, and else a complaint, which is remembered.
inline std::string_view judged(bool good) {
  failed = failed || !good;
  return good ? "" : "   NOT AS EXPECTED";
}

/// Independent normal numbers around 0.
inline Tensor normals(const Shape& shape, Generator& generator, double deviation = 1) {
  Tensor values(shape);
  for (Real& value : values.values()) value = static_cast<Real>(deviation * generator.normal());
  return values;
}

}  // namespace tapehead::room
