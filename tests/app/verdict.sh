#!/usr/bin/env bash
# The verdict on models whose mechanism is known, each trained here in a moment.
#   tests/app/verdict.sh TAPEHEAD
set -euo pipefail
configs=$(realpath "$(dirname "${BASH_SOURCE[0]}")/../../configs")
# shellcheck source=tests/app/checks.sh
source "$(dirname "${BASH_SOURCE[0]}")/checks.sh"

train() {
  expect 0 train "$configs/induction.toml" --out "$1" --set train.steps=700 --set train.evaluation_interval=700 \
    --set train.evaluation_sequences=64 --set train.ring_snapshots=0 "${@:2}"
}
# The run's verdict, whatever comes after the run's name.
verdict() {
  expect 0 verdict "${@:2}"
  prints ": $1"
  check "$call: expected the same verdict in verdict.csv" grep -q -e ",$1," "$2/verdict.csv"
}

train induction
verdict induction induction
says 'training the one-layer twin, into induction/one-layer-twin'
prints 'accuracy of its one-layer twin at periods neither ever saw' 'must be' 'which it never saw'
cp induction/verdict.csv kept
expect 0 verdict induction --json --threads 1
is_json 'd["verdict"] == "induction" and all(e["holds"] for e in d["evidence"])'
check_not "a twin that is there: expected it not to be trained again" grep -q training err
same_file induction/verdict.csv kept
# How many sequences it is probed with does not change what its own task is judged on.
verdict induction induction --sequences 16
same_line() { cmp <(grep "^$1" "$2" | cut -d , -f 2) <(grep "^$1" "$3" | cut -d , -f 2); }
check "--sequences: expected the same loss on its own task" same_line learnt induction/verdict.csv kept
verdict none induction --step 0
verdict induction induction --no-twin
prints 'no one-layer twin to compare with' 'not measured' 'was not checked'

# A twin that was stopped is gone on with, one of another config refused.
rm induction/one-layer-twin/checkpoints/step-000700.safetensors
verdict induction induction
same_file induction/verdict.csv kept
sed -i 's/^batch = 16/batch = 15/' induction/one-layer-twin/config.toml
refuses 'train.batch, which is 15 there and 16 here' "not this run's twin: move it away" -- verdict induction
same_file induction/verdict.csv kept

fixed=(--set task.name=fixed_period_sequence)
train fixed "${fixed[@]}"
verdict positional fixed
prints 'as one layer can'
train fixed-one-layer "${fixed[@]}" --set model.layers=1
verdict positional fixed-one-layer
says 'no one-layer twin'
train one-layer --set model.layers=1
verdict other one-layer

# Another task: a text that hardly repeats.
for i in $(seq 1 400); do echo "line $i has the square $((i * i)) and the cube $((i * i * i))"; done > text.txt
train text --set task.name=text --set task.file=text.txt --set train.learning_rate=3e-3
verdict other text

refuses "is not a run" -- verdict nowhere
finish
