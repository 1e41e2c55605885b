#!/usr/bin/env bash
# Installs what is missing, builds everything and runs every test:
#   tests/run.sh [CTEST_OPTION...]      e.g. tests/run.sh -R "softmax"
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

.ci/packages build tests
# Without a browser all else can still be tested, and the tests that need it say that they were left out.
{ .ci/packages browser && tests/browser/install.sh; } || [ "${TAPEHEAD_BROWSER:-}" != required ] || exit 1
# The same goes for MPI.
.ci/packages mpi || [ "${TAPEHEAD_MPI:-}" != required ] || exit 1
.ci/build

status=0
ctest --preset release --parallel 2 --no-tests=error "$@" || status=$?

# A test that cannot run here says why in a line of its own.
if reasons=$(grep '^SKIPPED: ' build/Testing/Temporary/LastTest.log | sort --unique); then
  printf '\n%s\n' "$reasons"
fi
exit "$status"
