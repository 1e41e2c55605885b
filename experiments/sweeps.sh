#!/usr/bin/env bash
# What the rooms that train sweeps share, beside room.sh; to be sourced by a room's run.sh, in the project's root:
#   source experiments/sweeps.sh
set -euo pipefail
# shellcheck source=experiments/room.sh
source experiments/room.sh

# enter_sweeps NAME SEEDS QUICK_STEPS WORD...: for a room that takes [--quick] [SEEDS], with these defaults. Builds the
# program, and sets `runs`, the folder to write to, `steps`, `seeds` and the empty array `sweeps`.
enter_sweeps() {
  runs=${TAPEHEAD_RUNS:-runs}/$1 seeds=$2 steps=2000 sweeps=()
  if [ "${4:-}" = --quick ]; then
    runs=$runs-quick steps=$3 seeds=1
    set -- "${@:1:3}" "${@:5}"
  fi
  if [ $# -gt 4 ] || ! [[ ${4:-1} =~ ^[1-9][0-9]*$ ]]; then
    echo "usage: $0 [--quick] [SEEDS]" >&2
    exit 2
  fi
  seeds=${4:-$seeds}
  build tapehead_program
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
    awk -F, -v name="$(basename "$sweep")" "$median"'
      function median_of(column,    i, list) {
        for (i = 1; i <= runs; ++i) list[i] = value[i, column]
        return median(list, runs)
      }
      function step(number) { return (number >= 5e8 ? "never" : number) }
      function numbers(column,    middle) {
        middle = median_of(column)
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
        middle = median_of("half")
        half = formed == 0 ? "never" : sprintf("%s (%s to %s)", step(middle), step(least), step(most))
        printf "%-24s %10s %26s %26s %26s\n", name, formed " of " runs, half, numbers("accuracy"), numbers("loss")
      }' "$sweep/sweep.csv"
  done
}

# elsewhere RUN: its mean accuracy on induction positions at periods 25, 29 and 31, which are longer than any it saw.
elsewhere() {
  "$tapehead" eval "$1" --periods 25,29,31 --threads 1 | awk '
    $1 == "period" { sum += $6; ++periods }
    END { printf "%.4f", sum / periods }'
}

# print_beyond SWEEP...: what both say of the same runs that print_sweeps tells of.
print_beyond() {
  local sweep run accuracy head
  printf '\n%-24s %26s %26s\n' '' 'at periods 25, 29, 31' 'best previous-token score'
  for sweep in "$@"; do
    awk -F, '
      NR == 1 { for (i = 1; i <= NF; ++i) at[$i] = i; next }
      $at["status"] == "finished" { print $at["run"] }' "$sweep/sweep.csv" | while read -r run; do
      accuracy=$(elsewhere "$sweep/$run")
      head=$(best_head "$sweep/$run" previous_token)
      echo "$accuracy ${head##* }"
    done | awk -v name="$(basename "$sweep")" "$median"'
      function numbers(list,    middle) {
        middle = median(list, NR)
        return sprintf("%.3f (%.3f to %.3f)", middle, least, most)
      }
      { accuracy[NR] = $1 + 0; score[NR] = $2 + 0 }
      END {
        if (NR == 0) exit 1
        printf "%-24s %26s %26s\n", name, numbers(accuracy), numbers(score)
      }'
  done
}
