#!/usr/bin/env bash
# Trains the copy model for a short while, and takes it and a random model apart into sums:
#   experiments/writes/run.sh [--quick]
# --quick trains still less. A run that is there already is not trained again. Ends with status 1 if a sum leaves more
# than rounding.
set -euo pipefail
cd -P "$(dirname "${BASH_SOURCE[0]}")/../.."
# shellcheck source=experiments/room.sh
source experiments/room.sh
enter writes 'tapehead_program experiment_writes' "$@"

steps=600
[ -z "$quick" ] || steps=60
mkdir -p "$runs"

run=$runs/induction
if [ ! -f "$runs/finished" ]; then
  logged "$run.log" "$tapehead" train configs/induction.toml --set "train.steps=$steps" --set train.ring_snapshots=0 \
    --out "$run" --overwrite
  touch "$runs/finished"
fi
"$programs/writes" "$run" "$runs/singular.csv"
experiments/writes/figure.sh "$runs"
"$tapehead" circuits "$run" > /dev/null
"$tapehead" plot "$run" --only attribution
