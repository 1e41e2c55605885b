#!/usr/bin/env bash
# Runs an experiment in its short form, with the programs that were built, into a folder that is gone afterwards:
#   tests/experiments/quick.sh ROOM PROGRAM FOLDER_OF_ROOM_PROGRAMS
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

room=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

before=$(find experiments configs data -type f -printf '%p %s %T@\n' | sort)
status=0
TAPEHEAD=$2 TAPEHEAD_ROOMS=$3 TAPEHEAD_RUNS=$work "experiments/$room/run.sh" --quick > "$work/log" 2>&1 || status=$?
if [ "$status" -ne 0 ]; then
  cat "$work/log"
  [ "$status" -eq 77 ] || echo "experiments/$room/run.sh --quick ended with status $status" >&2
  exit "$status"
fi
after=$(find experiments configs data -type f -printf '%p %s %T@\n' | sort)
if [ "$before" != "$after" ]; then
  diff <(echo "$before") <(echo "$after") >&2 || true
  echo "experiments/$room/run.sh --quick changed files of the tree" >&2
  exit 1
fi
