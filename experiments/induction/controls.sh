#!/usr/bin/env bash
# The controls: one layer on the same data, and one layer on data that can be copied by position alone.
#   experiments/induction/controls.sh [--quick]
# A run that is there already is used as it is. Needs build/tapehead, which experiments/induction/run.sh makes, or the
# program that TAPEHEAD names. --quick has 300 steps, in runs of their own. TAPEHEAD_RUNS names a folder for the runs
# other than runs/.
set -euo pipefail
cd -P "$(dirname "${BASH_SOURCE[0]}")/../.."

tapehead=${TAPEHEAD:-build/tapehead} runs=${TAPEHEAD_RUNS:-runs} steps=2000 ending=
case "$*" in
  "") ;;
  --quick) steps=300 ending=-quick ;;
  *)
    echo "usage: experiments/induction/controls.sh [--quick]" >&2
    exit 2
    ;;
esac

for twin in induction-one-layer fixed-period-one-layer; do
  run=$runs/$twin$ending
  if [ ! -e "$run" ]; then
    "$tapehead" train "configs/$twin.toml" --out "$run" --set "train.steps=$steps"
  elif [ ! -e "$(printf '%s/checkpoints/step-%06d.safetensors' "$run" "$steps")" ]; then
    "$tapehead" train --resume "$run"
  fi
  echo
  "$tapehead" eval "$run" --periods 6,10,11,12,13,14,24
done
