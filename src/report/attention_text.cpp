#include "tapehead/report/attention_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "tapehead/base/require.h"
#include "tapehead/text/display.h"

namespace tapehead {

namespace {

constexpr int kCell = 2;       // columns
constexpr Index kEvery = 5;    // positions from one number of an axis to the next
constexpr int kLeastSign = 3;  // columns for the queries' tokens, so that the axes' names have room
constexpr int kMostSign = 12;
constexpr std::string_view kReset = "\x1b[0m";
constexpr std::string_view kMarkColour = "\x1b[1;38;5;208m";

struct Shade {
  double from;
  std::string_view character;
};
constexpr std::array<Shade, 5> kShades{{{0, "·"}, {0.05, "░"}, {0.25, "▒"}, {0.5, "▓"}, {0.75, "█"}}};

/// The figures' blue palette at every quarter, and the like of the 256 colours at every eighth.
constexpr std::array<std::array<int, 3>, 5> kBlues{
    {{255, 255, 255}, {198, 219, 239}, {107, 174, 214}, {33, 113, 181}, {8, 48, 107}}};
constexpr std::array<int, 9> kBluesOf256{231, 189, 153, 110, 74, 67, 25, 24, 17};

std::string_view character_of(double weight) {
  std::string_view character = kShades[0].character;
  for (const Shade& shade : kShades)
    if (weight >= shade.from) character = shade.character;
  return character;
}

/// The escape sequence that makes the background so dark.
std::string background_of(double weight, Shading shading) {
  const double share = weight > 0 ? std::min(weight, 1.0) : 0;  // of NaN too
  if (shading == Shading::colours_256)
    return fmt::format("\x1b[48;5;{}m",
                       kBluesOf256[static_cast<std::size_t>(std::lround(share * (kBluesOf256.size() - 1)))]);
  const double place = share * (kBlues.size() - 1);
  const auto below = std::min(static_cast<std::size_t>(place), kBlues.size() - 2);
  const double rest = place - static_cast<double>(below);
  std::array<int, 3> colour{};
  for (std::size_t i = 0; i < colour.size(); ++i)
    colour[i] = static_cast<int>(std::lround((1 - rest) * kBlues[below][i] + rest * kBlues[below + 1][i]));
  return fmt::format("\x1b[48;2;{};{};{}m", colour[0], colour[1], colour[2]);
}

std::string padded(const std::string& text, int columns) {
  return text + std::string(static_cast<std::size_t>(std::max(0, columns - display_width(text))), ' ');
}

/// How many columns a text takes that may hold escape sequences of colours.
int width_of(std::string_view text) {
  int width = 0;
  while (!text.empty()) {
    const std::size_t escape = std::min(text.find('\x1b'), text.size());
    width += display_width(text.substr(0, escape));
    text.remove_prefix(escape);
    if (!text.empty()) text.remove_prefix(text.find('m') + 1);
  }
  return width;
}

/// A line of these parts with blanks between, or as many lines as it takes.
std::string folded(const std::vector<std::string>& parts, int columns) {
  std::string text;
  int width = 0;
  for (const std::string& part : parts) {
    const int more = width_of(part);
    const bool fits = columns == 0 || width + 1 + more <= columns;
    if (!text.empty()) text += fits ? " " : "\n";
    width = (fits && !text.empty() ? width + 1 : 0) + more;
    text += part;
  }
  return text + "\n";
}

std::vector<std::string> words_of(std::string_view text) {
  std::vector<std::string> words;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(' '), text.size());
    words.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return words;
}

/// One head's map, of which the first `shown` positions fit.
class Writer {
 public:
  Writer(const AttentionMap& map, const std::vector<std::string>& signs,
         const std::vector<std::vector<Index>>& targets, Shading shading, int columns);
  std::string text() const;

 private:
  bool is_coloured() const { return shading_ != Shading::characters; }
  std::string keys() const;
  std::string row(std::size_t query) const;
  std::string legend() const;
  std::string left_out() const;
  bool is_target(std::size_t query, std::size_t key) const {
    return std::ranges::find(targets_[query], static_cast<Index>(key)) != targets_[query].end();
  }

