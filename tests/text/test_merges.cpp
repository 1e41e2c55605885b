#include "tapehead/text/merges.h"

#include "support/byte_pairs.h"
#include "support/testing.h"

using namespace tapehead;
using namespace tapehead::testing;

namespace {

Vocabulary vocabulary() {
  BytePairs pairs;
  pairs.tokens.insert(pairs.tokens.end(), {"ab", "bc", "abc", "Ġa", "<|x|>"});
  return Vocabulary(pairs.vocabulary_file());
}

/// What is wrong with a file of merges, without its name, or "nothing".
std::string fault(const std::string& text) {
  try {
    Merges({"m.txt", text}, vocabulary());
    return "nothing";
  } catch (const Error& error) {
    const std::string start = "[tokenizer] m.txt:";
    const std::string what = error.what();
    REQUIRE_MESSAGE(what.starts_with(start), what);
    return what.substr(start.size());
  }
}

}  // namespace

TEST_CASE("merges rank by their place, with a version line or without, whatever the line ends") {
  const Vocabulary tokens = vocabulary();
  const auto id = [&](const char* token) { return *tokens.find(token); };
  for (const char* text :
       {"#version: 0.2\na b\nĠ a\nab c\n", "a b\nĠ a\nab c", "#version\r\na b\r\nĠ a\r\nab c\r\n"}) {
    const Merges merges({"m.txt", text}, tokens);
    REQUIRE(merges.size() == 3);
    CHECK(merges.rank(id("a"), id("b")) == 0);
    CHECK(merges.rank(id("Ġ"), id("a")) == 1);
    CHECK(merges.rank(id("ab"), id("c")) == 2);
    CHECK(merges.rank(id("b"), id("a")) == Merges::kNever);
    CHECK(merges.rank(id("a"), id("c")) == Merges::kNever);
    CHECK(merges.rank(id("<|x|>"), id("<|x|>")) == Merges::kNever);
    CHECK(merges.product(0) == id("ab"));
    CHECK(merges.product(1) == id("Ġa"));
    CHECK(merges.product(2) == id("abc"));
  }
  CHECK(Merges({"m.txt", ""}, tokens).size() == 0);
  CHECK(Merges({"m.txt", "#version: 0.2"}, tokens).size() == 0);
}

TEST_CASE("two merges may have one product") { CHECK(fault("a b\nb c\nab c\na bc\n") == "nothing"); }

TEST_CASE("a line that is not two tokens with one space between them is refused, with its number") {
  const std::string expected = "expected two tokens with a space between them, got ";
  CHECK(fault("#version: 0.2\na b\n\n") == "3: " + expected + "\"\"");
  CHECK(fault("ab\n") == "1: " + expected + "\"ab\"");
  CHECK(fault("a  b\n") == "1: " + expected + "\"a  b\"");
  CHECK(fault(" ab\n") == "1: " + expected + "\" ab\"");
  CHECK(fault("a b\nab \n") == "2: " + expected + "\"ab \"");
  CHECK(fault("a b c\n") == "1: " + expected + "\"a b c\"");
  CHECK(fault("a b\n#version: 0.2\n") == "2: \"#version:\" is not in the vocabulary");
}

TEST_CASE("a merge of or to a token that is not in the vocabulary is refused") {
  CHECK(fault("b a\n") == "1: \"ba\" is not in the vocabulary");
  CHECK(fault("#version: 0.2\na b\nab b\n") == "3: \"abb\" is not in the vocabulary");
  CHECK(fault("a cd\n") == "1: \"cd\" is not in the vocabulary");
  CHECK(fault("a\r b\n") == R"(1: "a\r" is not in the vocabulary)");
  CHECK(fault("a b\na \xff\n") == R"(2: "\ufffd" is not in the vocabulary)");
}

TEST_CASE("a merge of a token that cannot be there yet is refused") {
  CHECK(fault("ab c\na b\n") == "1: \"ab\" is neither a byte nor made by a line above");
  CHECK(fault("a bc\n") == "1: \"bc\" is neither a byte nor made by a line above");
}

TEST_CASE("a merge that is there twice is refused, with both lines") {
  CHECK(fault("#version: 0.2\na b\nb c\na b\n") == "4: the same merge as in line 2");
  CHECK(fault("a b\nb c\na bc\na bc\n") == "4: the same merge as in line 3");
}
