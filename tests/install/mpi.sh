#!/usr/bin/env bash
# The program is built with MPI where that is asked for, and otherwise knows nothing of it.
#   tests/install/mpi.sh [CMAKE_OPTION...]
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

if ! command -v mpirun > /dev/null; then
  echo "SKIPPED: Open MPI is not installed, so nothing was configured with it (.ci/packages mpi)"
  exit 77
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# What the build would do, without doing it.
commands() {
  cmake -S . -B "$work/$1" -G Ninja -DTAPEHEAD_MPI="$1" -DTAPEHEAD_TESTS=OFF -DTAPEHEAD_EXPERIMENTS=OFF "${@:2}" > "$work/log" 2>&1 ||
    { cat "$work/log"; exit 1; }
  ninja -C "$work/$1" -t commands tapehead_program > "$work/$1.txt"
}
commands ON "$@"
commands OFF "$@"

status=0
complain() {
  echo "FAILED: $1"
  status=1
}
grep -q 'base/mpi/transport.cpp' "$work/ON.txt" || complain "with MPI, expected its transport to be compiled"
grep -q 'libmpi' "$work/ON.txt" || complain "with MPI, expected the program to be linked with it"
! grep -q 'src/base/transport.cpp' "$work/ON.txt" || complain "with MPI, expected the other transport to be left out"
grep -q 'src/base/transport.cpp' "$work/OFF.txt" || complain "without MPI, expected the transport of one process"
! grep -q -i 'openmpi\|libmpi' "$work/OFF.txt" || complain "without MPI, expected nothing of it"
exit "$status"
