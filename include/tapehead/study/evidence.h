/// What is known of the mechanism by which a model copies: a verdict with its pieces of evidence, in numbers
/// and in words, and the table that keeps both. How they are found out is in verdict.h.
#pragma once

#include <cmath>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "tapehead/base/number.h"
#include "tapehead/train/csv.h"

namespace tapehead {

/// `induction`: copies by content, with the circuit of Olsson et al. 2022. `positional`: copies at the
/// periods it was trained on, and not at others. `other`: has learnt something, and neither of these. `none`:
/// nothing.
enum class Mechanism { induction, positional, other, none };
std::string_view name_of(Mechanism mechanism);

/// A number that speaks for induction heads where it is on the right side of a threshold.
struct Evidence {
  std::string name = {};                                    ///< as in the table
  double value = std::numeric_limits<double>::quiet_NaN();  ///< NaN where there was nothing to measure
  bool above = true;  ///< whether it has to be above the threshold, or below
  double threshold = 0;
  std::vector<Index> periods = {};      ///< that it was measured at
  std::vector<std::string> heads = {};  ///< that it tells of: "1.0" for head 0 of layer 1

  bool is_measured() const { return !std::isnan(value); }
  bool holds() const { return above ? value > threshold : value < threshold; }
};

struct Verdict {
  Mechanism mechanism = Mechanism::none;
  std::vector<Evidence> evidence = {};
};

/// What a piece of evidence measures: "induction score of head 1.0 at those periods". Throws Error for a name
/// that no evidence has.
std::string finding(const Evidence& evidence);

/// The verdict in a sentence, with the evidence that decides it.
std::string sentence(const Verdict& verdict);

/// A row a piece of evidence: evidence, value, must_be (above or below), threshold, holds, periods and heads
/// (blanks between them); then the verdict, whether there was a twin, of which step, and how many sequences a
/// period.
CsvTable verdict_table(const Verdict& verdict, Index step, Index sequences);

/// The verdict that such a table keeps. Throws Error for a mechanism or a piece of evidence that there is
/// not.
Verdict verdict_in(const CsvTable& table);

}  // namespace tapehead
