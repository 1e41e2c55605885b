#!/usr/bin/env bash
# Puts sequences of unequal length into one batch, and sees that padding moves nothing:
#   experiments/padding/run.sh [--quick]
# The short form is all of it. Ends with status 1 if padding moves a bit that it must not.
set -euo pipefail
cd -P "$(dirname "${BASH_SOURCE[0]}")/../.."
# shellcheck source=experiments/room.sh
source experiments/room.sh
enter padding experiment_padding "$@"

"$programs/padding"
