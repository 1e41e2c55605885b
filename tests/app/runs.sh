#!/usr/bin/env bash
# Training from the command line: what is written, what is left alone, and how a stopped run goes on.
#   tests/app/runs.sh TAPEHEAD
set -euo pipefail
configs=$(realpath "$(dirname "${BASH_SOURCE[0]}")/../../configs")
# shellcheck source=tests/app/checks.sh
source "$(dirname "${BASH_SOURCE[0]}")/checks.sh"

names_in() { (cd "$1" && echo *); }

a_run() {
  expect 0 train tiny.toml --out run --threads 1
  check_not "train: expected nothing on standard output" test -s out
  says '20 steps' 'done: ' 'tapehead ablate run'
  check "metrics.csv: wrong columns" test "$(head -n 1 run/metrics.csv)" = \
    step,tokens,loss,loss_induction,loss_noise,accuracy_induction,learning_rate,gradient_norm,seconds
  check "metrics.csv: wrong steps" test "$(tail -n +2 run/metrics.csv | cut -d , -f 1 | xargs)" = "0 5 10 15 20"
  check "metrics.csv: wrong tokens" test "$(tail -n +2 run/metrics.csv | cut -d , -f 2 | xargs)" = \
    "0 400 800 1200 1600"
  check "floors.csv: wrong rows" test "$(cut -d , -f 1,6 run/floors.csv | xargs -d '\n')" = \
    "predictor,sequences chance,8 current token,8 last two,8 Bayes,8"
  check "heads.csv: wrong columns" grep -qE '^step,layer,head,previous_token,.*,induction(,|$)' <(head -n 1 run/heads.csv)
  check "heads.csv: wrong rows" test "$(tail -n +2 run/heads.csv | cut -d , -f 1-3 | xargs)" = \
    "$(for step in 0 5 10 15 20; do echo "$step,0,0 $step,0,1 $step,1,0 $step,1,1"; done | xargs)"
  check "checkpoints/: wrong files" test "$(names_in run/checkpoints)" = \
    "step-000000.safetensors step-000008.safetensors step-000016.safetensors step-000020.safetensors"

  # The same again, on two threads, and from the resolved config that the run wrote.
  expect 0 train tiny.toml --out again --threads 1
  expect 0 train tiny.toml --out two --threads 2
  expect 0 train run/config.toml --out resolved
  local other
  for other in again two resolved; do
    same_metrics run "$other"
    same_file run/heads.csv "$other/heads.csv"
    same_file run/config.toml "$other/config.toml"
    same_file run/checkpoints/step-000020.safetensors "$other/checkpoints/step-000020.safetensors"
  done
  expect 0 train tiny.toml --out other --set train.data_seed=2
  check_not "another seed: expected other metrics" cmp <(metrics run) <(metrics other)
  expect 0 train tiny.toml
  check "train without --out: expected runs/tiny" test -f runs/tiny/metrics.csv
}

existing_directories() {
  cp -r run kept
  refuses 'holds a run already' --overwrite -- train tiny.toml --out run
  check "a refused run: expected the old one as it was" diff -r run kept
  echo mine > kept/notes.txt
  touch kept/ablation.csv
  expect 0 train tiny.toml --out kept --overwrite --set train.steps=3
  check "--overwrite: expected the files of others to stay" grep -x mine kept/notes.txt
  check "--overwrite: expected no file of the old run" test "$(names_in kept) $(names_in kept/checkpoints)" = \
    "checkpoints config.toml floors.csv heads.csv metrics.csv notes.txt step-000000.safetensors step-000003.safetensors"
  mkdir papers programs empty
  echo mine > papers/letter
  echo mine > programs/config.toml
  echo mine > file
  local place
  for place in papers programs file; do
    refuses 'is not a run' -- train tiny.toml --out "$place"
    refuses 'is not a run' -- train tiny.toml --out "$place" --overwrite
  done
  check "what is not a run: expected it as it was" grep -qx mine papers/letter programs/config.toml file
  check "what is not a run: expected nothing beside it" test "$(names_in papers) $(names_in programs)" = \
    "letter config.toml"
  expect 0 train tiny.toml --out empty
  expect 1 train tiny.toml --out file/run
}

