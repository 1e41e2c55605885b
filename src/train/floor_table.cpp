#include "tapehead/train/floor_table.h"

#include "tapehead/tasks/floors.h"

namespace tapehead {

CsvTable floor_table(const Task& task, const Batch& batch, int threads) {
  CsvTable table({"predictor", "loss", "loss_induction", "loss_noise", "accuracy_induction", "sequences"});
  for (const Floor& floor : floors(task, batch, threads))
    table.add({std::string(floor.predictor), csv_cell(floor.loss), csv_cell(floor.loss_induction),
               csv_cell(floor.loss_noise), csv_cell(floor.accuracy_induction),
               std::to_string(floor_sequences(batch))});
  return table;
}

}  // namespace tapehead
