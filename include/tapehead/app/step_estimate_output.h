/// What `tapehead inspect --ranks` prints: a training step by formula, for several numbers of machines.
#pragma once

#include <string>
#include <vector>

#include "tapehead/train/estimate.h"

namespace tapehead::app {

/// Estimates of one config's step on machines that are alike but for how many there are.
struct StepEstimates {
  std::string config;  ///< its path
  std::vector<Machines> machines = {};
  std::vector<StepEstimate> estimates = {};
  bool measured = false;  ///< the rate of computing, on this machine
};

/// A column a number of ranks, and below what it was computed from.
void print_table(const StepEstimates& computed);
void print_json(const StepEstimates& computed);

}  // namespace tapehead::app
