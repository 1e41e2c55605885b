#include "tapehead/train/floor_table.h"

#include "support/testing.h"
#include "tapehead/tasks/floors.h"

using namespace tapehead;

TEST_CASE("the table of floors has a row a predictor, with the numbers of the library") {
  const std::unique_ptr<Task> task = make_task({}, 64);
  Generator generator(3);
  const Batch batch = task->sample(generator, 8);
  const std::vector<Floor> list = floors(*task, batch, 1);
  const CsvTable table = floor_table(*task, batch, 2);
  REQUIRE(table.rows() == 4);
  for (Index row = 0; row < 4; ++row) {
    const Floor& floor = list[static_cast<std::size_t>(row)];
    CHECK(table.cell(row, "predictor") == floor.predictor);
    CHECK(table.cell(row, "loss") == csv_cell(floor.loss));
    CHECK(table.cell(row, "loss_induction") == csv_cell(floor.loss_induction));
    CHECK(table.cell(row, "loss_noise") == csv_cell(floor.loss_noise));
    CHECK(table.cell(row, "accuracy_induction") == csv_cell(floor.accuracy_induction));
    CHECK(table.cell(row, "sequences") == "8");
  }
}
