/// Two tables that should say the same, cell by cell.
#pragma once

#include <string>
#include <vector>

#include "tapehead/train/csv.h"

namespace tapehead {

/// A number that stands in a table and is not what comes out.
struct Difference {
  std::string place;       ///< "row 3 (step 20, layer 1, head 0), induction"
  std::string stands;      ///< in the table
  std::string recomputed;  ///< now
};

struct Comparison {
  Index cells = 0;  ///< that were compared
  std::vector<Difference> differences;
};

/// Row by row. Two numbers may differ by `tolerance` as a share of the larger, or by that much where both are
/// below 1; everything else has to be equal to the letter, as have numbers at tolerance 0. Columns named in
/// `ignored` are left out, and rows before `first_row`. A row or column that only one table has is one
/// difference.
Comparison compare(const CsvTable& stands, const CsvTable& recomputed, double tolerance = 0,
                   const std::vector<std::string>& ignored = {}, Index first_row = 0);

}  // namespace tapehead
