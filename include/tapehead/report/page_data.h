/// All that a run's page shows, as one JSON document: the run's tables to the letter, and what pictures need
/// besides. How it looks is in src/report/page/.
#pragma once

#include <string>
#include <vector>

#include "tapehead/train/run_directory.h"

namespace tapehead {

struct PageData {
  std::string document;               ///< in UTF-8
  std::vector<std::string> faults;    ///< of what could not be read, each said once; the rest is there
  std::vector<std::string> warnings;  ///< of tables that tell of another step than the newest checkpoint's
};

/// Equal for an equal run folder, whatever the number of threads. Throws Error where no checkpoint can be
/// read, and UsageError where the task's data are gone.
PageData page_data(const RunDirectory& run, int threads);

}  // namespace tapehead
