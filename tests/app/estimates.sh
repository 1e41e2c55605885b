#!/usr/bin/env bash
# Memory and time of a training step by formula, as `tapehead inspect --ranks` prints them.
#   tests/app/estimates.sh TAPEHEAD
set -euo pipefail
# shellcheck source=tests/app/checks.sh
source "$(dirname "${BASH_SOURCE[0]}")/checks.sh"

rates=(--gflops 2 --gbytes 3 --gbits 8 --latency-us 100)

# `inspect` without ranks trains two steps and counts: the formula has to say the same.
against_a_step() {
  expect 0 inspect tiny.toml --json
  cp out step.json
  expect 0 inspect tiny.toml --ranks 1 --threads 1 --gflops 1 --json
  is_json 'd["parameter_count"] == json.load(open("step.json"))["parameter_count"]'
  is_json 'd["step"]["operations"] == json.load(open("step.json"))["step"]["operations"]'
  is_json 'd["estimates"][0]["memory_bytes"]["arrays"] == json.load(open("step.json"))["step"]["peak_bytes"]'
}

tables() {
  expect 0 inspect tiny.toml --ranks 2,1,2 --threads 3 "${rates[@]}"
  check_not "$call: expected nothing on standard error" test -s err
  prints 'tiny.toml: 896 parameters' 'computed, not run' '3 threads of 2 GFLOP/s (as given)' '3 GB/s' \
    '8 Gbit/s' '100 µs a message' 'tokens a second' 'all at the peak'
  check_not "$call: expected no masks without dropout" grep -F masks out
  check "$call: expected a column for 1 and one for 2" grep -xE 'ranks +1 +2' out
  cp out first
  expect 0 inspect tiny.toml --ranks 1,2 --threads 3 "${rates[@]}"
  same_file out first
  expect 0 inspect tiny.toml --ranks 1
  prints 'measured here'
  expect 0 inspect tiny.toml --ranks 1 --gbytes 3
  prints 'measured here' '3 GB/s'
  expect 0 inspect tiny.toml --set model.dropout=0.1 --ranks 1 --gflops 1
  prints "dropout's masks"
}

documents() {
  # Four shards, so that each of two ranks has a whole branch of their sum.
  expect 0 inspect tiny.toml --set train.batch=8 --ranks 1,2 --threads 3 "${rates[@]}" --json
  is_json 'd["computed"] and [e["ranks"] for e in d["estimates"]] == [1, 2]'
  is_json '{key: round(value, 9) for key, value in d["machine"].items()} == {"threads": 3, "gflops": 2,
    "gflops_measured": False, "memory_gbytes": 3, "network_gbits": 8, "latency_us": 100}'
  is_json '[e["sent_bytes"] for e in d["estimates"]] == [0, 896 * 4]'
  is_json 'abs(d["estimates"][1]["seconds"]["exchange"] / (896 * 4 / 1e9 + 2 * 100e-6) - 1) < 1e-9'
  is_json 'd["estimates"][0]["efficiency"] == 1 > d["estimates"][1]["efficiency"] > 0'
}

# Of a config, of a run, and of a run with other values.
with_other_values() {
  expect 0 inspect tiny.toml --set model.layers=1 --json
  is_json 'd["parameter_count"] < 896'
  expect 0 train tiny.toml --out run
  expect 0 inspect run --json
  cp out run.json
  expect 0 inspect run --set train.batch=2 --json
  is_json 'd["step"]["operations"] < json.load(open("run.json"))["step"]["operations"]'
  is_json 'd["parameter_count"] == 896'
  expect 0 inspect run --set train.batch=1000 --ranks 4 --gflops 1 --json
  is_json 'd["step"]["tokens"] == 1000 * json.load(open("run.json"))["forward"]["tokens"]'
}

# A model of 2 TB, and a text that is not there: nothing is allocated, opened or run.
too_large_to_run() {
  local large=(--set model.width=65536 --set model.heads=8 --set model.layers=32)
  (ulimit -v 1000000; "$program" inspect tiny.toml "${large[@]}" --ranks 64 --gflops 100 --json) > out 2> err ||
    fail "a model too large to run: $(head -c 500 err)"
  call='tapehead inspect of a model too large to run'
  is_json 'd["parameter_count"] > 4e11'
  expect 0 inspect tiny.toml --set task.name=text --set task.file=nowhere.txt --ranks 2 --gflops 1
}

wrong_calls() {
  local option
  for option in --threads --gflops --gbytes --gbits --latency-us; do
    refuses "${option}" 'goes with --ranks' -- inspect tiny.toml "$option" 1
    refuses "${option}" "'0'" -- inspect tiny.toml --ranks 1 "$option" 0
    refuses "${option}" "'x'" -- inspect tiny.toml --ranks 1 "$option" x
  done
  refuses --ranks "'0'" -- inspect tiny.toml --ranks 0
  refuses --ranks "'1.5'" -- inspect tiny.toml --ranks 1,1.5
  refuses --ranks "''" -- inspect tiny.toml --ranks 1,
  refuses 'at most 1000000 ranks' -- inspect tiny.toml --ranks 1000001
  refuses model.heads -- inspect tiny.toml --set model.heads=3
  refuses model.heads -- inspect tiny.toml --set model.heads=3 --ranks 2
  refuses model.hads model.heads -- inspect tiny.toml --set model.hads=2 --ranks 2
  refuses nowhere -- inspect nowhere --ranks 2
  expect 0 train tiny.toml --out run --overwrite
  refuses --set neither -- inspect run/checkpoints/step-000020.safetensors --set model.heads=1
  refuses --ranks neither -- inspect run/checkpoints/step-000020.safetensors --ranks 2
}

against_a_step
tables
documents
with_other_values
too_large_to_run
wrong_calls
finish
