#!/usr/bin/env bash
# What the scripts beside this one share: a scratch folder to run the program in, and checks that name what
# fails and go on. To be sourced, with the program's path; `finish` is a script's last line.
set -euo pipefail
if [ $# -lt 1 ]; then
  echo "usage: $0 TAPEHEAD" >&2
  exit 2
fi
program=$(realpath "$1")
scratch=$(mktemp -d)
running=
trap '[ -z "$running" ] || kill -KILL "$running"; rm -rf "$scratch"' EXIT
cd "$scratch"

failures=0
skipped=
fail() {
  failures=$((failures + 1))
  printf 'FAILED: %s\n' "$1"
}

check() { "${@:2}" > /dev/null 2>&1 || fail "$1"; }
check_not() { ! "${@:2}" > /dev/null 2>&1 || fail "$1"; }

# Runs the program and keeps what it prints in the files out and err.
expect() {
  local wanted=$1 status=0
  shift
  call="tapehead $*"
  "$program" "$@" > out 2> err || status=$?
  [ "$status" -eq "$wanted" ] || fail "$call: expected status $wanted, got $status: $(head -c 500 err)"
}
# Of the last call: every text stands on standard output, or on standard error.
prints() {
  for text in "$@"; do check "$call: expected '$text' on standard output" grep -F -e "$text" out; done
}
says() {
  for text in "$@"; do
    check "$call: expected '$text' on standard error, got: $(head -c 500 err)" grep -F -e "$text" err
  done
}
# A wrong call: status 2, nothing on standard output, these words on standard error.
refuses() {
  local words=()
  while [ "$1" != -- ]; do words+=("$1"); shift; done
  shift
  expect 2 "$@"
  check_not "$call: expected nothing on standard output" test -s out
  says error "${words[@]}"
}
# A run's metrics but for the one column that a clock writes.
metrics() { cut -d , -f 1-8 "$1/metrics.csv"; }
same_metrics() {
  check "$1 and $2: expected the same metrics.csv but for the seconds" cmp <(metrics "$1") <(metrics "$2")
}
same_file() { check "$1 and $2: expected the same bytes" cmp "$1" "$2"; }

# Standard output is one JSON document without NaN, of which the Python expression about d holds.
python=$(command -v python3 || true)
is_json() {
  [ -n "$python" ] || return 0
  "$python" -c '
import json, sys
def refuse(word): raise ValueError(word)
with open("out") as file: d = json.loads(file.read(), parse_constant=refuse)
assert eval(sys.argv[1]), d' "$1" 2> problem || fail "$call: expected one JSON document with $1: $(tail -n 1 problem)"
}

cat > tiny.toml <<'TOML'
[model]
vocabulary = 16
context = 16
width = 8
[task]
length = 16
period_min = 3
period_max = 6
[train]
steps = 20
batch = 5
shard = 2
evaluation_interval = 5
evaluation_sequences = 8
checkpoint_interval = 8
TOML

finish() {
  if [ "$failures" -gt 0 ]; then exit 1; fi
  if [ -n "$skipped" ]; then exit 77; fi
  if [ -z "$python" ]; then
    echo "SKIPPED: python3 is not installed, so no JSON was read; all other checks passed (apt-get install python3)"
    exit 77
  fi
}
