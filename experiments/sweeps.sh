#!/usr/bin/env bash
# What sweeps came to, a line each, from their sweep.csv: how many of the runs formed, at which step half of what can be
# copied was copied, and the last accuracy and loss on induction positions.
#   experiments/sweeps.sh SWEEP...
# Medians, with the lowest and the highest. A step that never came counts as later than all.
set -euo pipefail
if [ $# -eq 0 ]; then
  echo "usage: experiments/sweeps.sh SWEEP..." >&2
  exit 2
fi

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
