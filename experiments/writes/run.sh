#!/usr/bin/env bash
# Trains the copy model for a short while, and takes it and a random model apart into sums:
#   experiments/writes/run.sh [--quick]
# A few seconds, once it is built; --quick trains still less. A run that is there already is not trained again. Ends
# with status 1 if a sum leaves more than rounding. TAPEHEAD names a program other than the one it builds, TAPEHEAD_ROOMS
# a folder with the program of this room, TAPEHEAD_RUNS a folder for the runs other than runs/.
set -euo pipefail
cd -P "$(dirname "${BASH_SOURCE[0]}")/../.."

runs=${TAPEHEAD_RUNS:-runs}/writes steps=600
case "$*" in
  "") ;;
  --quick)
    runs=$runs-quick steps=60
    ;;
  *)
    echo "usage: experiments/writes/run.sh [--quick]" >&2
    exit 2
    ;;
esac
tapehead=${TAPEHEAD:-build/tapehead}
if [ -z "${TAPEHEAD:-}" ]; then
  .ci/packages build
  .ci/build tapehead_program experiment_writes
fi
mkdir -p "$runs"

run=$runs/induction
if [ ! -f "$runs/finished" ]; then
  "$tapehead" train configs/induction.toml --set "train.steps=$steps" --set train.ring_snapshots=0 --out "$run" \
    --overwrite 2> "$run.log" || { cat "$run.log" >&2; exit 1; }
  touch "$runs/finished"
fi
"${TAPEHEAD_ROOMS:-build/experiments}/writes" "$run" "$runs/singular.csv"
experiments/writes/figure.sh "$runs"
"$tapehead" circuits "$run" > /dev/null
"$tapehead" plot "$run" --only attribution
