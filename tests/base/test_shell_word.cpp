#include "tapehead/base/shell_word.h"

#include "support/testing.h"

using namespace tapehead;

TEST_CASE("a path comes out as one word of a shell, which no program takes for an option") {
  CHECK(shell_word("runs/induction") == "runs/induction");
  CHECK(shell_word("my runs/a") == "'my runs/a'");
  CHECK(shell_word("a'b") == "'a'\\''b'");
  CHECK(shell_word("$(rm x)") == "'$(rm x)'");
  CHECK(shell_word("-x") == "./-x");
  CHECK(shell_word("") == "''");
}