a_run_that_died() {
  cp -r run died
  rm died/checkpoints/step-000020.safetensors
  expect 0 train --resume died --threads 2
  says 'at step 16'
  same_metrics run died
  same_file run/heads.csv died/heads.csv
  same_file run/checkpoints/step-000020.safetensors died/checkpoints/step-000020.safetensors
  expect 0 train --resume died
  same_metrics run died
}

# Starts the program, waits until stopped/metrics.csv has that many lines, and sends it one signal.
interrupt() {
  local signal=$1 lines=$2 status=0
  shift 2
  call="tapehead $* and SIG$signal"
  "$program" "$@" > out 2> err &
  running=$!
  until [ -f stopped/metrics.csv ] && [ "$(wc -l < stopped/metrics.csv)" -ge "$lines" ]; do
    if ! kill -0 "$running" 2> /dev/null; then break; fi
    sleep 0.02
  done
  kill "-$signal" "$running" || fail "$call: the run ended before it was stopped: $(head -c 500 err)"
  wait "$running" || status=$?
  running=
  [ "$status" -eq 1 ] || fail "$call: expected status 1, got $status: $(head -c 500 err)"
  stopped_after=$(sed -n 's/.*stopped after step \([0-9]*\).*/\1/p' err)
  says 'go on with: tapehead train --resume stopped'
  local saved
  saved=$(printf 'stopped/checkpoints/step-%06d.safetensors' "$stopped_after")
  check "$call: expected $saved" test -s "$saved"
}

a_broken_model() {
  expect 0 train tiny.toml --out broken --set train.steps=2
  # The last numbers of the file become NaN.
  local file=broken/checkpoints/step-000002.safetensors
  printf '\377\377\377\177' | dd of="$file" bs=1 seek=$(($(stat -c %s "$file") - 4)) conv=notrunc status=none
  for command in eval heads ablate; do
    expect 1 "$command" broken
    says 'is damaged'
  done
  check_not "$call: expected no table of a broken model" test -e broken/ablation.csv
}

what_a_resume_needs() {
  refuses "expected a folder, got ''" -- train tiny.toml --out ''
  expect 0 train tiny.toml --out whole
  expect 0 train --resume whole
  says 'whole is finished already'

  # Killed before its first checkpoint, a run begins again.
  expect 0 train tiny.toml --out barely
  rm barely/checkpoints/*
  expect 0 train --resume barely
  same_metrics whole barely
  same_file whole/heads.csv barely/heads.csv

  # What was changed or lost is named, and nothing is trained on top of it.
  rm whole/checkpoints/step-000020.safetensors
  sed -i 's/^weight_decay = .*/weight_decay = 0.5/' whole/config.toml
  refuses 'train.weight_decay is 0.5 in the one' -- train --resume whole
  rm barely/checkpoints/step-000020.safetensors
  sed -i '3,5 d' barely/metrics.csv
  cp barely/metrics.csv before
  expect 1 train --resume barely
  says 'are missing or out of order'
  same_file before barely/metrics.csv
}

# The run in a folder, however it ended there, goes on to what a whole one comes to.
goes_on() {
  expect 0 train --resume "$1"
  same_metrics run "$1"
  same_file run/heads.csv "$1/heads.csv"
  same_file run/checkpoints/step-000020.safetensors "$1/checkpoints/step-000020.safetensors"
}

