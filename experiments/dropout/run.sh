#!/usr/bin/env bash
# What dropout does to a row of weights, and to the step at which induction forms:
#   experiments/dropout/run.sh [--quick] [SEEDS]     default: 10 seeds
# --quick has one seed and 300 steps. Runs that are there already are kept. Ends with status 1 if the row of weights is
# not what it should be.
set -euo pipefail
cd -P "$(dirname "${BASH_SOURCE[0]}")/../.."
# shellcheck source=experiments/sweeps.sh
source experiments/sweeps.sh
enter_sweeps dropout 10 300 "$@"

build experiment_dropout
"$programs/dropout"
echo

for p in 0 0.05 0.1 0.2 0.5; do
  sweep "p-$p" configs/induction.toml --set "model.dropout=$p"
done
print_sweeps "${sweeps[@]}"
print_beyond "${sweeps[@]}"
"$tapehead" plot "${sweeps[@]}"
