#!/usr/bin/env bash
# What dividing scores by the square root of the head's width is for, in numbers and a figure:
#   experiments/scaling/run.sh [--quick]
# Some three minutes on two cores, once it is built, of which trainings take all but a few seconds; --quick has fewer random
# rows and one short training of each kind. Ends with status 1 if a number is not what it should
# be. TAPEHEAD_ROOMS names a folder with the program of this room other than the one it builds, TAPEHEAD_RUNS a folder for
# what it writes other than runs/.
set -euo pipefail
cd -P "$(dirname "${BASH_SOURCE[0]}")/../.."

runs=${TAPEHEAD_RUNS:-runs}/scaling pairs=100000 rows=5000
case "$*" in
  "") ;;
  --quick)
    runs=$runs-quick pairs=10000 rows=1000
    ;;
  *)
    echo "usage: experiments/scaling/run.sh [--quick]" >&2
    exit 2
    ;;
esac
if [ -z "${TAPEHEAD_ROOMS:-}" ]; then
  .ci/packages build
  .ci/build experiment_scaling
fi
mkdir -p "$runs"

# Random vectors: how far dot products spread, and what the softmax makes of them.
"${TAPEHEAD_ROOMS:-build/experiments}/scaling" "$pairs" "$rows" "$runs/rows.csv"
experiments/scaling/figure.sh "$runs"

# What that does to a training.
experiments/scaling/train.sh "$@"
