#include "tapehead/app/table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "tapehead/text/display.h"

namespace tapehead::app {

namespace {

bool looks_like_a_number(const std::string& text) {
  return text == "-" || text.find_first_of("0123456789") == 0 ||
         (text.size() > 1 && text.find_first_of("+-") == 0 &&
          std::isdigit(static_cast<unsigned char>(text[1])) != 0);
}

}  // namespace

std::string TextTable::text() const {
  const std::size_t columns = rows_.front().size();
  std::vector<std::size_t> widths(columns, 0);
  std::vector<bool> numeric(columns, true);
  for (std::size_t row = 0; row < rows_.size(); ++row)
    for (std::size_t i = 0; i < columns; ++i) {
      widths[i] = std::max(widths[i], static_cast<std::size_t>(display_width(rows_[row][i])));
      if (row > 0 && !looks_like_a_number(rows_[row][i])) numeric[i] = false;
    }
  std::string text;
  for (const std::vector<std::string>& row : rows_) {
    std::string line;
    for (std::size_t i = 0; i < columns; ++i) {
      const std::string padding(widths[i] - static_cast<std::size_t>(display_width(row[i])), ' ');
      line += fmt::format("{}{}{}", i == 0 ? "" : "  ", numeric[i] ? padding : "", row[i]);
      if (!numeric[i]) line += padding;
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  }
  return text;
}

std::string decimals(double value, int digits) {
  return std::isnan(value) ? "-" : fmt::format("{:.{}f}", value, digits);
}

std::string signed_decimals(double value, int digits) {
  return std::isnan(value) ? "-" : fmt::format("{:+.{}f}", value, digits);
}

std::string grouped(long long count) {
  const std::string digits = std::to_string(count);
  std::string text;
  for (std::size_t i = 0; i < digits.size(); ++i) {
    const bool after_digit = i > 0 && digits[i - 1] != '-';
    if (after_digit && (digits.size() - i) % 3 == 0) text += ',';
    text += digits[i];
  }
  return text;
}

std::string clock_time(double seconds) {
  const long long whole = static_cast<long long>(seconds + 0.5);
  return whole < 3600 ? fmt::format("{}:{:02}", whole / 60, whole % 60)
                      : fmt::format("{}:{:02}:{:02}", whole / 3600, whole / 60 % 60, whole % 60);
}

std::string mebibytes(long long bytes) {
  return fmt::format("{:.2f} MiB", static_cast<double>(bytes) / (1 << 20));
}

}  // namespace tapehead::app
