/// Memory and time of a training step by formula, before there is a model or a second machine.
///
/// A batch is cut into shards as Trainer does. A rank runs those of share_of on its threads; their sets
/// of gradients are held, added and exchanged as in gradient_sum.h. Every rank holds all parameters and
/// averages, and updates all of them.
///
/// Sizes are those of pass_cost: exact on one thread; on several a bound, reached where all threads stand at
/// their peak together. A time is a size over a rate, and times are added up: nothing overlaps, and no rank
/// is slower than another. Left out are drawing the batch and its tokens' memory, and a config's
/// interventions, evaluations and checkpoints.
#pragma once

#include "tapehead/train/config.h"

namespace tapehead {

/// What the formulas are told of the machines.
struct Machines {
  Index ranks = 1;                           ///< one a machine
  int threads = 1;                           ///< a rank
  double operations_per_second = 50e9;       ///< of a thread, in the passes of this model
  double memory_bytes_per_second = 10e9;     ///< of a rank, read or written in long loops
  double network_bytes_per_second = 1.25e9;  ///< of a rank, either way at once: 10 Gbit/s
  double seconds_per_message = 50e-6;        ///< before its first byte
};

struct StepEstimate {
  // Of all ranks together.
  Index parameters;
  Index tokens;
  Index shards;
  Index operations;  ///< multiplications and additions of matrix products, as Trainer::StepReport counts them

  /// Bytes of a rank, of the one that has most. Its parts need not be at their largest at the same time.
  struct Memory {
    Index model;        ///< parameters, and fixed positions
    Index averages;     ///< of the optimizer
    Index gradients;    ///< of the sets that are held at once
    Index activations;  ///< values and their gradients, of the shards that run at once
    Index exchange;     ///< what is received before it is added
    Index arrays;       ///< of all these at the peak, as memory_use().peak counts them
    Index masks;        ///< beside them, what dropout kept in the shards that run at once
    Index peak() const { return arrays + masks; }
  } memory;

  Index shards_of_rank;  ///< of the rank that has most
  Index sent_bytes;      ///< by the rank that sends most,
  Index received_bytes;  ///< to the one that gets most,
  Index messages;        ///< by the one that sends most

  /// Of the slowest rank in each part.
  struct Seconds {
    double compute;   ///< forward and backward of its shards
    double update;    ///< adding gradients, their norm, and the optimizer, by the memory they move
    double exchange;  ///< of gradients
    double step() const { return compute + update + exchange; }
  } seconds;

  double tokens_per_second;
  double efficiency;  ///< a rank's tokens a second over those of a single rank that trains alone
};

/// Throws UsageError as validate(Config) does, and for machines that are none; Error for sizes that are too
/// large to count. Nothing is allocated but for a few small lists, and nothing is run.
StepEstimate estimate_step(const Config& config, const Machines& machines);

/// What this machine reaches in steps of a single shard of this config, about so many seconds long, after one
/// that is not timed: operations_per_second, and, on so many threads, memory_bytes_per_second. Throws as
/// Trainer.
Machines measured_rates(const Config& config, int threads, double seconds = 0.5);

}  // namespace tapehead
