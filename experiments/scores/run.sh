#!/usr/bin/env bash
# Trains the induction model with each way of making a score of a query and a key:
#   experiments/scores/run.sh [--quick] [SEEDS]     default: 10 seeds
# --quick has one seed and 150 steps. Runs that are there already are kept.
set -euo pipefail
cd -P "$(dirname "${BASH_SOURCE[0]}")/../.."
# shellcheck source=experiments/sweeps.sh
source experiments/sweeps.sh
enter_sweeps scores 10 150 "$@"

for scores in dot bilinear additive; do
  sweep "$scores" configs/induction.toml --set "model.scores=$scores"
done
print_sweeps "${sweeps[@]}"
print_beyond "${sweeps[@]}"
"$tapehead" plot "${sweeps[@]}"
