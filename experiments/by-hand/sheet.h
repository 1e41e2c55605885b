/// Results beside the digits that they should have.
#pragma once

#include <fmt/format.h>

#include <cmath>
#include <iostream>
#include <string>
#include <string_view>
#include <vector>

#include "tapehead/autograd/variable.h"

namespace by_hand {

using tapehead::Index;
using tapehead::Real;
using tapehead::Tensor;
using tapehead::Variable;
using Numbers = std::vector<double>;

/// What was worked out, and how often it was not what it should be.
class Sheet {
 public:
  void title(std::string_view words) { std::cout << fmt::format("\n{}\n{:=<{}}\n", words, "", words.size()); }
  void section(std::string_view words) { std::cout << fmt::format("\n{}\n", words); }

  /// A result whose digits stand in the text.
  void as_in_text(std::string_view name, const Variable& ours, const Numbers& text, int decimals = 3) {
    show(name, ours.value(), decimals);
    const Tensor value = ours.value();
    bool same = text.size() == value.values().size();
    for (std::size_t i = 0; same && i < text.size(); ++i)
      same = digits(static_cast<double>(value.values()[i]), decimals) == digits(text[i], decimals);
    close_with(same, "as in the text", "the text has", text, decimals);
  }
  /// A result that the text leaves out, beside the same by another way.
  void as_another_way(std::string_view name, const Tensor& value, const Numbers& other,
                      std::string_view way) {
    show(name, value, 3);
    bool same = other.size() == value.values().size();
    for (std::size_t i = 0; same && i < other.size(); ++i)
      same = std::abs(static_cast<double>(value.values()[i]) - other[i]) < 2e-6;
    close_with(same, fmt::format("not in the text; the same {}", way), fmt::format("{} gives", way), other,
               6);
  }

  /// Says the last word; the program's status.
  int verdict() const {
    std::cout << fmt::format("\n{} results worked out, {} differ\n", results_, differ_);
    return differ_ == 0 ? 0 : 1;
  }

 private:
  static std::string digits(double value, int decimals) {
    const std::string text = fmt::format("{:.{}f}", value, decimals);
    return text.find_first_not_of("-0.") == std::string::npos ? fmt::format("{:.{}f}", 0.0, decimals) : text;
  }
  static std::string row_of(const Real* numbers, Index count, int decimals) {
    std::string row;
    for (Index i = 0; i < count; ++i)
      row += fmt::format("{:>8}", digits(static_cast<double>(numbers[i]), decimals));
    return row;
  }
  void show(std::string_view name, const Tensor& value, int decimals) {
    const Index width = value.shape().rank() == 0 ? 1 : value.shape()[-1];
    for (Index i = 0; i < value.count(); i += width)
      std::cout << (i == 0 ? "" : "\n")
                << fmt::format("  {:<30}{}", i == 0 ? name : "", row_of(value.data() + i, width, decimals));
  }
  void close_with(bool same, std::string_view good, std::string_view bad, const Numbers& other,
                  int decimals) {
    ++results_;
    if (same) {
      std::cout << fmt::format("   {}\n", good);
      return;
    }
    ++differ_;
    std::cout << fmt::format("   DIFFERENT: {}", bad);
    for (const double number : other) std::cout << " " << digits(number, decimals);
    std::cout << "\n";
  }

  int results_ = 0;
  int differ_ = 0;
};

}  // namespace by_hand
