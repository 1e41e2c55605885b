/// By what mechanism a model copies: a judgement with its evidence, each piece with its threshold.
///
/// One number is never enough. A model that learned to look a fixed distance back scores near 1 as
/// "induction" at the period it was trained on, so models are probed with random sequences that repeat at
/// periods they never saw; and a high score says where a head looks, not that the behaviour rests on it, so
/// heads are taken out too.
#pragma once

#include "tapehead/interp/probe.h"
#include "tapehead/study/evidence.h"

namespace tapehead {

/// Throws UsageError where the task's sequences are too short for a period that was not trained on.
void require_period_to_probe(const Transformer& model, const Task& task);

/// Judges `model`, which was trained on `task`. `own` is a batch of that task, and `twin` the one-layer twin
/// trained on the same data, or null where there is none: that evidence is then missing, and said so. Throws
/// as require_period_to_probe does.
Verdict judge(const Transformer& model, const Task& task, const Batch& own, const Transformer* twin,
              const ProbeOptions& options = {});

}  // namespace tapehead
