#!/usr/bin/env bash
# Trains the copy model of another project as it did, two seeds and the one-layer twin, takes out heads, and lays
# the curves over theirs.
#   experiments/reference-copy/run.sh [--quick]
# Half an hour a two-layer run on two quiet cores. A finished run is used as it is, a stopped one is gone on with.
# Their logs are read from the folder reference-curves in $TAPEHEAD_REFERENCE_DATA; without it the comparison is
# left out. --quick has 20 steps of 32 sequences, and draws into the folder of its runs; it ends with status 1 if the
# floors are not those of the task. TAPEHEAD names a program other than the one it builds, TAPEHEAD_RUNS a folder for the
# runs other than runs/.
set -euo pipefail
cd -P "$(dirname "${BASH_SOURCE[0]}")/../.."

here=experiments/reference-copy
runs=${TAPEHEAD_RUNS:-runs} figures=$here/figures steps=6000 settings=() quick=
case "$*" in
  "") ;;
  --quick)
    runs=$runs/reference-copy-quick figures=$runs/figures steps=20 quick=yes
    settings=(--set "train.steps=$steps" --set train.batch=32 --set train.evaluation_interval=5
              --set train.evaluation_sequences=64)
    ;;
  *)
    echo "usage: experiments/reference-copy/run.sh [--quick]" >&2
    exit 2
    ;;
esac
tapehead=${TAPEHEAD:-build/tapehead}
if [ -z "${TAPEHEAD:-}" ]; then
  .ci/packages build curves
  .ci/build tapehead_program
fi
if ! command -v python3 > /dev/null; then
  echo "SKIPPED: python3 is not installed (apt-get install python3)"
  exit 77
fi

# train RUN CONFIG OPTION...
train() {
  local run=$1 config=$2
  shift 2
  if [ ! -e "$run/config.toml" ]; then
    "$tapehead" train "$config" --out "$run" "${settings[@]}" "$@"
  elif [ ! -e "$(printf '%s/checkpoints/step-%06d.safetensors' "$run" "$steps")" ]; then
    "$tapehead" train --resume "$run"
  fi
}

train "$runs/reference-copy" configs/reference-copy.toml
train "$runs/reference-copy-seed-2" configs/reference-copy.toml --set train.initialisation_seed=2 --set train.data_seed=2
train "$runs/reference-copy-one-layer" configs/reference-copy-one-layer.toml

for run in "$runs/reference-copy" "$runs/reference-copy-seed-2"; do
  "$tapehead" heads "$run"
  "$tapehead" ablate "$run"
  # All but the best previous-token head and the best induction head, together.
  mapfile -t others < <("$here/compare.py" others "$run")
  "$tapehead" ablate "$run" "${others[@]}"
done
"$tapehead" eval "$runs/reference-copy"

curves=${TAPEHEAD_REFERENCE_DATA:-}/reference-curves
if [ ! -d "$curves" ]; then
  echo "TAPEHEAD_REFERENCE_DATA names no folder with reference-curves in it: the comparison is left out" >&2
  curves=
fi
"$here/compare.py" table "$runs" "$curves"
"$here/compare.py" figure "$runs" "$curves" "$figures/curves.svg"

# Of this task, the chance is known exactly, and who sees more loses less.
if [ -n "$quick" ]; then
  awk -F, '
    NR == 1 { for (i = 1; i <= NF; ++i) at[$i] = i; next }
    { loss[$1] = $at["loss_induction"] }
    END {
      if (loss["chance"] - log(64) > 1e-4 || log(64) - loss["chance"] > 1e-4 || loss["current token"] >= loss["chance"] ||
          loss["last two"] >= loss["current token"] || loss["Bayes"] > loss["last two"]) {
        print "the floors are not as expected" > "/dev/stderr"
        exit 1
      }
    }' "$runs/reference-copy/floors.csv"
fi
