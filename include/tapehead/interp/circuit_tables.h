/// The tables of a model's circuits.
#pragma once

#include "tapehead/interp/circuits.h"
#include "tapehead/train/csv.h"

namespace tapehead {

/// One row a head: layer, head, previous_token_circuit, copying_top1, copying_top5, copying_eigenvalues, then
/// over how many positions and tokens, and of which step; `sequences` are those that the layer norms' factors
/// were measured on.
CsvTable circuit_table(const Circuits& circuits, Index step, Index sequences);

/// One row a pair and way to compose: earlier_layer, earlier_head, layer, head, composition (Q, K or V),
/// score, baseline, baseline_spread, for K diagonal_difference and top1; tokens, step, sequences.
CsvTable composition_table(const Circuits& circuits, Index step, Index sequences);

/// One row an eigenvalue: layer, head, circuit (OV, QK or OV_tokens), index, re, im, for OV and QK the
/// singular value of that index; step, sequences.
CsvTable eigenvalue_table(const Circuits& circuits, Index step, Index sequences);

}  // namespace tapehead
