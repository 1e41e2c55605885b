/// By what mechanism a model copies: a judgement with its evidence, each piece with its threshold.
///
/// One number is never enough. A model that learned to look a fixed distance back scores near 1 as
/// "induction" at the period it was trained on, so models are probed with random sequences that repeat at
/// periods they never saw; and a high score says where a head looks, not that the behaviour rests on it, so
/// heads are taken out too.
#pragma once

#include <limits>
#include <string>
#include <vector>

#include "tapehead/interp/probe.h"
#include "tapehead/train/csv.h"

namespace tapehead {

/// `induction`: copies by content, with the circuit of Olsson et al. 2022. `positional`: copies at the
/// periods it was trained on, and not at others. `other`: has learnt something, and neither of these. `none`:
/// nothing.
enum class Mechanism { induction, positional, other, none };
std::string_view name_of(Mechanism mechanism);

/// A number that speaks for induction heads where it is on the right side of a threshold.
struct Evidence {
  std::string name;                                         ///< as in the table
  std::string finding;                                      ///< what was measured, in words
  double value = std::numeric_limits<double>::quiet_NaN();  ///< NaN where there was nothing to measure
  bool above = true;  ///< whether it has to be above the threshold, or below
  double threshold = 0;
  bool is_known = true;  ///< whether it was looked for

  bool holds() const { return above ? value > threshold : value < threshold; }
};

struct Verdict {
  Mechanism mechanism = Mechanism::none;
  std::string sentence;
  std::vector<Evidence> evidence;
};

/// Throws UsageError where the task's sequences are too short for a period that was not trained on.
void require_period_to_probe(const Transformer& model, const Task& task);

/// Judges `model`, which was trained on `task`. `own` is a batch of that task, and `twin` the one-layer twin
/// trained on the same data, or null where there is none: that evidence is then missing, and said so. Throws
/// as require_period_to_probe does.
Verdict judge(const Transformer& model, const Task& task, const Batch& own, const Transformer* twin,
              const ProbeOptions& options = {});

/// A row a piece of evidence: evidence, value, must_be (above or below), threshold, holds; then the verdict,
/// whether there was a twin, of which step, and how many sequences a period.
CsvTable verdict_table(const Verdict& verdict, Index step, Index sequences);

}  // namespace tapehead