  const AttentionMap& map_;
  const std::vector<std::vector<Index>>& targets_;
  const Shading shading_;
  const int columns_;
  std::vector<std::vector<std::string>> signs_;  // each in cells
  std::size_t shown_;
  int number_width_ = 5;  // that of the word "query"
  int sign_width_ = kLeastSign;
};

Writer::Writer(const AttentionMap& map, const std::vector<std::string>& signs,
               const std::vector<std::vector<Index>>& targets, Shading shading, int columns)
    : map_(map), targets_(targets), shading_(shading), columns_(columns), shown_(map.weights.size()) {
  for (const std::string& sign : signs) {
    signs_.push_back(display_cells(sign));
    sign_width_ = std::max(sign_width_, display_width(fmt::format("{}", fmt::join(signs_.back(), ""))));
  }
  sign_width_ = std::min(sign_width_, kMostSign);
  number_width_ = std::max(number_width_, static_cast<int>(std::to_string(shown_).size()));
  if (columns == 0) return;
  const int room = (columns - number_width_ - sign_width_ - 2) / kCell;
  shown_ = std::min(shown_, static_cast<std::size_t>(std::max(1, room)));
}

/// The axis of keys: positions, and below them the tokens, read downwards.
std::string Writer::keys() const {
  const int margin = number_width_ + sign_width_ + 2;
  std::string numbers = padded("query", margin - 4) + "key ";
  for (std::size_t key = 0; key < shown_; key += kEvery)
    numbers += fmt::format("{:<{}}", key, kCell * kEvery);
  std::string text = numbers.substr(0, numbers.find_last_not_of(' ') + 1) + "\n";
  std::size_t tallest = 0;
  for (std::size_t key = 0; key < shown_; ++key) tallest = std::max(tallest, signs_[key].size());
  for (std::size_t i = 0; i < tallest; ++i) {
    std::string line(static_cast<std::size_t>(margin), ' ');
    for (std::size_t key = 0; key < shown_; ++key)
      line += padded(i < signs_[key].size() ? signs_[key][i] : "", kCell);
    text += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
  }
  return text;
}

std::string Writer::row(std::size_t query) const {
  const std::string sign = cut_to_width(fmt::format("{}", fmt::join(signs_[query], "")), sign_width_);
  std::string line = fmt::format("{:>{}} {} ", query, number_width_, padded(sign, sign_width_));
  std::string background;
  for (std::size_t key = 0; key <= std::min(query, shown_ - 1); ++key) {
    const double weight = map_.weights[query][key];
    const bool marked = is_target(query, key);
    if (!is_coloured()) {
      const std::string_view shade = character_of(weight);
      line += fmt::format("{}{}", shade, marked ? "*" : shade == kShades[0].character ? " " : shade);
      continue;
    }
    if (const std::string next = background_of(weight, shading_); next != background)
      line += background = next;
    line += marked ? fmt::format("{}[]\x1b[22;39m", kMarkColour) : "  ";
  }
  if (is_coloured()) return fmt::format("{}{}\n", line, kReset);
  return line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
}

std::string Writer::legend() const {
  std::vector<std::string> parts{"attention", "weight:"};
  for (std::size_t i = 0; i < kShades.size(); ++i) {
    const double share = static_cast<double>(i) / (kShades.size() - 1);
    const auto& [from, character] = kShades[i];
    if (is_coloured())
      parts.push_back(fmt::format(" {}  {} {}", background_of(share, shading_), kReset, share));
    else if (i == 0)
      parts.push_back(fmt::format(" {} below {}", character, kShades[1].from));
    else
      parts.push_back(fmt::format(" {0}{0} from {1}", character, from));
  }
  std::string text = "\n" + folded(parts, columns_);
  const bool has_targets = std::ranges::any_of(targets_, [](const auto& keys) { return !keys.empty(); });
  if (has_targets)
    text +=
        folded(words_of(fmt::format("{}: after an earlier copy of the query, where an induction head looks",
                                    is_coloured() ? "[]" : "*")),
               columns_);
  return text;
}

std::string Writer::left_out() const {
  const std::size_t last = map_.weights.size() - 1;
  if (shown_ > last) return "";
  return folded(words_of(fmt::format(
                    "{} left out: {} columns are too few; in a file, or through less -S, all is there.",
                    shown_ == last ? fmt::format("Position {} is", last)
                                   : fmt::format("Positions {} to {} are", shown_, last),
                    columns_)),
                columns_);
}

std::string Writer::text() const {
  std::string text = keys();
  for (std::size_t query = 0; query < shown_; ++query) text += row(query);
  return text + legend() + left_out();
}

}  // namespace

std::string attention_text(const AttentionMap& map, const std::vector<std::string>& signs,
                           const std::vector<std::vector<Index>>& targets, Shading shading, int columns) {
  require(signs.size() == map.weights.size() && targets.size() == map.weights.size(),
          "[attention] expected {} signs and lists of targets, got {} and {}", map.weights.size(),
          signs.size(), targets.size());
  return Writer(map, signs, targets, shading, columns).text();
}

}  // namespace tapehead
