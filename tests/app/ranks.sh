#!/usr/bin/env bash
# Several processes that train one model, started by mpirun as on a cluster, more of them than there are cores.
#   tests/app/ranks.sh TAPEHEAD TAPEHEAD_WITH_MPI|none
set -euo pipefail
# shellcheck source=tests/app/mpirun.sh
source "$(dirname "${BASH_SOURCE[0]}")/mpirun.sh"
launch=(mpirun --oversubscribe --bind-to none)

until_there() {
  while kill -0 "$running" 2> /dev/null; do
    [ ! -e "$1" ] || return 0
    sleep 0.05
  done
  fail "$call: $1 did not come"
}

# The same bits, however the shards fall: one a rank, two, unequal, or none for some.
settings=(--set train.shard=1 --set model.dropout=0.1 --set train.ring_snapshots=3 --set train.ring_interval=5 --set train.batch=6)
expect 0 train tiny.toml --out alone "${settings[@]}"
for ranks in 1 2 3 4 8; do
  joint 0 "$ranks" train tiny.toml --out "ranks-$ranks" "${settings[@]}" --threads 1
  same_run alone "ranks-$ranks" 000020
  check "$ranks ranks: expected the files of one process" cmp <(cd alone && find . | sort) <(cd "ranks-$ranks" && find . | sort)
  for file in alone/checkpoints/*; do same_file "$file" "ranks-$ranks/checkpoints/$(basename "$file")"; done
done
says "warning: 2 of 8 ranks have nothing to train: a batch of 6 has 6 shards of 1 (train.shard)"
says "on 8 ranks of 1 thread, into ranks-8"
check "8 ranks: expected each line once" test "$(grep -c 'done: loss' err)" -eq 1
joint 0 2 train tiny.toml --out two-threads "${settings[@]}" --threads 2
same_run alone two-threads 000020

# A build with MPI is an ordinary program where nobody started several.
call="tapehead with MPI, alone"
check "$call: expected it to train" "$program_with_mpi" train tiny.toml --out one "${settings[@]}"
same_run alone one 000020
if [ "$program" != "$program_with_mpi" ]; then
  check_not "the program without MPI: expected no MPI in it" grep -q libmpi "$program"
fi

# A run that was stopped goes on, on any number of ranks, and so does a fork.
for signal in INT TERM USR1; do
  rm -rf stopped
  call="mpirun, sent SIG$signal"
  "${launch[@]}" -n 3 "$program_with_mpi" train tiny.toml --out stopped "${settings[@]}" --set train.steps=100000 \
    --set train.checkpoint_interval=100000 > out 2> err < /dev/null &
  running=$!
  until_there stopped/metrics.csv
  kill -s "$signal" "$running" || true
  status=0
  wait "$running" || status=$?
  running=
  check "$call: expected status 1, got $status" test "$status" -eq 1
  says "which is saved; go on with: tapehead train --resume stopped"
done
joint 0 2 fork alone --step 8 --out forked-jointly
expect 0 fork alone --step 8 --out forked
same_run forked forked-jointly 000020
joint 0 3 train --resume forked
says "forked is finished already"

# A rank that dies ends the job, whichever it is. What was saved goes on to the bits of a run that nobody disturbed.
long=("${settings[@]}" --set train.ring_snapshots=0 --set train.steps=3000 --set train.checkpoint_interval=10 --set train.evaluation_interval=50)
expect 0 train tiny.toml --out undisturbed "${long[@]}"
for victim in 2 0; do
  rm -rf killed
  call="rank $victim killed"
  "${launch[@]}" -n 3 "$program_with_mpi" train tiny.toml --out killed "${long[@]}" > out 2> err < /dev/null &
  running=$!
  until_there killed/checkpoints/step-000010.safetensors
  for process in $(pgrep --parent "$running"); do
    ! grep -qz "^OMPI_COMM_WORLD_RANK=$victim\$" "/proc/$process/environ" 2> /dev/null || kill -KILL "$process"
  done
  status=0
  wait "$running" || status=$?
  running=
  check "$call: expected mpirun to fail, got $status" test "$status" -ne 0
  says "rank $victim with PID"
  check_not "$call: expected the run to be cut short" test -e killed/checkpoints/step-003000.safetensors
  if [ "$victim" -ne 0 ]; then says "go on from step" "with tapehead train --resume killed"; fi
  joint 0 2 train --resume killed
  same_run undisturbed killed 003000
done

# A rank with another config, data or program is refused before anything is written; and where it fails alone, so.
refused() {
  expect_of_mpirun 2 -n 1 "$program_with_mpi" train "${first[@]}" --out refused : -n 1 "${second[@]}" --out refused
  says "${words[@]}"
  check_not "$call: expected no run" test -e refused
}
first=(tiny.toml)
second=("$program_with_mpi" train tiny.toml --set train.batch=7)
words=("error: [ranks] rank 1 on " " has another config: train.batch is 7 there and 5 on rank 0")
refused
second=("$program_with_mpi" train nothing.toml)
words=("error: rank 1 on " "nothing.toml: no such file")
refused
cp "$program_with_mpi" other-build
echo >> other-build
second=(./other-build train tiny.toml)
words=("error: [ranks] rank 1 on " ", build ")
refused
# The same names, and other texts: as on two machines.
mkdir here there
printf 'the cat sat on the mat. %.0s' $(seq 50) > here/text.txt
printf 'the cat sat on the hat. %.0s' $(seq 50) > there/text.txt
cat > text.toml <<'TOML'
[model]
context = 16
width = 8
[task]
name = "text"
file = "text.txt"
length = 16
TOML
cp text.toml here/text.toml
cp text.toml there/text.toml
call="ranks with other texts"
status=0
"${launch[@]}" -n 1 --wdir "$scratch/here" "$program_with_mpi" train text.toml --out "$scratch/refused" : \
  -n 1 --wdir "$scratch/there" "$program_with_mpi" train text.toml --out "$scratch/refused" > out 2> err || status=$?
check "$call: expected status 2, got $status: $(head -c 500 err)" test "$status" -eq 2
says "has other data: text.txt or its tokenizer is not what it is on rank 0"

# Wrong calls, and what is no work for several.
joint 2 2 train tiny.toml --out wrong --set train.bach=3
says "error: --set train.bach=3: unknown key train.bach; the nearest is train.batch"
check "expected one error, got: $(cat err)" test "$(grep -c '^error' err)" -eq 1
joint 2 2 train tiny.toml --out alone
says "alone holds a run already"
joint 2 2 eval alone
says "eval works in one process; start it without mpirun"
if [ "$program" != "$program_with_mpi" ]; then
  expect_of_mpirun 2 -n 2 "$program" train tiny.toml --out wrong
  says "this tapehead was built without MPI; build it with" "-DTAPEHEAD_MPI=ON"
fi
check_not "expected no run from wrong calls" test -e wrong

# Ranks that were called with something else, also where one only prints its help, are told so.
for other in "train --resume alone" "train --help" "fork alone" "--help"; do
  read -ra second <<< "$other"
  expect_of_mpirun 2 -n 1 "$program_with_mpi" train tiny.toml --out wrong : -n 1 "$program_with_mpi" "${second[@]}"
  says "error: [ranks] rank 1 on " "was called with" "and rank 0 with train; give every rank the same call"
done
expect_of_mpirun 2 -n 1 "$program_with_mpi" bench tiny.toml --steps 3 : -n 1 "$program_with_mpi" bench tiny.toml --steps 4
says "has other steps or seconds to time than rank 0"
joint 0 3 --help
check "$call: expected one help" test "$(grep -c Usage out)" -eq 1

# What a step sends is counted: each of two ranks half of the parameters, twice, and three shards' losses.
joint 0 2 bench tiny.toml --steps 3 --json
parameters=$("$program" inspect tiny.toml --json | "${python:-python3}" -c 'import json, sys; print(json.load(sys.stdin)["parameter_count"])') ||
  parameters=0
[ "$parameters" -eq 0 ] || is_json "d['ranks'] == 2 and {c['what']: c['bytes'] for c in d['communication']} == {'losses': 32, 'gradient sums': 2 * $parameters, 'summed gradients': 2 * $parameters}"
joint 0 2 bench tiny.toml --steps 3
prints "on 2 ranks of 1 thread" "rank 0 sends"

# Ranks take a sweep's runs from one queue, and a sweep that a dead rank ended goes on with what is missing.
grid=(tiny.toml --seeds 2 --grid "model.heads=1,2")
expect 0 sweep "${grid[@]}" --out swept
joint 0 3 sweep "${grid[@]}" --out swept-jointly
prints swept-jointly/figures/formation.svg
same_file swept/sweep.csv swept-jointly/sweep.csv
for run in heads=1/seed-2 heads=2/seed-1; do
  same_file "swept/$run/checkpoints/step-000020.safetensors" "swept-jointly/$run/checkpoints/step-000020.safetensors"
done
rm -r swept-jointly/heads=1/seed-2 swept-jointly/heads=2/seed-1/checkpoints/step-000020.safetensors
joint 0 2 sweep "${grid[@]}" --out swept-jointly
same_file swept/sweep.csv swept-jointly/sweep.csv
joint 2 2 sweep "${grid[@]}" --out swept-jointly --jobs 2
says "--jobs does not go with mpirun"
expect_of_mpirun 2 -n 1 "$program_with_mpi" sweep "${grid[@]}" --out wrong : -n 1 "$program_with_mpi" sweep "${grid[@]}" --out wrong --set train.clip=3
says "rank 1 on " "has other settings than rank 0"
check_not "$call: expected nothing made" test -e wrong
finish