# Calls the program where no file may grow beyond so many KiB: what a full disk is to it, without being root.
with_at_most() {
  local kibibytes=$1 wanted=$2
  shift 2
  call="tapehead $* with files of at most $kibibytes KiB"
  local status=0
  (trap '' XFSZ && ulimit -f "$kibibytes" && exec "$program" "$@") > out 2> err || status=$?
  [ "$status" -eq "$wanted" ] || fail "$call: expected status $wanted, got $status: $(head -c 500 err)"
}

a_full_disk() {
  with_at_most 6 1 train tiny.toml --out full
  says 'cannot write full/checkpoints/step-000000.safetensors' 'File too large'
  check "a full disk: expected no half-written file" test "$(names_in full/checkpoints)" = '*'
  goes_on full

  # Room for the first checkpoint, which has no averages yet, and not for the next.
  local kibibytes=$((($(stat -c %s run/checkpoints/step-000000.safetensors) + 1023) / 1024))
  rm -r full
  with_at_most "$kibibytes" 1 train tiny.toml --out full
  says 'cannot write full/checkpoints/step-000008.safetensors'
  expect 0 eval full
  goes_on full

  # A disk of which nothing is left in the middle of a table's row.
  if ! unshare -rm true 2> /dev/null; then
    echo "SKIPPED: no file system can be mounted here, so none was filled to the last byte; all other checks passed"
    skipped=yes
    return
  fi
  cat > on_small_disk <<'SH'
#!/bin/sh
mount -t tmpfs -o "size=$1k" none disk
shift
"$@" > out 2> err
cp -a disk/full .
SH
  chmod +x on_small_disk
  local size
  for size in 44 48 52 56 60 64 68 72; do
    rm -rf full disk && mkdir disk
    unshare -rm ./on_small_disk "$size" "$program" train tiny.toml --out disk/full --set train.evaluation_interval=1
    check "a disk of $size KiB: expected it to be full: $(head -c 300 err)" grep -q 'No space left on device' err
    expect 0 train --resume full
    expect 0 train tiny.toml --out whole-disk --overwrite --set train.evaluation_interval=1
    same_metrics whole-disk full
    same_file whole-disk/heads.csv full/heads.csv
  done
  rm -r whole-disk
}

a_read_only_directory() {
  chmod 755 .
  cp "$program" ./tapehead
  expect 0 train tiny.toml --out locked --set train.steps=8
  chmod -R a+rX,a-w locked
  mkdir -m 555 closed
  local as_user=()
  [ "$(id -u)" -ne 0 ] || as_user=(setpriv --reuid=65534 --regid=65534 --clear-groups)
  local status=0
  "${as_user[@]}" ./tapehead train --resume locked > out 2> err || status=$?
  call='tapehead train --resume, of a run that may not be written'
  [ "$status" -eq 1 ] || fail "$call: expected status 1, got $status: $(head -c 500 err)"
  says 'Permission denied' 'locked'
  status=0
  "${as_user[@]}" ./tapehead train tiny.toml --out closed/run > out 2> err || status=$?
  call='tapehead train into a folder that may not be written'
  [ "$status" -eq 1 ] || fail "$call: expected status 1, got $status: $(head -c 500 err)"
  says 'Permission denied' 'closed/run'
  # Looking does not need to write.
  "${as_user[@]}" ./tapehead eval locked > out 2> err || fail "eval of a run that may not be written: $(cat err)"
  chmod -R u+w locked closed
}

two_programs() {
  "$program" train tiny.toml --out stopped --set train.steps=10000000 > /dev/null 2> first &
  running=$!
  until [ -f stopped/metrics.csv ] || ! kill -0 "$running" 2> /dev/null; do sleep 0.02; done
  refuses "process $running is writing into stopped" -- train --resume stopped
  refuses "process $running is writing into stopped" -- train tiny.toml --out stopped --overwrite
  refuses 'holds a run already' -- train tiny.toml --out stopped
  expect 0 eval stopped --sequences 4
  kill -KILL "$running"
  wait "$running" 2> /dev/null || true
  running=
  expect 0 train tiny.toml --out stopped --overwrite
  same_metrics run stopped
  rm -r stopped
}

