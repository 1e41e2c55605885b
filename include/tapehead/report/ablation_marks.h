/// Where kinds of ablation disagree, read off a table of ablations.
#pragma once

#include <string_view>
#include <vector>

#include "tapehead/interp/ablation_kinds.h"
#include "tapehead/train/csv.h"

namespace tapehead {

/// A quantity of such a table, and the columns that hold it.
struct AblationQuantity {
  std::string_view name;
  std::string_view mean;
  std::string_view low;
  std::string_view high;
};
inline constexpr AblationQuantity kOnInduction{"induction", "change_induction", "low", "high"};
inline constexpr AblationQuantity kOnNoise{"noise", "change_noise", "noise_low", "noise_high"};

/// For every row the worst disagreement with a row above it of the same component, among zero, mean and
/// resample, the kinds that answer one question.
std::vector<Disagreement> disagreements(const CsvTable& ablations, const AblationQuantity& quantity);

}  // namespace tapehead
