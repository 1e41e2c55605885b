#!/usr/bin/env bash
# Trains the induction model with scores as they are, divided by the square root of the head's width, and of queries and keys
# that are normalised first:
#   experiments/scaling/train.sh [--quick] [SEEDS]     default: 10 seeds
# --quick has one seed and 150 steps. Runs that are there already are kept.
set -euo pipefail
cd -P "$(dirname "${BASH_SOURCE[0]}")/../.."
# shellcheck source=experiments/sweeps.sh
source experiments/sweeps.sh
enter_sweeps scaling 10 150 "$@"

sweep raw configs/induction.toml --set model.scaled_scores=false
sweep scaled configs/induction.toml
sweep normalised configs/induction.toml --set model.query_key_norm=true
print_sweeps "${sweeps[@]}"
print_beyond "${sweeps[@]}"
"$tapehead" plot "${sweeps[@]}"
