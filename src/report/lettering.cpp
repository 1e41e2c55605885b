#include "tapehead/report/lettering.h"

#include <array>

#include "tapehead/text/utf8.h"

namespace tapehead {

namespace {

// Advance widths of Inter 4.0 from ' ' to '~', in thousandths of the letters' size.
constexpr std::array<int, 95> kRegular = {
    281, 278, 403, 631, 638, 812, 639, 222, 362, 362, 500, 659, 280, 460, 276, 357, 625, 464, 605,
    636, 642, 608, 624, 571, 616, 624, 276, 280, 659, 659, 659, 507, 936, 676, 651, 727, 719, 598,
    587, 743, 740, 264, 543, 652, 562, 889, 753, 761, 635, 761, 639, 638, 642, 741, 676, 949, 642,
    665, 625, 362, 357, 362, 469, 452, 497, 564, 621, 558, 621, 582, 361, 609, 591, 237, 237, 544,
    237, 869, 585, 597, 609, 609, 372, 523, 364, 581, 557, 812, 540, 557, 541, 362, 327, 362, 659};
constexpr std::array<int, 95> kBold = {
    232, 325, 392, 650, 655, 859, 674, 209, 409, 409, 565, 680, 303, 469,  298, 390, 688, 489,  630,
    659, 678, 645, 660, 595, 661, 660, 298, 303, 680, 680, 680, 562, 1031, 748, 661, 752, 727,  613,
    585, 761, 746, 281, 570, 690, 567, 915, 735, 782, 648, 783, 656, 655,  668, 729, 748, 1036, 714,
    724, 667, 409, 390, 409, 488, 477, 497, 580, 635, 587, 635, 598, 386,  633, 624, 272, 272,  582,
    272, 912, 622, 614, 632, 632, 409, 562, 388, 622, 586, 850, 574, 586,  572, 409, 374, 409,  680};
constexpr int kSign = 659;  // of +, − and × alike, and taken for all that is not ASCII but this:
constexpr int kMiddleDot = 276;

int advance(std::string_view character, bool is_bold) {
  const unsigned char c = static_cast<unsigned char>(character.front());
  if (c >= ' ' && c <= '~') return (is_bold ? kBold : kRegular)[static_cast<std::size_t>(c - ' ')];
  return character == "·" ? kMiddleDot : kSign;
}

}  // namespace

double text_width(std::string_view text, double size, bool is_bold) {
  int thousandths = 0;
  while (!text.empty()) {
    const std::string_view character = text.substr(0, first_character(text).length);
    thousandths += advance(character, is_bold);
    text.remove_prefix(character.size());
  }
  return size * thousandths / 1000;
}

std::vector<std::string> wrap(std::string_view text, double width, double size, bool is_bold) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    const std::size_t space = text.find(' ');
    const std::string_view word = text.substr(0, space);
    text.remove_prefix(space == std::string_view::npos ? text.size() : space + 1);
    if (word.empty()) continue;
    std::string longer = lines.empty() ? "" : lines.back() + ' ';
    longer += word;
    if (!lines.empty() && text_width(longer, size, is_bold) <= width)
      lines.back() = std::move(longer);
    else
      lines.emplace_back(word);
  }
  return lines;
}

std::string shortened(std::string_view text, double width, double size) {
  if (text_width(text, size) <= width) return std::string(text);
  constexpr std::string_view kEllipsis = "…";
  double room = width - text_width(kEllipsis, size);
  std::size_t end = 0;
  while (end < text.size()) {
    const std::string_view character = text.substr(end, first_character(text.substr(end)).length);
    room -= text_width(character, size);
    if (room < 0) break;
    end += character.size();
  }
  return std::string(text.substr(0, end)).append(kEllipsis);
}

}  // namespace tapehead
