#!/usr/bin/env bash
# What the scripts share that start several processes, beside checks.sh. To be sourced, with the program's path and that
# of the one with MPI, or `none`.
set -euo pipefail
program_with_mpi=${2:-none}
[ "$program_with_mpi" = none ] || program_with_mpi=$(realpath "$program_with_mpi")
# shellcheck source=tests/app/checks.sh
source "$(dirname "${BASH_SOURCE[0]}")/checks.sh"

if [ "$program_with_mpi" = none ] || ! command -v mpirun > /dev/null; then
  echo "SKIPPED: Open MPI is not installed, so nothing was trained on several processes (.ci/packages mpi)"
  exit 77
fi
# Continuous integration is root.
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
launch=(mpirun)

# As `expect`, for what mpirun starts.
expect_of_mpirun() {
  local wanted=$1 status=0
  shift
  call="mpirun $*"
  "${launch[@]}" "$@" > out 2> err < /dev/null || status=$?
  [ "$status" -eq "$wanted" ] || fail "$call: expected status $wanted, got $status: $(head -c 1000 err)"
}
# The program as so many ranks.
joint() {
  local wanted=$1 count=$2
  shift 2
  expect_of_mpirun "$wanted" -n "$count" "$program_with_mpi" "$@"
}
# Two runs, one of which was perhaps stopped on the way, have the same tables and the same last checkpoint.
same_run() {
  same_metrics "$1" "$2"
  for file in config.toml heads.csv floors.csv "checkpoints/step-$3.safetensors"; do same_file "$1/$file" "$2/$file"; done
}
