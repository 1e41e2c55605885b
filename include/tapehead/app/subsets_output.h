/// What `tapehead ablate --subsets` prints.
#pragma once

#include <vector>

#include "tapehead/app/loaded_run.h"
#include "tapehead/interp/subsets.h"

namespace tapehead::app {

void print_text(const LoadedRun& run, const std::vector<LayerSubsets>& layers);
void print_json(const LoadedRun& run, const std::vector<LayerSubsets>& layers);

}  // namespace tapehead::app
