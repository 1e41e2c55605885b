/// Many numbers in little text: whole numbers of 16 bits in base64, times a scale.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <vector>

#include "tapehead/base/number.h"

namespace tapehead {

/// Each number is `scale` times a whole number from -32767 to 32767, which is written as two bytes, the lower
/// one first; -32768 stands for what is not finite. So every number is kept to half a scale.
struct Packed {
  double scale = 0;
  std::string data = {};  ///< base64 (RFC 4648, section 4)
};

/// With the scale that just fits the largest.
Packed packed(std::span<const Real> numbers);
/// Of numbers between -1 and 1, such as weights: packs of different numbers can be compared by their text.
Packed packed_shares(std::span<const Real> numbers);

/// The numbers, NaN where they were not finite. Throws Error for text that is no such base64.
std::vector<double> unpacked(const Packed& packed);

void to_json(nlohmann::ordered_json& json, const Packed& packed);

}  // namespace tapehead
