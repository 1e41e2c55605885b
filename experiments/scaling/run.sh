#!/usr/bin/env bash
# What dividing scores by the square root of the head's width is for, in numbers and a figure:
#   experiments/scaling/run.sh [--quick]
# --quick has fewer random rows and one short training of each kind. Ends with status 1 if a number is not what it
# should be.
set -euo pipefail
cd -P "$(dirname "${BASH_SOURCE[0]}")/../.."
# shellcheck source=experiments/room.sh
source experiments/room.sh
enter scaling experiment_scaling "$@"

pairs=100000 rows=5000
[ -z "$quick" ] || pairs=10000 rows=1000
mkdir -p "$runs"

# Random vectors: how far dot products spread, and what the softmax makes of them.
"$programs/scaling" "$pairs" "$rows" "$runs/rows.csv"
experiments/scaling/figure.sh "$runs"

# What that does to a training.
experiments/scaling/train.sh "$@"
