#include "tapehead/tensor/safetensors_header.h"

#include "support/testing.h"
#include "tapehead/base/require.h"

namespace tapehead {

namespace {

std::string entry(const std::string& name, const std::string& shape, const std::string& offsets,
                  const std::string& dtype = "F32") {
  return '"' + name + R"(":{"dtype":")" + dtype + R"(","shape":[)" + shape + R"(],"data_offsets":[)" +
         offsets + "]}";
}

/// What is wrong with a header, without the file's name, or "nothing".
std::string fault(const std::string& header, Index payload_bytes = 0) {
  try {
    parse_safetensors_header(header, payload_bytes, "x.safetensors");
    return "nothing";
  } catch (const Error& error) {
    const std::string start = "[safetensors] x.safetensors: ";
    const std::string text = error.what();
    REQUIRE_MESSAGE(text.starts_with(start), text);
    return text.substr(start.size());
  }
}

}  // namespace

TEST_CASE("a header is read into entries by name, and metadata") {
  const SafetensorsHeader header = parse_safetensors_header(
      R"({"b":{"shape":[2,3],"data_offsets":[0,24],"dtype":"F32"},"__metadata__":{"k":"v"},"a":{"dtype":"U8","shape":[],"data_offsets":[24,25]}} )",
      25, "x.safetensors");
  REQUIRE(header.entries.size() == 2);
  CHECK(header.entries[0].name == "a");
  CHECK(header.entries[0].dtype == "U8");
  CHECK(header.entries[0].shape.empty());
  CHECK(header.entries[0].begin == 24);
  CHECK(header.entries[0].end == 25);
  CHECK(header.entries[1].name == "b");
  CHECK(header.entries[1].shape == std::vector<Index>{2, 3});
  CHECK(header.metadata == std::map<std::string, std::string>{{"k", "v"}});
}

TEST_CASE("a header that is written is padded to a multiple of 8 and reads the same") {
  for (std::size_t length = 1; length <= 8; ++length) {
    const SafetensorsHeader header{
        .entries = {{.name = std::string(length, 'n'), .dtype = "F32", .shape = {2}, .begin = 0, .end = 8}},
        .metadata = {{"step", "120"}}};
    const std::string text = format_safetensors_header(header, "x");
    CHECK(text.size() % 8 == 0);
    CHECK(text.size() - text.find_last_of('}') <= 8);
    const SafetensorsHeader back = parse_safetensors_header(text, 8, "x");
    REQUIRE(back.entries.size() == 1);
    CHECK(back.entries[0].name == header.entries[0].name);
    CHECK(back.entries[0].shape == header.entries[0].shape);
    CHECK(back.metadata == header.metadata);
  }
}

TEST_CASE("a header too long for any reader is not written") {
  const SafetensorsHeader header{.entries = {},
                                 .metadata = {{"text", std::string(kMaxSafetensorsHeader, 'x')}}};
  CHECK_THROWS_WITH_AS(format_safetensors_header(header, "x"),
                       "[safetensors] x: expected a header of at most 100000000 bytes, got 100000032", Error);
}

TEST_CASE("a header that is not one JSON object is refused") {
  for (const std::string header : {"", "[]", "7", "null", " {}", "\xef\xbb\xbf{}"}) {
    CAPTURE(header);
    CHECK(fault(header) == "expected the header to start with '{'");
  }
  CHECK(fault("{") == "the header is not valid JSON, at its byte 2");
  CHECK(fault(R"({"a)").starts_with("the header is not valid JSON"));
  CHECK(fault("{} {}").starts_with("the header is not valid JSON"));
  CHECK(fault("{}/* text */").starts_with("the header is not valid JSON"));
  CHECK(fault("{\"a\xff\":1}").starts_with("the header is not valid JSON"));
  CHECK(fault(std::string("{}\0", 3)) == "the header is not valid JSON, at its byte 2");
  CHECK(fault("{}  \n\t ") == "nothing");
}

TEST_CASE("deep nesting is refused where it begins") {
  const std::string deep(1'000'000, '[');
  CHECK(fault("{\"a\":" + deep) == "expected an object for \"a\", got an array");
  CHECK(fault(R"({"a":{"shape":)" + deep) ==
        "tensor \"a\": expected shape of whole numbers from 0 to 2^63 - 1, got an array");
  CHECK(fault(R"({"a":{"dtype":{"a":)") == "tensor \"a\": expected a string for dtype, got an object");
}

TEST_CASE("duplicate keys are refused, at every level") {
  CHECK(fault("{" + entry("a", "3", "0,12") + "," + entry("a", "3", "12,24") + "}", 24) ==
        "duplicate key: two tensors are named \"a\"");
  CHECK(fault(R"({"a":{"dtype":"F32","dtype":"F32","shape":[1],"data_offsets":[0,4]}})", 4) ==
        "tensor \"a\": duplicate key \"dtype\"");
  CHECK(fault(R"({"__metadata__":{"x":"1","x":"2"}})") == "duplicate key \"x\"");
  CHECK(fault(R"({"__metadata__":{},"__metadata__":{}})") == "duplicate key \"__metadata__\"");
  // The same name in two spellings is the same name.
  CHECK(fault("{" + entry("a", "0", "0,0") + "," + entry("\\u0061", "0", "0,0") + "}") ==
        "duplicate key: two tensors are named \"a\"");
}

TEST_CASE("a tensor needs dtype, shape and data_offsets, and has nothing else") {
  CHECK(fault(R"({"a":{}})") == "tensor \"a\": dtype is missing");
  CHECK(fault(R"({"a":{"dtype":"F32","data_offsets":[0,0]}})") == "tensor \"a\": shape is missing");
  CHECK(fault(R"({"a":{"dtype":"F32","shape":[0]}})") == "tensor \"a\": data_offsets is missing");
  CHECK(fault(R"({"a":{"stride":[1]}})") == "tensor \"a\": unknown key \"stride\"");
  CHECK(fault(R"({"a":7})") == "expected an object for \"a\", got 7");
  CHECK(fault(R"({"a":null})") == "expected an object for \"a\", got null");
  CHECK(fault(R"({"a":{"dtype":4}})") == "tensor \"a\": expected a string for dtype, got 4");
  CHECK(fault(R"({"a":{"shape":"2"}})") == "tensor \"a\": expected an array for shape, got \"2\"");
  CHECK(fault(R"({"a":{"data_offsets":{}}})") ==
        "tensor \"a\": expected an array for data_offsets, got an object");
}

TEST_CASE("metadata is strings") {
  CHECK(fault(R"({"__metadata__":{"step":"120"}})") == "nothing");
  CHECK(fault(R"({"__metadata__":{"step":120}})") == "expected a string for metadata \"step\", got 120");
  CHECK(fault(R"({"__metadata__":{"step":-1}})") == "expected a string for metadata \"step\", got -1");
  CHECK(fault(R"({"__metadata__":{"step":1.5}})") == "expected a string for metadata \"step\", got 1.5");
  CHECK(fault(R"({"__metadata__":{"step":true}})") == "expected a string for metadata \"step\", got true");
  CHECK(fault(R"({"__metadata__":{"step":null}})") == "expected a string for metadata \"step\", got null");
  CHECK(fault(R"({"__metadata__":{"step":[]}})") == "expected a string for metadata \"step\", got an array");
  CHECK(fault(R"({"__metadata__":{"step":{}}})") == "expected a string for metadata \"step\", got an object");
  CHECK(fault(R"({"__metadata__":"text"})") == "expected an object for \"__metadata__\", got \"text\"");
}

TEST_CASE("a dtype that the format does not have is refused") {
  CHECK(fault("{" + entry("a", "1", "0,4", "F33") + "}", 4) == "tensor \"a\": unknown dtype \"F33\"");
  CHECK(fault("{" + entry("a", "1", "0,4", "f32") + "}", 4) == "tensor \"a\": unknown dtype \"f32\"");
  CHECK(fault("{" + entry("a", "1", "0,4", "") + "}", 4) == "tensor \"a\": unknown dtype \"\"");
}

TEST_CASE("sizes and offsets are whole numbers from 0 up") {
  const std::string whole = "of whole numbers from 0 to 2^63 - 1, got ";
  CHECK(fault("{" + entry("a", "-1", "0,4") + "}", 4) == "tensor \"a\": expected shape " + whole + "-1");
  CHECK(fault("{" + entry("a", "1.0", "0,4") + "}", 4) == "tensor \"a\": expected shape " + whole + "1.0");
  CHECK(fault("{" + entry("a", "1e0", "0,4") + "}", 4) == "tensor \"a\": expected shape " + whole + "1e0");
  CHECK(fault("{" + entry("a", "\"1\"", "0,4") + "}", 4) ==
        "tensor \"a\": expected shape " + whole + "\"1\"");
  CHECK(fault("{" + entry("a", "9223372036854775808", "0,4") + "}", 4) ==
        "tensor \"a\": expected shape " + whole + "9223372036854775808");
  CHECK(fault("{" + entry("a", "1", "-4,0") + "}", 4) ==
        "tensor \"a\": expected data_offsets " + whole + "-4");
  CHECK(fault("{" + entry("a", "1", "0,4.5") + "}", 4) ==
        "tensor \"a\": expected data_offsets " + whole + "4.5");
  CHECK(fault("{" + entry("a", "1", "0,18446744073709551616") + "}", 4)
            .starts_with("tensor \"a\": expected data_offsets " + whole));
}

TEST_CASE("data_offsets are two") {
  CHECK(fault("{" + entry("a", "1", "") + "}", 4) == "tensor \"a\": expected 2 data_offsets, got 0");
  CHECK(fault("{" + entry("a", "1", "0") + "}", 4) == "tensor \"a\": expected 2 data_offsets, got 1");
  CHECK(fault("{" + entry("a", "1", "0,4,8") + "}", 4) == "tensor \"a\": expected 2 data_offsets, got 3");
}

TEST_CASE("a shape whose count overflows is refused") {
  CHECK(fault("{" + entry("a", "4294967296,4294967296", "0,4") + "}", 4) ==
        "tensor \"a\": shape (4294967296, 4294967296) has more elements than can be counted");
  CHECK(fault("{" + entry("a", "4294967296,1073741824", "0,4") + "}", 4) ==
        "tensor \"a\": shape (4294967296, 1073741824) of F32 has more bits than can be counted");
}

TEST_CASE("a range that does not fit shape and dtype is refused before any read") {
  CHECK(fault("{" + entry("a", "1000,1000", "0,4") + "}", 4) ==
        "tensor \"a\": shape (1000, 1000) of F32 takes 4000000 bytes, data_offsets [0, 4] have 4");
  CHECK(fault("{" + entry("a", "2", "0,12") + "}", 12) ==
        "tensor \"a\": shape (2) of F32 takes 8 bytes, data_offsets [0, 12] have 12");
  CHECK(fault("{" + entry("a", "1", "0,4", "F16") + "}", 4) ==
        "tensor \"a\": shape (1) of F16 takes 2 bytes, data_offsets [0, 4] have 4");
  CHECK(fault("{" + entry("a", "", "0,0") + "}") ==
        "tensor \"a\": shape () of F32 takes 4 bytes, data_offsets [0, 0] have 0");
  CHECK(fault("{" + entry("a", "0,7", "0,4") + "}", 4) ==
        "tensor \"a\": shape (0, 7) of F32 takes 0 bytes, data_offsets [0, 4] have 4");
  CHECK(fault("{" + entry("a", "3", "0,1", "F4") + "}", 1) ==
        "tensor \"a\": shape (3) of F4 does not end on a whole byte");
}

TEST_CASE("ranges tile the payload: no overlap, hole, reversal, excess or rest") {
  const auto two = [](const std::string& first, const std::string& second) {
    return "{" + entry("a", first, second) + "," + entry("b", "4", "8,24") + "}";
  };
  CHECK(fault(two("4", "0,16"), 24) == "tensor \"b\": data_offsets [8, 24] overlap another tensor's");
  CHECK(fault("{" + entry("a", "2", "0,8") + "," + entry("b", "2", "16,24") + "}", 24) ==
        "tensor \"b\": bytes 8 to 16 before it belong to no tensor");
  CHECK(fault("{" + entry("a", "2", "8,16") + "}", 16) ==
        "tensor \"a\": bytes 0 to 8 before it belong to no tensor");
  CHECK(fault("{" + entry("a", "5", "0,20") + "}", 24) == "the last 4 bytes belong to no tensor");
  CHECK(fault("{}", 1) == "the last 1 bytes belong to no tensor");
  CHECK(fault("{" + entry("a", "6", "24,0") + "}", 24) == "tensor \"a\": data_offsets [24, 0] are reversed");
  CHECK(fault("{" + entry("a", "6", "0,24") + "}", 23) ==
        "tensor \"a\": data_offsets [0, 24] run past the end of the file's 23 bytes of data");
  CHECK(fault("{" + entry("a", "2", "0,8") + "," + entry("b", "2", "0,8") + "}", 8) ==
        "tensor \"b\": data_offsets [0, 8] overlap another tensor's");
  CHECK(fault("{" + entry("a", "0", "4,4") + "," + entry("b", "2", "0,8") + "}", 8) ==
        "tensor \"a\": data_offsets [4, 4] overlap another tensor's");
  CHECK(fault(two("2", "0,8"), 24) == "nothing");
  CHECK(fault("{" + entry("a", "0", "8,8") + "," + entry("b", "2", "0,8") + "}", 8) == "nothing");
}

TEST_CASE("a text from a file cannot put control characters or a flood into a message") {
  const std::string message = fault("{" + entry("\\u001b[31m", "1", "4,0") + "}", 4);
  CHECK(message == "tensor \"\\u001b[31m\": data_offsets [4, 0] are reversed");
  CHECK(fault("{" + entry(std::string(100'000, 'n'), "1", "4,0") + "}", 4).size() < 300);
  CHECK(fault("{\"a\":1." + std::string(100'000, '1') + "}").size() < 300);
  std::string sizes = "1";
  for (int axis = 0; axis < 50'000; ++axis) sizes += ",1";
  CHECK(fault("{" + entry("a", sizes, "0,8") + "}", 8) ==
        "tensor \"a\": shape (1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, ...) of F32 takes 4 bytes, "
        "data_offsets [0, 8] have 8");
}

}  // namespace tapehead
