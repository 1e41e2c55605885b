#!/usr/bin/env bash
# Trains the induction model with each way of telling positions, and evaluates it on longer sequences than it saw:
#   experiments/positions/run.sh [--quick] [SEEDS]     default: 10 seeds
# --quick has one seed and 150 steps. Runs that are there already are kept.
set -euo pipefail
cd -P "$(dirname "${BASH_SOURCE[0]}")/../.."
# shellcheck source=experiments/sweeps.sh
source experiments/sweeps.sh
enter_sweeps positions 10 150 "$@"

for positions in none learned sinusoidal rotary alibi; do
  sweep "$positions" configs/induction.toml --set "model.positions=$positions" --set model.context=192
done
# The slopes of two heads are 1/16 and 1/256; of eight, from 1/2 to 1/256.
sweep alibi-8-heads configs/induction.toml --set model.positions=alibi --set model.context=192 --set model.heads=8
print_sweeps "${sweeps[@]}"
print_beyond "${sweeps[@]}"

# Accuracy on induction positions at lengths of training (48) and beyond: a row a run and length.
table=$runs/lengths.csv
echo positions,seed,length,accuracy > "$table"
for sweep in "${sweeps[@]}"; do
  for seed in $(seq "$seeds"); do
    for length in 48 64 96 192; do
      accuracy=$("$tapehead" eval "$sweep/seed-$seed" --length "$length" --threads 1 | awk '$1 == "length" { print $6 }')
      echo "$(basename "$sweep"),$seed,$length,$accuracy" >> "$table"
    done
  done
done
experiments/positions/figure.sh "$runs"
"$tapehead" plot "${sweeps[@]}"
