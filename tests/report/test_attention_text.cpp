#include "tapehead/report/attention_text.h"

#include <algorithm>
#include <cmath>
#include <sstream>

#include "support/testing.h"
#include "tapehead/base/require.h"
#include "tapehead/text/display.h"

using namespace tapehead;

namespace {

std::vector<std::string> lines_of(const std::string& text) {
  std::istringstream stream(text);
  std::vector<std::string> lines;
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

/// All of every query's weight on the key before.
AttentionMap previous_token_map(std::size_t length) {
  AttentionMap map{0, 1, std::vector(length, std::vector<double>(length, 0))};
  for (std::size_t query = 0; query < length; ++query) map.weights[query][query == 0 ? 0 : query - 1] = 1;
  return map;
}

std::vector<std::vector<Index>> no_targets(std::size_t length) {
  return std::vector<std::vector<Index>>(length);
}

}  // namespace

TEST_CASE("a map in characters has a shade for each weight, tokens on both axes and marks on the targets") {
  const AttentionMap map{1, 0, {{1, 0, 0, 0}, {0.04, 0.96, 0, 0}, {0.3, 0.65, 0.05, 0}, {0, 0.8, 0.2, 0}}};
  const std::string text = attention_text(map, {"A", "the", "A", "漢"}, {{}, {}, {1}, {2, 0}});
  CHECK(text == R"(query key 0
          A t A 漢
            h
            e
    0 A   ██
    1 the · ██
    2 A   ▒▒▓*░░
    3 漢  ·*██░*·

attention weight:  · below 0.05  ░░ from 0.05  ▒▒ from 0.25  ▓▓ from 0.5  ██ from 0.75
*: after an earlier copy of the query, where an induction head looks
)");
}

TEST_CASE("every fifth position of a map has its number, and a map without targets does not speak of them") {
  const std::string text =
      attention_text(previous_token_map(12), std::vector<std::string>(12, "x"), no_targets(12));
  CHECK(lines_of(text)[0] == "query key 0         5         10");
  CHECK(lines_of(text)[2 + 11] == "   11 x   · · · · · · · · · · ██·");
  CHECK(text.find("earlier copy") == std::string::npos);
  CHECK(text.find("left out") == std::string::npos);
}

TEST_CASE("a map is cut to the terminal's width, which it says, however narrow that is") {
  for (const std::size_t length : {1UL, 2UL, 30UL, 1024UL})
    for (const int columns : {1, 9, 12, 13, 40, 80}) {
      CAPTURE(length);
      CAPTURE(columns);
      const std::vector<std::string> signs(length, "x");
      const std::string text =
          attention_text(previous_token_map(length), signs, no_targets(length), Shading::characters, columns);
      const std::vector<std::string> lines = lines_of(text);
      const std::size_t shown =
          std::min<std::size_t>(length, static_cast<std::size_t>(std::max(1, (columns - 10) / 2)));
      REQUIRE(lines.size() > 2 + shown);
      CHECK(lines[2 + shown].empty());
      // No line is wider, but for a single word.
      for (std::size_t i = 0; i < lines.size(); ++i) CHECK(display_width(lines[i]) <= std::max(columns, 15));
      const std::string left_out = shown == length - 1 ? "Position " + std::to_string(length - 1) + " is"
                                                       : "Positions " + std::to_string(shown) + " to " +
                                                             std::to_string(length - 1) + " are";
      std::string words = text;
      std::ranges::replace(words, '\n', ' ');
      CHECK((words.find(left_out + " left out: " + std::to_string(columns) + " columns are too few") !=
             std::string::npos) == (shown < length));
    }
}

TEST_CASE("wide signs and accents leave the columns of a map where they are") {
  const std::vector<std::string> signs{"漢", "🙂🙂", "e\u0301", "\u0301", "a", "ab"};
  const std::vector<std::string> lines =
      lines_of(attention_text(previous_token_map(6), signs, no_targets(6)));
  // Up to the first cell: the position, the sign, and blanks.
  for (std::size_t row = 3; row < 9; ++row) {
    CAPTURE(lines[row]);
    const std::size_t cells = std::min(lines[row].find("·"), lines[row].find("█"));
    REQUIRE(cells != std::string::npos);
    CHECK(display_width(lines[row].substr(0, cells)) == 5 + 1 + 4 + 1);
  }
  CHECK(lines[1] == "           漢🙂e\u0301 ◌\u0301 a a");
  CHECK(lines[2] == "             🙂      b");
}

TEST_CASE("no sign brings an escape sequence, a line end or another direction onto the terminal") {
  const std::vector<std::string> signs{"\x1b[2J", "\n", "\u202e", "\u009b1m", "\xff"};
  const std::string text = attention_text(previous_token_map(5), signs, no_targets(5));
  for (const char* hostile : {"\x1b", "\u202e", "\u009b", "\xff"})
    CHECK(text.find(hostile) == std::string::npos);
  CHECK(lines_of(text).size() == 1 + 4 + 5 + 2);
}

TEST_CASE("a map in colours is as dark as its weights, and ends every line as it began it") {
  const AttentionMap map{0, 0, {{1, 0}, {0.5, 0.5}}};
  const std::string all = attention_text(map, {"a", "b"}, {{}, {0}}, Shading::all_colours);
  CHECK(lines_of(all)[2] == "    0 a   \x1b[48;2;8;48;107m  \x1b[0m");
  CHECK(lines_of(all)[3] == "    1 b   \x1b[48;2;107;174;214m\x1b[1;38;5;208m[]\x1b[22;39m  \x1b[0m");
  CHECK(all.find("[]: after an earlier copy") != std::string::npos);
  const std::string some = attention_text(map, {"a", "b"}, {{}, {}}, Shading::colours_256);
  CHECK(lines_of(some)[2] == "    0 a   \x1b[48;5;17m  \x1b[0m");
  CHECK(lines_of(some)[3] == "    1 b   \x1b[48;5;74m    \x1b[0m");
}

TEST_CASE("a weight that is no number is drawn as nothing") {
  const AttentionMap map{0, 0, {{std::nan("")}}};
  for (const Shading shading : {Shading::characters, Shading::colours_256, Shading::all_colours})
    CHECK(lines_of(attention_text(map, {"a"}, {{}}, shading)).size() == 5);
  CHECK(lines_of(attention_text(map, {"a"}, {{}}))[2] == "    0 a   ·");
}

TEST_CASE("a map without a sign for each position is refused") {
  CHECK_THROWS_AS(attention_text(previous_token_map(3), {"a", "b"}, no_targets(3)), Error);
  CHECK_THROWS_AS(attention_text(previous_token_map(3), {"a", "b", "c"}, no_targets(2)), Error);
}
