#include "tapehead/report/ablation_marks.h"

#include <algorithm>
#include <map>
#include <utility>

namespace tapehead {

namespace {

bool is_stand_in(std::string_view kind) { return kind == "zero" || kind == "mean" || kind == "resample"; }

}  // namespace

std::vector<Disagreement> disagreements(const CsvTable& ablations, const AblationQuantity& quantity) {
  std::map<std::pair<std::string, std::string>, std::vector<Estimate>> above;  // by component
  std::vector<Disagreement> worst(static_cast<std::size_t>(ablations.rows()), Disagreement::none);
  for (Index row = 0; row < ablations.rows(); ++row) {
    if (!is_stand_in(ablations.cell(row, "kind"))) continue;
    const Estimate change{ablations.number(row, quantity.mean), ablations.number(row, quantity.low),
                          ablations.number(row, quantity.high)};
    auto& others = above[{ablations.cell(row, "layer"), ablations.cell(row, "head")}];
    for (const Estimate& other : others) {
      Disagreement& mark = worst[static_cast<std::size_t>(row)];
      mark = std::max(mark, disagreement(other, change));
    }
    others.push_back(change);
  }
  return worst;
}

}  // namespace tapehead
