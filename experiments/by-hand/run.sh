#!/usr/bin/env bash
# Works the examples that both texts work by hand, and compares every digit; ends with status 1 if one differs.
#   experiments/by-hand/run.sh [--quick]
# The short form is all of it.
set -euo pipefail
cd -P "$(dirname "${BASH_SOURCE[0]}")/../.."
# shellcheck source=experiments/room.sh
source experiments/room.sh
enter by-hand experiment_by_hand "$@"

"$programs/by_hand"
