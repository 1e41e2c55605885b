#!/usr/bin/env bash
# Changes one token and sees which outputs move, with the causal mask and without, and whether order can be told:
#   experiments/leak/run.sh [--quick]
# Less than a second, once it is built; the short form is all of it. Ends with status 1 if something moves that must
# not. TAPEHEAD_ROOMS names a folder with the program of this room other than the one it builds, TAPEHEAD_RUNS a folder
# for what it writes other than runs/.
set -euo pipefail
cd -P "$(dirname "${BASH_SOURCE[0]}")/../.."

runs=${TAPEHEAD_RUNS:-runs}/leak
case "$*" in
  "") ;;
  --quick) runs=$runs-quick ;;
  *)
    echo "usage: experiments/leak/run.sh [--quick]" >&2
    exit 2
    ;;
esac
if [ -z "${TAPEHEAD_ROOMS:-}" ]; then
  .ci/packages build
  .ci/build experiment_leak
fi
mkdir -p "$runs"

"${TAPEHEAD_ROOMS:-build/experiments}/leak" "$runs/moved.csv"
experiments/leak/figure.sh "$runs"
