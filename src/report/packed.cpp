#include "tapehead/report/packed.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>

#include "tapehead/base/require.h"

namespace tapehead {

namespace {

constexpr double kLargest = 32767;
constexpr std::int16_t kNotFinite = -32768;
constexpr std::string_view kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

std::string base64(const std::vector<std::uint8_t>& bytes) {
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    std::uint32_t word = 0;
    for (std::size_t j = 0; j < 3; ++j) word = word << 8 | (i + j < bytes.size() ? bytes[i + j] : 0U);
    for (std::size_t j = 0; j < 4; ++j)
      text += i + j > bytes.size() ? '=' : kDigits[word >> (18 - 6 * j) & 63U];
  }
  return text;
}

std::vector<std::uint8_t> bytes_in(std::string_view text) {
  require(text.size() % 4 == 0, "[page] expected base64 in groups of four, got {} characters", text.size());
  std::vector<std::uint8_t> bytes;
  bool ended = false;  // by '='
  for (std::size_t i = 0; i < text.size(); i += 4) {
    std::uint32_t word = 0;
    std::size_t filled = 0;
    for (const char c : text.substr(i, 4)) {
      const std::size_t digit = kDigits.find(c);
      ended = ended || (c == '=' && i + 4 == text.size() && filled >= 2);
      require(ended ? c == '=' : digit != std::string_view::npos, "[page] expected base64, got '{}'", c);
      word = word << 6 | (ended ? 0U : static_cast<std::uint32_t>(digit));
      if (!ended) ++filled;
    }
    for (std::size_t j = 0; j + 1 < filled; ++j)
      bytes.push_back(static_cast<std::uint8_t>(word >> (16 - 8 * j) & 255U));
  }
  return bytes;
}

Packed packed_at(std::span<const Real> numbers, double scale) {
  std::vector<std::uint8_t> bytes;
  bytes.reserve(2 * numbers.size());
  for (const Real number : numbers) {
    std::int16_t whole = kNotFinite;
    if (std::isfinite(number))
      whole = static_cast<std::int16_t>(
          scale > 0 ? std::clamp(std::round(static_cast<double>(number) / scale), -kLargest, kLargest) : 0);
    const auto word = static_cast<std::uint16_t>(whole);
    bytes.push_back(static_cast<std::uint8_t>(word & 255U));
    bytes.push_back(static_cast<std::uint8_t>(word >> 8));
  }
  return {scale, base64(bytes)};
}

}  // namespace

Packed packed(std::span<const Real> numbers) {
  double largest = 0;
  for (const Real number : numbers)
    if (std::isfinite(number)) largest = std::max(largest, std::abs(static_cast<double>(number)));
  return packed_at(numbers, largest / kLargest);
}

Packed packed_shares(std::span<const Real> numbers) { return packed_at(numbers, 1 / kLargest); }

std::vector<double> unpacked(const Packed& packed) {
  const std::vector<std::uint8_t> bytes = bytes_in(packed.data);
  require(bytes.size() % 2 == 0, "[page] expected two bytes a number, got {} in all", bytes.size());
  std::vector<double> numbers;
  for (std::size_t i = 0; i < bytes.size(); i += 2) {
    const auto whole = static_cast<std::int16_t>(bytes[i] | bytes[i + 1] << 8);
    numbers.push_back(whole == kNotFinite ? std::numeric_limits<double>::quiet_NaN() : packed.scale * whole);
  }
  return numbers;
}

void to_json(nlohmann::ordered_json& json, const Packed& packed) {
  json = {{"scale", packed.scale}, {"data", packed.data}};
}

}  // namespace tapehead
