#!/usr/bin/env bash
# Trains the copy model of another project as it did, two seeds and the one-layer twin, takes out heads, and lays
# the curves over theirs.
#   experiments/reference-copy/run.sh
# Half an hour a two-layer run on two quiet cores. A finished run is used as it is, a stopped one is gone on with.
# Their logs are read from the folder reference-curves in $TAPEHEAD_REFERENCE_DATA; without it the comparison is
# left out.
set -euo pipefail
cd -P "$(dirname "${BASH_SOURCE[0]}")/../.."

here=experiments/reference-copy
.ci/packages build curves
.ci/build tapehead_program

# train RUN CONFIG OPTION...
train() {
  local run=$1 config=$2
  shift 2
  if [ ! -e "$run/config.toml" ]; then
    build/tapehead train "$config" --out "$run" "$@"
  elif [ ! -e "$run/checkpoints/step-006000.safetensors" ]; then
    build/tapehead train --resume "$run"
  fi
}

train runs/reference-copy configs/reference-copy.toml
train runs/reference-copy-seed-2 configs/reference-copy.toml --set train.initialisation_seed=2 --set train.data_seed=2
train runs/reference-copy-one-layer configs/reference-copy-one-layer.toml

for run in runs/reference-copy runs/reference-copy-seed-2; do
  build/tapehead heads "$run"
  build/tapehead ablate "$run"
  # All but the best previous-token head and the best induction head, together.
  mapfile -t others < <("$here/compare.py" others "$run")
  build/tapehead ablate "$run" "${others[@]}"
done
build/tapehead eval runs/reference-copy

curves=${TAPEHEAD_REFERENCE_DATA:-}/reference-curves
if [ ! -d "$curves" ]; then
  echo "TAPEHEAD_REFERENCE_DATA names no folder with reference-curves in it: the comparison is left out" >&2
  curves=
fi
"$here/compare.py" table "$curves"
"$here/compare.py" figure "$curves" "$here/figures/curves.svg"
