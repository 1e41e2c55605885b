#!/usr/bin/env bash
# Trains one and two layers with keys that are mixed with the key before, and without:
#   experiments/smeared-keys/run.sh [--quick] [SEEDS]     default: 10 seeds
# --quick has one seed and 150 steps. Runs that are there already are kept.
set -euo pipefail
cd -P "$(dirname "${BASH_SOURCE[0]}")/../.."
# shellcheck source=experiments/sweeps.sh
source experiments/sweeps.sh
enter_sweeps smeared-keys 10 150 "$@"

sweep one-layer configs/induction.toml --set model.layers=1
sweep one-layer-smeared configs/induction.toml --set model.layers=1 --set model.smeared_keys=true
sweep two-layers configs/induction.toml
sweep two-layers-smeared configs/induction.toml --set model.smeared_keys=true
print_sweeps "${sweeps[@]}"
print_beyond "${sweeps[@]}"
"$tapehead" plot "${sweeps[@]}"
