#include "tapehead/base/machine.h"

#include "support/testing.h"

using namespace tapehead;

TEST_CASE("a machine has a name in one line, and threads") {
  const std::string name = machine();
  CHECK(name.find('\n') == std::string::npos);
  CHECK(name.find(", ") > 0);
  CHECK(name.find(" thread") != std::string::npos);
  CHECK(machine() == name);
}
