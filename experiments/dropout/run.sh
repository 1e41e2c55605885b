#!/usr/bin/env bash
# What dropout does to a row of weights, and to the step at which induction forms:
#   experiments/dropout/run.sh [--quick] [SEEDS]     default: 7 seeds
# Some four minutes on two cores, once it is built; --quick has one seed and 350 steps. Runs that are there already are
# kept. Ends with status 1 if the row is not what it should be. TAPEHEAD names a program other than the one it builds,
# TAPEHEAD_ROOMS a folder with this room's program, TAPEHEAD_RUNS a folder for the runs other than runs/.
set -euo pipefail
cd -P "$(dirname "${BASH_SOURCE[0]}")/../.."

runs=${TAPEHEAD_RUNS:-runs}/dropout steps=2000 seeds=7 rows=100000
if [ "${1:-}" = --quick ]; then
  runs=$runs-quick steps=350 seeds=1 rows=10000
  shift
fi
if [ $# -gt 1 ] || ! [[ ${1:-1} =~ ^[1-9][0-9]*$ ]]; then
  echo "usage: experiments/dropout/run.sh [--quick] [SEEDS]" >&2
  exit 2
fi
seeds=${1:-$seeds}
tapehead=${TAPEHEAD:-build/tapehead}
if [ -z "${TAPEHEAD:-}" ]; then
  .ci/packages build
  .ci/build tapehead_program experiment_dropout
fi
mkdir -p "$runs"

"${TAPEHEAD_ROOMS:-build/experiments}/dropout" "$rows"

sweeps=()
for p in 0 0.05 0.1 0.2 0.5; do
  sweeps+=("$runs/p-$p")
  "$tapehead" sweep configs/induction.toml --set "model.dropout=$p" --set train.ring_snapshots=0 \
    --set "train.steps=$steps" --seeds "$seeds" --out "${sweeps[-1]}" > "${sweeps[-1]}.log"
done
echo
experiments/sweeps.sh "${sweeps[@]}"
"$tapehead" plot "${sweeps[@]}"
