#!/usr/bin/env bash
# Puts sequences of unequal length into one batch, and sees that padding moves nothing:
#   experiments/padding/run.sh [--quick]
# Less than a second, once it is built; the short form is all of it. Ends with status 1 if padding moves a bit that it
# must not. TAPEHEAD_ROOMS names a folder with the program of this room other than the one it builds.
set -euo pipefail
cd -P "$(dirname "${BASH_SOURCE[0]}")/../.."

if [ $# -gt 1 ] || [ "${1:---quick}" != --quick ]; then
  echo "usage: experiments/padding/run.sh [--quick]" >&2
  exit 2
fi
if [ -z "${TAPEHEAD_ROOMS:-}" ]; then
  .ci/packages build
  .ci/build experiment_padding
fi
"${TAPEHEAD_ROOMS:-build/experiments}/padding"
