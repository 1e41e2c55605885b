#include "tapehead/base/transport.h"

#include <charconv>
#include <cstdlib>

#include "tapehead/base/require.h"

namespace tapehead {

namespace {

/// The number in an environment variable; 0 where there is none.
int number_in(const char* variable) {
  const char* text = std::getenv(variable);
  int number = 0;
  if (text != nullptr) std::from_chars(text, text + std::string_view(text).size(), number);
  return number;
}

}  // namespace

// A build without MPI. Several such processes would each train the same run.
std::unique_ptr<Transport> join_job() {
  if (number_in("OMPI_COMM_WORLD_SIZE") > 1 || number_in("PMI_SIZE") > 1 || number_in("PMIX_RANK") > 0)
    throw UsageError(
        "[ranks] this process was started as one of several, and this tapehead was built without MPI; build "
        "it with `cmake --preset release -DTAPEHEAD_MPI=ON`");
  return nullptr;
}

}  // namespace tapehead
