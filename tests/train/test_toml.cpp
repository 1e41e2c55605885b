#include "tapehead/train/toml.h"

#include "support/testing.h"
#include "tapehead/base/require.h"

using namespace tapehead;

TEST_CASE("text that is TOML is parsed, and other text refused with its place and its line") {
  CHECK(*parse_toml("a = 3 # é", "x.toml")["a"].value_exact<std::int64_t>() == 3);
  const std::string words = testing::complaint_of([] { parse_toml("a = 1\n  b 2\r\n", "x.toml"); });
  CHECK(words.starts_with("x.toml:2:"));
  CHECK(words.ends_with(", in: b 2"));
  CHECK(toml_position("x.toml", {3, 5}) == "x.toml:3:5:");
}
