#include "tapehead/report/floor_lines.h"

#include <cmath>

namespace tapehead {

std::string floor_lines(const CsvTable& floors, std::string_view column, std::string_view colour,
                        std::string_view tint, std::vector<EndLabel>& labels, bool is_narrow) {
  std::string command;
  for (Index row = 0; row < floors.rows(); ++row) {
    const std::string& predictor = floors.cell(row, "predictor");
    const double loss = floors.number(row, column);
    if (predictor == "chance" || !std::isfinite(loss)) continue;
    if (predictor != "Bayes" && column != "loss_induction") continue;
    labels.push_back(
        {loss, fmt::format("{}{} {:.2f}", is_narrow ? "" : "floor: ", predictor, loss), colour, true});
    command += fmt::format("{} with lines linewidth 1 linecolor rgb '{}', ", loss, tint);
  }
  return command;
}

EndLabel chance_label(Index vocabulary, bool is_narrow) {
  const double chance = std::log(static_cast<double>(vocabulary));
  return {chance, fmt::format("{}ln {} = {:.2f}", is_narrow ? "" : "guessing: ", vocabulary, chance), kGrey};
}

}  // namespace tapehead
