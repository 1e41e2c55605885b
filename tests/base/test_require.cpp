#include "tapehead/base/require.h"

#include <type_traits>

#include "support/testing.h"

namespace tapehead {

TEST_CASE("a requirement that holds says nothing") {
  CHECK_NOTHROW(require(true, "[sizes] expected {}, got {}", 1, 2));
  CHECK_NOTHROW(ensure(true, "[sizes] expected {}, got {}", 1, 2));
}

TEST_CASE("a requirement that fails throws the formatted message as Error") {
  CHECK_THROWS_WITH_AS(require(false, "[attention] expected width {}, got {}", 64, "none"),
                       "[attention] expected width 64, got none", Error);
}

TEST_CASE("a broken promise of the library is an InternalError and no Error") {
  CHECK_THROWS_WITH_AS(ensure(false, "[tape] step {} ran twice", 3), "[tape] step 3 ran twice",
                       InternalError);
  CHECK_FALSE(std::is_base_of_v<Error, InternalError>);
}

TEST_CASE("a wrong call is an Error too, so one catch is enough") {
  CHECK(std::is_base_of_v<Error, UsageError>);
  CHECK(std::is_base_of_v<std::exception, InternalError>);
}

}  // namespace tapehead
