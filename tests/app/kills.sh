#!/usr/bin/env bash
# A training that is killed a hundred times, wherever it happens to be, and gone on with each time, ends with the
# bytes of one that nobody disturbed.
#   tests/app/kills.sh TAPEHEAD
set -euo pipefail
# shellcheck source=tests/app/checks.sh
source "$(dirname "${BASH_SOURCE[0]}")/checks.sh"

# Saving takes as long as training here, so many kills fall into it.
settings=(--set train.steps=400 --set train.checkpoint_interval=2 --set train.evaluation_interval=3
  --set model.dropout=0.1 --set train.shard=1)
expect 0 train tiny.toml --out undisturbed "${settings[@]}"

# How long each life may last, in milliseconds: a fixed list of chance. What the program has done by then depends
# on the machine, and what comes out in the end must not.
RANDOM=7
kills=0
runs=1
begin() { "$program" train tiny.toml --out killed "${settings[@]}" > /dev/null 2>> log & }
go_on() { "$program" train --resume killed --threads "$((1 + RANDOM % 3))" > /dev/null 2>> log & }

compare() {
  same_metrics undisturbed killed
  same_file undisturbed/heads.csv killed/heads.csv
  same_file undisturbed/config.toml killed/config.toml
  same_file undisturbed/checkpoints/step-000400.safetensors killed/checkpoints/step-000400.safetensors
  local left
  left=$(find killed -name '*.tmp-*')
  check "a run that went on: expected no half-written file, got $left" test -z "$left"
}

while [ "$kills" -lt 100 ]; do
  if [ -f killed/config.toml ]; then go_on; else begin; fi
  running=$!
  sleep "0.0$(printf '%02d' "$((RANDOM % 60))")"
  kill -KILL "$running" 2> /dev/null || true
  status=0
  wait "$running" 2> /dev/null || status=$?
  running=
  # It ended by itself: done, or with an error that must not be.
  if [ "$status" -ne 137 ] && [ "$status" -ne 0 ]; then
    fail "life after $kills kills: expected to be killed or done, got status $status: $(tail -n 3 log)"
    break
  fi
  [ "$status" -eq 0 ] || kills=$((kills + 1))
  if [ -f killed/checkpoints/step-000400.safetensors ] && [ "$kills" -lt 100 ]; then
    expect 0 train --resume killed
    compare
    runs=$((runs + 1))
    rm -rf killed
  fi
done

# Killed a hundred times, the last of them is still a run that can be looked at and gone on with.
if [ -f killed/config.toml ]; then expect 0 train --resume killed; else expect 0 train tiny.toml --out killed "${settings[@]}"; fi
compare
expect 0 eval killed
echo "$kills kills in $runs runs"
finish
