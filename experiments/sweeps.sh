#!/usr/bin/env bash
# What the rooms that train sweeps share; to be sourced by a room's run.sh, in the project's root, with its words:
#   source experiments/sweeps.sh
#   start_room positions 5 150 "$@"     the room's name, how many seeds, and the steps of --quick
# It reads [--quick] [SEEDS], and sets `tapehead`, `runs`, `steps`, `seeds` and the empty array `sweeps`. TAPEHEAD names a
# program other than the one that is built, TAPEHEAD_RUNS a folder for the runs other than runs/.
set -euo pipefail

start_room() {
  runs=${TAPEHEAD_RUNS:-runs}/$1 seeds=$2 steps=2000 sweeps=()
  if [ "${4:-}" = --quick ]; then
    runs=$runs-quick steps=$3 seeds=1
    set -- "${@:1:3}" "${@:5}"
  fi
  if [ $# -gt 4 ] || ! [[ ${4:-1} =~ ^[1-9][0-9]*$ ]]; then
    echo "usage: experiments/$1/run.sh [--quick] [SEEDS]" >&2
    exit 2
  fi
  seeds=${4:-$seeds}
  tapehead=${TAPEHEAD:-build/tapehead}
  if [ -z "${TAPEHEAD:-}" ]; then
    .ci/packages build
    .ci/build tapehead_program
  fi
  mkdir -p "$runs"
}

# sweep NAME CONFIG [--set ...]: trains a config into RUNS/NAME with these settings, and adds that to `sweeps`. Runs that
# are there already are kept.
sweep() {
  sweeps+=("$runs/$1")
  "$tapehead" sweep "${@:2}" --set train.ring_snapshots=0 --set "train.steps=$steps" --seeds "$seeds" \
    --out "$runs/$1" > "$runs/$1.log"
}

# print_sweeps SWEEP...: what sweeps came to, a line each, from their sweep.csv: how many of the runs formed, at which step
# half of what can be copied was copied, and the last accuracy and loss on induction positions. Medians, with the lowest
# and the highest; a step that never came counts as later than all.
print_sweeps() {
  local sweep
  printf '%-24s %10s %26s %26s %26s\n' '' formed 'half at step' 'accuracy, induction' 'loss, induction'
  for sweep in "$@"; do
    awk -F, -v name="$(basename "$sweep")" '
      # The median of a column; the lowest and the highest go to `least` and `most`.
      function median(column,    i, j, list, swap) {
        for (i = 1; i <= runs; ++i) list[i] = value[i, column]
        for (i = 1; i <= runs; ++i)
          for (j = i + 1; j <= runs; ++j)
            if (list[j] < list[i]) { swap = list[i]; list[i] = list[j]; list[j] = swap }
        least = list[1]; most = list[runs]
        return runs % 2 ? list[(runs + 1) / 2] : (list[runs / 2] + list[runs / 2 + 1]) / 2
      }
      function step(number) { return (number >= 5e8 ? "never" : number) }
      function numbers(column,    middle) {
        middle = median(column)
        return sprintf("%.3f (%.3f to %.3f)", middle, least, most)
      }
      NR == 1 { for (i = 1; i <= NF; ++i) at[$i] = i; next }
      $at["status"] == "finished" {
        ++runs
        formed += $at["formed"]
        value[runs, "half"] = ($at["half"] == "" ? 1e9 : $at["half"] + 0)
        value[runs, "accuracy"] = $at["final_accuracy_induction"] + 0
        value[runs, "loss"] = $at["final_loss_induction"] + 0
      }
      END {
        if (runs == 0) exit 1
        middle = median("half")
        half = formed == 0 ? "never" : sprintf("%s (%s to %s)", step(middle), step(least), step(most))
        printf "%-24s %10s %26s %26s %26s\n", name, formed " of " runs, half, numbers("accuracy"), numbers("loss")
      }' "$sweep/sweep.csv"
  done
}
