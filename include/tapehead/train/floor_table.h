/// The floors of a run's evaluation batch, as the table floors.csv.
#pragma once

#include "tapehead/tasks/task.h"
#include "tapehead/train/csv.h"

namespace tapehead {

/// A row a predictor, as floors() has them: predictor, loss, loss_induction, loss_noise (nats),
/// accuracy_induction, and on how many sequences, the first ones of the batch. The same bits for any number
/// of threads. Throws as floors() does.
CsvTable floor_table(const Task& task, const Batch& batch, int threads);

}  // namespace tapehead
