#include "tapehead/interp/circuit_tables.h"

#include <string>

namespace tapehead {

CsvTable circuit_table(const Circuits& circuits, Index step, Index sequences) {
  CsvTable table({"layer", "head", "previous_token_circuit", "copying_top1", "copying_top5",
                  "copying_eigenvalues", "positions", "tokens", "step", "sequences"});
  for (const HeadCircuits& head : circuits.heads)
    table.add({std::to_string(head.layer), std::to_string(head.head), csv_cell(head.previous_token),
               csv_cell(head.copying_top1), csv_cell(head.copying_top5), csv_cell(head.copying_eigenvalues),
               std::to_string(circuits.positions), std::to_string(circuits.tokens), std::to_string(step),
               std::to_string(sequences)});
  return table;
}

CsvTable composition_table(const Circuits& circuits, Index step, Index sequences) {
  CsvTable table({"earlier_layer", "earlier_head", "layer", "head", "composition", "score", "baseline",
                  "baseline_spread", "diagonal_difference", "top1", "tokens", "step", "sequences"});
  for (const HeadPair& pair : circuits.pairs)
    for (std::size_t how = 0; how < pair.scores.size(); ++how) {
      const bool by_keys = static_cast<Composition>(how) == Composition::keys;
      table.add({std::to_string(pair.earlier_layer), std::to_string(pair.earlier_head),
                 std::to_string(pair.layer), std::to_string(pair.head), std::string(kCompositionNames[how]),
                 csv_cell(pair.scores[how]), csv_cell(circuits.baseline.mean),
                 csv_cell(circuits.baseline.spread), by_keys ? csv_cell(pair.tokens.difference) : "",
                 by_keys ? csv_cell(pair.tokens.top1) : "", std::to_string(circuits.tokens),
                 std::to_string(step), std::to_string(sequences)});
    }
  return table;
}

CsvTable eigenvalue_table(const Circuits& circuits, Index step, Index sequences) {
  CsvTable table({"layer", "head", "circuit", "index", "re", "im", "singular_value", "step", "sequences"});
  for (const HeadCircuits& head : circuits.heads) {
    const auto add = [&](const char* circuit, const std::vector<std::complex<double>>& values,
                         const std::vector<double>& singular) {
      for (std::size_t i = 0; i < values.size(); ++i)
        table.add({std::to_string(head.layer), std::to_string(head.head), circuit, std::to_string(i),
                   csv_cell(values[i].real()), csv_cell(values[i].imag()),
                   i < singular.size() ? csv_cell(singular[i]) : "", std::to_string(step),
                   std::to_string(sequences)});
    };
    add("OV", head.ov, head.ov_singular);
    add("QK", head.qk, head.qk_singular);
    add("OV_tokens", head.ov_tokens, {});
  }
  return table;
}

}  // namespace tapehead
