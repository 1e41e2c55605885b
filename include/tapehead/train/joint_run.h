/// A run that several ranks train together: rank 0 keeps its folder, as train_run says, and the others
/// follow.
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

/// What the other ranks do while rank 0 trains the run: the same steps, until the last, or until any rank's
/// `should_stop` holds. Returns false if it was stopped. Throws as Trainer::advance.
bool follow_run(Trainer& trainer, const std::function<bool()>& should_stop);

}  // namespace tapehead
