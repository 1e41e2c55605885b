#include "tapehead/base/quoted_name.h"

#include "support/testing.h"

using namespace tapehead;

TEST_CASE("a name from outside is quoted in plain ASCII, whatever bytes it has") {
  CHECK(quoted_name("a.weight") == "\"a.weight\"");
  CHECK(quoted_name("") == "\"\"");
  CHECK(quoted_name("\x1b[2J \"\\") == R"("\u001b[2J \"\\")");
  CHECK(quoted_name("\xc3\xa9") == R"("\u00e9")");
  CHECK(quoted_name("\xff") == R"("\ufffd")");
}

TEST_CASE("a long name is cut off after 120 bytes") {
  CHECK(quoted_name(std::string(120, 'a')) == '"' + std::string(120, 'a') + '"');
  CHECK(quoted_name(std::string(121, 'a')) == '"' + std::string(120, 'a') + "\"...");
}
