/// A run that several ranks train together: rank 0 keeps its folder, as train_run says, and others follow.
///
/// What a rank sends, by the name of the call (Ranks::traffic), of R ranks and P parameters:
/// - hosts, processors, command, program, config, data: at the start, to each other rank, 8 bytes and
///   then the longest rank's text; step: 16 bytes;
/// - parameters, averages: at the start, from rank 0, P numbers each;
/// - losses: a step, to each other rank, 16 bytes for each shard of the rank that has most;
/// - gradient sums, summed gradients: a step, (R - 1)/R of P numbers each, where ranks and shards are
///   powers of two, and otherwise as gradient_sum.h says;
/// - stop: a step, to each other rank, 1 byte;
/// - evaluation, head scores: an evaluation, to rank 0, for each of the rank's sequences two numbers a
///   position, and 112 bytes a head.
#pragma once

#include <functional>
#include <string>

#include "tapehead/train/trainer.h"

namespace tapehead {

/// Throws UsageError, with the same words on every rank, if a rank is another version or build of the
/// program, or has another config or other data than rank 0: then the bits could not be those of one process.
///
/// Then puts rank 0's parameters, averages and step in place of the others', so that only rank 0 needs the
/// run's checkpoints. Returns what a user ought to know: that ranks have no shard to train, or processors
/// differ, which may round otherwise; empty if there is nothing. Called by all ranks together.
std::string start_together(Trainer& trainer);

/// The first two of these checks, for other work that ranks share: the program, and what `own` tells, which
/// is called `what` in the error.
void require_same_program(Ranks& ranks);
void require_same_on_all(Ranks& ranks, const std::string& own, const char* what);

/// The config of rank 0, for ranks that have none of their own to compare.
Config config_of_rank_0(const Config& own, Ranks& ranks);

/// What the other ranks do while rank 0 does train_run: the same steps and evaluations, watched by watchers
/// of the same kinds, until the last step, or until any rank's `should_stop` holds. Returns false if it was
/// stopped. Throws as Trainer::advance.
bool follow_run(Trainer& trainer, const Watch& watch, const std::function<bool()>& should_stop);

}  // namespace tapehead
