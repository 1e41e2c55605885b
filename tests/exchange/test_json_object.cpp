#include "tapehead/exchange/json_object.h"

#include <string>

#include "support/testing.h"

using namespace tapehead;

namespace {

const std::set<std::string_view> kWanted{"a", "b"};

JsonObject read(const std::string& text) { return JsonObject(text, kWanted, "tag", "x.json"); }

template <class Call>
std::string error_of(const Call& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.what();
  }
  return "accepted";
}
std::string refusal(const std::string& text) {
  return error_of([&] { read(text); });
}

}  // namespace

TEST_CASE("values come back by their keys, each in its type") {
  const JsonObject json = read(R"({"a": 3, "b": "x", "c": 1})");
  CHECK(json.count("a", 1) == 3);
  CHECK(json.number("a", 0) == 3);
  CHECK(json.text("b", "") == "x");
  CHECK_FALSE(json.has("c"));
  CHECK(read(R"({"a": 0.5, "b": true})").number("a", 0) == 0.5);
  CHECK(read(R"({"a": 0.5, "b": true})").truth("b", false));
  CHECK(read(R"({"a": null})").is_null("a"));
  CHECK_FALSE(read(R"({"a": 1})").is_null("a"));
  CHECK_FALSE(read(R"({})").is_null("a"));
}

TEST_CASE("a key that is not there has the value that is given for it, or is missed by name") {
  const JsonObject json = read("{}");
  CHECK(json.number("a", 0.25) == 0.25);
  CHECK(json.truth("a", true));
  CHECK(json.text("a", "y") == "y");
  CHECK(error_of([&] { json.count("a", 1); }) ==
        "[tag] x.json: a: expected a whole number from 1 to 1000000000, got nothing");
}

TEST_CASE("a value of another type or out of range is refused with what it is") {
  const auto count = [](const std::string& value) {
    return error_of([&] { read("{\"a\": " + value + "}").count("a", 1); });
  };
  const std::string start = "[tag] x.json: a: expected a whole number from 1 to 1000000000, got ";
  CHECK(count("1") == "accepted");
  CHECK(count("1000000000") == "accepted");
  CHECK(count("0") == start + "0");
  CHECK(count("-5") == start + "-5");
  CHECK(count("1000000001") == start + "1000000001");
  CHECK(count("18446744073709551615") == start + "18446744073709551616.0");
  CHECK(count("12.0") == start + "12.0");
  CHECK(count("\"12\"") == start + "\"12\"");
  CHECK(count("true") == start + "true");
  CHECK(count("null") == start + "null");
  CHECK(count("[12]") == start + "a list");
  CHECK(count("{\"b\": 12}") == start + "an object");
  const JsonObject json = read(R"({"a": "no", "b": 1})");
  CHECK(error_of([&] { json.number("a", 0); }) == "[tag] x.json: a: expected a number, got \"no\"");
  CHECK(error_of([&] { json.truth("a", false); }) == "[tag] x.json: a: expected true or false, got \"no\"");
  CHECK(error_of([&] { json.text("b", ""); }) == "[tag] x.json: b: expected a string, got 1");
}

TEST_CASE("what is inside a list or another object is nobody's value") {
  const JsonObject json = read(R"({"c": {"a": 7, "d": [{"b": "x"}]}, "b": "y", "e": [1, 2, {"b": 3}]})");
  CHECK_FALSE(json.has("a"));
  CHECK(json.text("b", "") == "y");
}

TEST_CASE("text that is not one JSON object is refused") {
  CHECK(refusal("") == "[tag] x.json: not valid JSON, at its byte 1");
  CHECK(refusal("{") == "[tag] x.json: not valid JSON, at its byte 2");
  CHECK(refusal("{\"a\": 1,}") == "[tag] x.json: not valid JSON, at its byte 9");
  CHECK(refusal("{\"a\": 1} {}") == "[tag] x.json: not valid JSON, at its byte 10");
  CHECK(refusal("{\"a\": NaN}") != "accepted");
  CHECK(refusal("{\"a\": 1e999}") != "accepted");
  CHECK(refusal(std::string("{\"a\": 1}\0rest", 13)) == "[tag] x.json: not valid JSON, at its byte 8");
  CHECK(refusal("{\"a\": \"\xff\"}") != "accepted");
  CHECK(refusal("[1]") == "[tag] x.json: expected a JSON object, got a list");
  CHECK(refusal("3") == "[tag] x.json: expected a JSON object, got 3");
  CHECK(refusal("null") == "[tag] x.json: expected a JSON object, got null");
}

TEST_CASE("a wanted key that stands twice is refused, whatever it holds") {
  CHECK(refusal(R"({"a": 1, "a": 1})") == "[tag] x.json: duplicate key \"a\"");
  CHECK(refusal(R"({"a": {}, "b": 1, "a": 1})") == "[tag] x.json: duplicate key \"a\"");
  CHECK(refusal(R"({"c": 1, "c": 1})") == "accepted");
}

TEST_CASE("however deep a text nests, it is read or refused") {
  constexpr std::size_t deep = 500'000;
  CHECK(refusal("{\"c\": " + std::string(deep, '[') + std::string(deep, ']') + "}") == "accepted");
  CHECK(refusal("{\"a\": " + std::string(deep, '[')) != "accepted");
  std::string objects = "{}";
  for (int i = 0; i < 1000; ++i) objects = "{\"a\": " + objects + "}";
  CHECK(read(objects).has("a"));
}
