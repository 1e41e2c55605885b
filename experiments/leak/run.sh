#!/usr/bin/env bash
# Changes one token and sees which outputs move, with the causal mask and without, and whether order can be told:
#   experiments/leak/run.sh [--quick]
# The short form is all of it. Ends with status 1 if something moves that must not.
set -euo pipefail
cd -P "$(dirname "${BASH_SOURCE[0]}")/../.."
# shellcheck source=experiments/room.sh
source experiments/room.sh
enter leak experiment_leak "$@"
mkdir -p "$runs"

"$programs/leak" "$runs/moved.csv"
experiments/leak/figure.sh "$runs"
