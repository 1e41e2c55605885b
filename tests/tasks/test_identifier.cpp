#include "tapehead/tasks/identifier.h"

#include <cmath>
#include <map>
#include <regex>
#include <set>

#include "support/testing.h"

namespace tapehead {

namespace {

const Identifier kTask({.vocabulary = 64, .length = 400});

Batch drawn(const Task& task, Index count, std::uint64_t seed) {
  Generator generator(seed);
  return task.sample(generator, count);
}

/// All T + 1 characters of a sequence.
std::string text_of(const Task& task, const Batch& batch, Index b) {
  std::vector<std::int32_t> tokens;
  for (Index t = 0; t < batch.length(); ++t) tokens.push_back(batch.inputs(b, t));
  tokens.push_back(batch.targets(b, batch.length() - 1));
  return task.tokenizer()->decode(tokens);
}

/// The lines of a sequence that begin and end in it, each with the place where it begins.
std::vector<std::pair<Index, std::string>> whole_lines(const std::string& text) {
  std::vector<std::pair<Index, std::string>> lines;
  std::size_t begin = text.find('\n') + 1;
  for (std::size_t end = 0; (end = text.find('\n', begin)) != std::string::npos; begin = end + 1)
    lines.emplace_back(static_cast<Index>(begin), text.substr(begin, end - begin));
  return lines;
}

/// Where the identifier at a line's beginning returns.
std::size_t second_of(const std::string& line) { return line.find(line.substr(0, 5), 5); }

}  // namespace

TEST_CASE("every line begins with an identifier, which returns once, after filler") {
  const std::regex form("([A-Z]-[0-9]{3}) [a-z]+ [a-z ]+; ([a-z ]+; ){1,4}([A-Z]-[0-9]{3}) [a-z ]+\\.");
  const Batch batch = drawn(kTask, 100, 1);
  Index count = 0;
  for (Index b = 0; b < batch.size(); ++b)
    for (const auto& place_and_line : whole_lines(text_of(kTask, batch, b))) {
      const std::string& line = place_and_line.second;
      CAPTURE(line);
      std::smatch parts;
      REQUIRE(std::regex_match(line, parts, form));
      CHECK(parts[1] == parts[3]);
      CHECK(std::tolower(line[0]) == line[6]);  // P for pump
      ++count;
    }
  CHECK(count > 400);
}

TEST_CASE("induction positions are those whose target is a digit of the second occurrence, and no others") {
  const Batch batch = drawn(kTask, 100, 2);
  for (Index b = 0; b < batch.size(); ++b) {
    const std::string text = text_of(kTask, batch, b);
    std::map<Index, Index> copies;  // by position, for the lines that are seen whole
    const auto lines = whole_lines(text);
    for (const auto& [begin, line] : lines)
      for (Index i = 1; i <= 3; ++i) copies[begin + static_cast<Index>(second_of(line)) + i] = begin + i;
    REQUIRE(!lines.empty());
    const Index end = lines.back().first + static_cast<Index>(lines.back().second.size()) + 1;
    for (Index t = 0; t < end - 1; ++t) {
      CAPTURE(t);
      const auto copy = copies.find(t);
      CHECK(batch.kinds(b, t) == (copy != copies.end() ? Kind::induction : Kind::noise));
      CHECK(batch.earlier_copy(b, t) == (copy != copies.end() ? copy->second : -1));
    }
  }
}

TEST_CASE("an induction position repeats its token and its target, a digit, also in a line that is cut") {
  const Identifier task({.vocabulary = 64, .length = Identifier::shortest_length() + 7});
  const Batch batch = drawn(task, 3000, 3);
  std::map<Index, int> last_of_a_sequence;
  for (Index b = 0; b < batch.size(); ++b)
    for (Index t = 0; t < batch.length(); ++t) {
      if (batch.kinds(b, t) == Kind::noise) continue;
      const Index copy = batch.earlier_copy(b, t);
      CHECK(batch.inputs(b, t) == batch.inputs(b, copy));
      CHECK(batch.targets(b, t) == batch.targets(b, copy));
      CHECK(std::isdigit(task.tokenizer()->bytes_of(batch.targets(b, t))[0]));
      if (t < batch.length() - 1) continue;
      const std::string before = text_of(task, batch, b).substr(0, static_cast<std::size_t>(copy));
      ++last_of_a_sequence[copy - static_cast<Index>(before.rfind('\n')) - 1];
    }
  // Cut within an identifier: after its first digit, its second, its third.
  CHECK(last_of_a_sequence.size() == 3);
  CHECK(last_of_a_sequence.begin()->first == 1);
  CHECK(last_of_a_sequence.rbegin()->first == 3);
}

TEST_CASE("around a second occurrence the dash and two digits are induction, in that order") {
  const Batch batch = drawn(kTask, 1, 4);
  const auto [begin, line] = whole_lines(text_of(kTask, batch, 0)).front();
  const auto second = begin + static_cast<Index>(second_of(line));
  const std::vector<Kind> around{Kind::noise,     Kind::noise,     Kind::induction,
                                 Kind::induction, Kind::induction, Kind::noise};
  for (Index i = 0; i < 6; ++i)  // the blank, then P - 1 0 4
    CHECK(batch.kinds(0, second - 1 + i) == around[static_cast<std::size_t>(i)]);
}

TEST_CASE("a sequence begins within the ending of a line, anywhere in it") {
  std::map<Index, int> begins;
  const Batch batch = drawn(kTask, 2000, 6);
  for (Index b = 0; b < batch.size(); ++b) {
    const std::string text = text_of(kTask, batch, b);
    const std::string rest = text.substr(0, text.find('\n'));
    CHECK(std::regex_match(rest, std::regex("[a-z ]*\\.?")));
    ++begins[static_cast<Index>(rest.size())];
  }
  CHECK(begins.begin()->first == 0);
  CHECK(begins.rbegin()->first == 12);  // "under watch."
  CHECK(begins.size() == 13);
}

TEST_CASE("digits are drawn evenly, and an identifier returns after one action in half of the lines") {
  std::map<char, int> digits;
  std::map<std::ptrdiff_t, int> actions;
  std::set<Index> distances;
  const Batch batch = drawn(kTask, 2000, 5);
  for (Index b = 0; b < batch.size(); ++b) {
    // The first whole line alone: of later ones, long ones are likelier to be cut.
    const std::string line = whole_lines(text_of(kTask, batch, b)).front().second;
    for (const char digit : line.substr(2, 3)) ++digits[digit];
    ++actions[std::count(line.begin(), line.end(), ';') - 1];
    distances.insert(static_cast<Index>(second_of(line)));
  }
  CHECK(digits.size() == 10);
  for (const auto& entry : digits) CHECK(std::abs(entry.second - 600) < 94);  // four standard errors
  CHECK(std::abs(actions[1] - 1000) < 90);
  CHECK(std::abs(actions[2] - 500) < 78);
  CHECK(std::abs(actions[3] - 250) < 60);
  CHECK(std::abs(actions[4] - 250) < 60);
  CHECK(actions.size() == 4);
  CHECK(*distances.begin() == kTask.periods()->shortest);
  CHECK(*distances.rbegin() <= kTask.periods()->longest);
  CHECK(kTask.periods()->longest == 79);
  CHECK(Identifier({.vocabulary = 64, .length = 40}).periods()->longest == 37);
  CHECK(distances.size() > 40);
}

TEST_CASE("the same key gives the same lines, and a generator moves on to fresh ones") {
  Generator generator(7);
  const Batch first = kTask.sample(generator, 3);
  CHECK(first.inputs == drawn(kTask, 3, 7).inputs);
  CHECK_FALSE(first.inputs == kTask.sample(generator, 3).inputs);
  CHECK(drawn(kTask, 0, 1).size() == 0);
}

TEST_CASE("resampled lines end and return at the same places, with other identifiers and words") {
  const Identifier task({.vocabulary = 64, .length = 120});
  const Batch batch = drawn(task, 60, 1);
  Generator generator(2, Purpose::evaluation);
  const Batch fresh = task.resample(batch, generator);
  CHECK(fresh.kinds == batch.kinds);
  CHECK(fresh.earlier_copy == batch.earlier_copy);
  int alike = 0;
  for (Index b = 0; b < batch.size(); ++b) {
    const std::string before = text_of(task, batch, b);
    const std::string after = text_of(task, fresh, b);
    for (std::size_t i = 0; i < before.size(); ++i) CHECK((before[i] == '\n') == (after[i] == '\n'));
    const auto begin = before.find('\n') + 3;
    if (before.substr(begin, 3) == after.substr(begin, 3)) ++alike;
  }
  CHECK(alike <= 2);  // one in a thousand by chance
}

TEST_CASE("what this task did not draw cannot be resampled") {
  const Identifier task({.vocabulary = 64, .length = 120});
  Batch foreign = noise_batch(1, 120);
  foreign.kinds(0, 3) = Kind::induction;
  Generator generator(1);
  CHECK(testing::failure_of([&] { task.resample(foreign, generator); }) ==
        "[task] expected sequences that this task drew, to draw others of the same structure");
}

TEST_CASE("the tokens are characters, and sizes that do not hold a line are refused") {
  CHECK(kTask.tokenizer()->size() == Identifier::characters());
  const std::string line = "P-104 pump leaks; added oil; P-104 tested.\n";
  CHECK(kTask.tokenizer()->decode(kTask.tokenizer()->encode(line)) == line);
  CHECK(static_cast<Index>(kTask.tokenizer()->encode(line).size()) == static_cast<Index>(line.size()));
  const Index least = Identifier::characters();
  CHECK_NOTHROW(Identifier({.vocabulary = least, .length = Identifier::shortest_length()}));
  CHECK(testing::complaint_of([&] { Identifier({.vocabulary = least - 1}); }) ==
        fmt::format("[task] expected a vocabulary of {} to 2147483647, got {}", least, least - 1));
  const Index shortest = Identifier::shortest_length();
  CHECK(testing::complaint_of([&] { Identifier({.length = shortest - 1}); }) ==
        fmt::format("[task] expected a length of at least {}, got {}: no line would return to its identifier",
                    shortest, shortest - 1));
}

}  // namespace tapehead