a_damaged_checkpoint() {
  expect 0 train tiny.toml --out damaged
  local last=damaged/checkpoints/step-000020.safetensors
  truncate -s -7 "$last"
  expect 1 train --resume damaged
  says "$last" 'with it moved away, the run goes on from step 16'
  check "$call: expected the tables as they were" cmp <(metrics run) <(metrics damaged)
  rm "$last"
  goes_on damaged
  rm damaged/checkpoints/step-000020.safetensors damaged/heads.csv
  expect 1 train --resume damaged
  says 'damaged/heads.csv is missing'
}

a_run_that_diverges() {
  local settings=(--set train.optimizer=sgd --set train.clip=0 --set train.checkpoint_interval=1)
  expect 1 train tiny.toml --out diverged "${settings[@]}" --set train.learning_rate=1e30
  says 'not finite at step' 'shard' 'a smaller learning rate may help'
  expect 0 eval diverged
}

# Far more steps than there is time for; how many are done when the signal comes does not matter.
an_interrupted_run() {
  local often=(--set train.evaluation_interval=50 --set model.dropout=0.1)
  interrupt INT 4 train tiny.toml --out stopped "${often[@]}" --set train.steps=10000000
  expect 0 eval stopped --step "$stopped_after"
  interrupt TERM $(($(wc -l < stopped/metrics.csv) + 3)) train --resume stopped
  says "going on with stopped at step"
  local last
  last=$(tail -n 1 stopped/metrics.csv | cut -d , -f 1)
  expect 0 train tiny.toml --out undisturbed "${often[@]}" --set "train.steps=$last"
  same_metrics stopped undisturbed
  same_file stopped/heads.csv undisturbed/heads.csv
}

models_and_names() {
  local setting
  for setting in model.layers=1 model.layers=3 model.feed_forward=12 model.gelu=erf \
    model.norm=layer model.dropout=0.2 model.tied=true model.bias=true model.qkv_bias=true \
    model.positions=sinusoidal model.positions=none model.initialisation=gpt2 \
    train.optimizer=adam train.optimizer=sgd train.schedule=cosine; do
    expect 0 train tiny.toml --out model --overwrite --set train.steps=3 --set model.feed_forward=4 --set "$setting"
    expect 0 ablate model --json
    is_json 'd["step"] == 3'
  done
  expect 0 train tiny.toml --out no-layers --set train.steps=3 --set model.layers=0
  refuses 'no heads to ablate' -- ablate no-layers --json
  expect 0 train tiny.toml --out fixed --set task.name=fixed_period_sequence --set train.steps=2
  says warning 'every sequence has period 12'
  expect 0 train tiny.toml --out varied --set train.steps=2
  check_not "$call: expected no warning" grep warning err
  mkdir data
  for _ in $(seq 300); do echo 'In the beginning was a text.'; done > data/kjv.txt
  local tokens
  sed -n 's/^tokenizer = "\(.*\)"$/\1/p' "$configs"/*.toml | while read -r tokens; do
    expect 0 tokenizer train data/kjv.txt --vocabulary 258 --out "$tokens"
  done
  for config in "$configs"/*.toml; do expect 0 inspect "$config"; done

  local name="it's a \"run\", \$HOME"
  expect 0 train tiny.toml --out "$name" --set train.steps=2
  expect 0 train tiny.toml --out=-run --set train.steps=2
  for run in "$name" ./-run; do
    for command in eval heads ablate inspect; do expect 0 "$command" "$run" --json; is_json 'd'; done
    expect 0 train --resume "$run"
  done
  expect 0 heads -- -run
}

a_run
existing_directories
a_run_that_died
a_broken_model
what_a_resume_needs
a_full_disk
a_read_only_directory
two_programs
a_damaged_checkpoint
a_run_that_diverges
an_interrupted_run
models_and_names
finish
