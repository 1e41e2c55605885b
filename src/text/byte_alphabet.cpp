#include "tapehead/text/byte_alphabet.h"

#include <algorithm>
#include <array>

#include "tapehead/text/utf8.h"

namespace tapehead {

namespace {

constexpr std::array<char32_t, 256> make_alphabet() {
  std::array<char32_t, 256> alphabet{};
  char32_t next = 256;
  for (char32_t byte = 0; byte < 256; ++byte) {
    const bool visible = (byte >= '!' && byte <= '~') || (byte >= 0xA1 && byte <= 0xFF && byte != 0xAD);
    alphabet[byte] = visible ? byte : next++;
  }
  return alphabet;
}

constexpr std::array<char32_t, 256> kAlphabet = make_alphabet();
constexpr char32_t kEnd = *std::max_element(kAlphabet.begin(), kAlphabet.end()) + 1;

constexpr std::array<int, kEnd> make_inverse() {
  std::array<int, kEnd> inverse{};
  inverse.fill(-1);
  for (int byte = 0; byte < 256; ++byte) inverse[kAlphabet[static_cast<std::size_t>(byte)]] = byte;
  return inverse;
}

constexpr std::array<int, kEnd> kInverse = make_inverse();

}  // namespace

std::string written_byte(unsigned char byte) { return utf8_of(kAlphabet[byte]); }

std::optional<std::string> bytes_written(std::string_view text) {
  std::string bytes;
  while (!text.empty()) {
    const Utf8Character character = first_character(text);
    if (character.code_point >= kEnd || kInverse[character.code_point] < 0) return std::nullopt;
    bytes += static_cast<char>(kInverse[character.code_point]);
    text.remove_prefix(character.length);
  }
  return bytes;
}

}  // namespace tapehead
