#!/usr/bin/env bash
# Works the examples that both texts work by hand, and compares every digit; ends with status 1 if one differs.
#   experiments/by-hand/run.sh [--quick]
# Less than a second, once it is built; the short form is all of it. TAPEHEAD_ROOMS names a folder with the program
# of this room other than the one it builds.
set -euo pipefail
cd -P "$(dirname "${BASH_SOURCE[0]}")/../.."

if [ $# -gt 1 ] || [ "${1:---quick}" != --quick ]; then
  echo "usage: experiments/by-hand/run.sh [--quick]" >&2
  exit 2
fi
if [ -z "${TAPEHEAD_ROOMS:-}" ]; then
  .ci/packages build
  .ci/build experiment_by_hand
fi
"${TAPEHEAD_ROOMS:-build/experiments}/by_hand"
