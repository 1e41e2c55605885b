/// Random sequences that repeat at a period of our choice, whatever a model was trained on: what a head that
/// copies by content can do, and one that copies by position cannot.
#pragma once

#include <cstdint>
#include <vector>

#include "tapehead/interp/head_scores.h"

namespace tapehead {

/// Periods to probe a task's model with, in tokens.
struct ProbePeriods {
  std::vector<Index> trained;    ///< empty for a task that does not repeat by construction
  std::vector<Index> untrained;  ///< outside the trained ones
};

/// At most three trained periods (shortest, middle, longest) and four untrained ones, the nearest to those
/// trained, from 2 to three quarters of `length`. An untrained one neither divides a trained one nor is
/// divided by it, where such are to be had: looking a trained distance back would find a copy there as well.
/// For a task that does not repeat, the untrained ones are 5, 8, 13 and 21, as far as they fit.
ProbePeriods probe_periods(const Task& task, Index length);

/// Sequences that repeat with one period, and what a model made of them.
struct Probe {
  Index period = 0;
  Evaluation evaluation;
  std::vector<HeadScores> heads;
  ScoreValues chance;
};

struct ProbeOptions {
  EvaluateOptions evaluate = {};
  Index sequences = 64;    ///< a period
  std::uint64_t seed = 1;  ///< of the sequences; each period draws from a stream of its own
};

/// Sequences of `length` tokens that repeat with `period`: see period_batch. Throws UsageError unless they
/// fit.
Batch probe_batch(Index vocabulary, Index length, Index period, const ProbeOptions& options);

/// The model on such sequences.
Probe probe(const Transformer& model, Index length, Index period, const ProbeOptions& options);

}  // namespace tapehead
