#include "tapehead/text/vocabulary.h"

#include "support/testing.h"

using namespace tapehead;

namespace {

/// What is wrong with a vocabulary file, without its name, or "nothing".
std::string fault(const std::string& text) {
  try {
    Vocabulary({"v.json", text});
    return "nothing";
  } catch (const Error& error) {
    const std::string start = "[tokenizer] v.json: ";
    const std::string what = error.what();
    REQUIRE_MESSAGE(what.starts_with(start), what);
    return what.substr(start.size());
  }
}

}  // namespace

TEST_CASE("a vocabulary is read in any order, and finds its tokens") {
  const Vocabulary vocabulary({"v.json", "\r\n{\"b\": 2, \"\\u0120a\" :0,\r\n \"\\ud83d\\ude00\":1}\r\n"});
  REQUIRE(vocabulary.size() == 3);
  CHECK(vocabulary[0] == "Ġa");
  CHECK(vocabulary[1] == "😀");
  CHECK(vocabulary[2] == "b");
  for (std::int32_t id = 0; id < 3; ++id) CHECK(vocabulary.find(vocabulary[id]) == id);
  CHECK_FALSE(vocabulary.find("a").has_value());
  CHECK_FALSE(vocabulary.find("").has_value());
  CHECK(Vocabulary({"v.json", "{}"}).size() == 0);
}

TEST_CASE("a vocabulary that is written reads the same") {
  const std::vector<std::string> tokens{std::string(1, '\0'), "\n", "\"", "\\", "é", "<|endoftext|>"};
  CHECK(Vocabulary({"v.json", format_vocabulary(tokens)}).take() == tokens);
  CHECK(format_vocabulary(std::vector<std::string>{"a", "\n"}) == "{\"a\": 0,\n \"\\n\": 1}\n");
  CHECK(format_vocabulary({}) == "{}\n");
}

TEST_CASE("a vocabulary file that is no flat object of whole numbers is refused") {
  CHECK(fault("[1]") == "expected a JSON object of tokens and their ids, got an array");
  CHECK(fault("7") == "expected a JSON object of tokens and their ids, got 7");
  CHECK(fault("\"a\"") == "expected a JSON object of tokens and their ids, got \"a\"");
  const std::string expected = "token \"a\": expected an id, a whole number from 0 to 2^31 - 1, got ";
  CHECK(fault(R"({"a":"0"})") == expected + "\"0\"");
  CHECK(fault(R"({"a":-1})") == expected + "-1");
  CHECK(fault(R"({"a":0.0})") == expected + "0.0");
  CHECK(fault(R"({"a":1e0})") == expected + "1e0");
  CHECK(fault(R"({"a":2147483648})") == expected + "2147483648");
  CHECK(fault(R"({"a":99999999999999999999})") == expected + "99999999999999999999");
  CHECK(fault("{\"a\":0." + std::string(100, '1') + "}") == expected + "0." + std::string(38, '1') + "...");
  CHECK(fault(R"({"a":null})") == expected + "null");
  CHECK(fault(R"({"a":true})") == expected + "true");
  CHECK(fault(R"({"a":[)" + std::string(100000, '[')) == expected + "an array");
  CHECK(fault(R"({"a":{"a":)") == expected + "an object");
}

TEST_CASE("a vocabulary file that is no JSON is refused, with the byte") {
  CHECK(fault("") == "not valid JSON, at its byte 1");
  CHECK(fault(R"({"a":0)") == "not valid JSON, at its byte 7");
  CHECK(fault(R"({"a":0}x)") == "not valid JSON, at its byte 8");
  CHECK(fault("{\"\xff\":0}") == "not valid JSON, at its byte 3");
  CHECK(fault(R"({"\ud83d":0})") == "not valid JSON, at its byte 9");
  CHECK(fault(std::string("{}\0 x", 5)) == "not valid JSON, at its byte 2");
}

TEST_CASE("tokens that are empty or there twice are refused") {
  CHECK(fault(R"({"a":0,"":1})") == "a token is empty");
  CHECK(fault(R"({"a":2,"b":0,"a":1})") == "token \"a\" is there twice, with ids 1 and 2");
}

TEST_CASE("ids that are there twice or missing are refused") {
  CHECK(fault(R"({"a":0,"b":1,"c":0})") == "tokens \"a\" and \"c\" both have id 0");
  CHECK(fault(R"({"a":0,"b":3,"c":2})") ==
        "id 1 is missing: the 3 tokens must have the ids 0 to 2, and \"b\" has 3");
  CHECK(fault(R"({"a":2147483647})") ==
        "id 0 is missing: the 1 tokens must have the ids 0 to 0, and \"a\" has 2147483647");
}
