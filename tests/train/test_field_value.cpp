#include "tapehead/train/field_value.h"

#include <array>
#include <string>
#include <vector>

#include "support/testing.h"

using namespace tapehead;

TEST_CASE("numbers are written in the fewest digits that read back the same, and floats as floats") {
  CHECK(written(3e-4) == "3e-4");
  CHECK(written(1e-8) == "1e-8");
  CHECK(written(1.5e300) == "1.5e300");
  CHECK(written(0.1 + 0.2) == "0.30000000000000004");
  CHECK(written(1.0) == "1.0");
  CHECK(written(-2.0) == "-2.0");
  CHECK(written(Index{-3}) == "-3");
  CHECK(written(std::array<double, 2>{0.9, 1}) == "[0.9, 1.0]");
  CHECK(written(true) == "true");
  CHECK(written(std::string("adam")) == "\"adam\"");
  CHECK(written(std::string("a\\b \"c\"")) == R"("a\\b \"c\"")");
}

TEST_CASE("a list is written in brackets, and is admitted if it is short and each of its numbers is") {
  CHECK(written(std::vector<Index>{}) == "[]");
  CHECK(written(std::vector<Index>{3, -1}) == "[3, -1]");
  const Allowed allowed{.low = 0, .high = 9};
  CHECK(expected_text(allowed, std::vector<Index>{}) == "a list of at most 64 integers, each from 0 to 9");
  CHECK(admits(allowed, std::vector<Index>{0, 9}));
  CHECK_FALSE(admits(allowed, std::vector<Index>{0, 10}));
  CHECK(admits(allowed, std::vector<Index>(64, 1)));
  CHECK_FALSE(admits(allowed, std::vector<Index>(65, 1)));
}
