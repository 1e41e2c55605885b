#!/usr/bin/env bash
# What the runs of run.sh came to, a line a run and the medians of each kind; also as RUNS/table.csv.
#   experiments/formation/table.sh RUNS SEEDS
set -euo pipefail
cd -P "$(dirname "${BASH_SOURCE[0]}")/../.."
# shellcheck source=experiments/room.sh
source experiments/room.sh
runs=$1 seeds=$2

# Of one run: the first steps above 10, 50 and 90 % accuracy on induction positions, the accuracy at the end; the head
# other than L.H that looks back by one the most at the end, its score, and the first step at which it is above
# 0.3; for a fork, the lowest accuracy after it.
measure() {
  local kind=$1 seed=$2 head=$3 folder=$runs/seed-$2/$1
  local first=0
  [ -f "$folder/parent.toml" ] && first=$(sed -n 's/^step = //p' "$folder/parent.toml")
  awk -F, -v kind="$kind" -v seed="$seed" -v without="$head" -v first="$first" '
    FNR == 1 { delete at; for (i = 1; i <= NF; ++i) at[$i] = i; next }
    FILENAME ~ /metrics/ {
      accuracy = $at["accuracy_induction"]
      if (a == "" && accuracy > 0.1) a = $1
      if (b == "" && accuracy > 0.5) b = $1
      if (c == "" && accuracy > 0.9) c = $1
      if (first > 0 && $1 > first && (low == "" || accuracy < low)) low = accuracy
      next
    }
    {
      name = $at["layer"] "." $at["head"]; score = $at["previous_token"]
      if (name == without) next
      if (!(name in passed) && $1 >= first && score > 0.3) passed[name] = $1
      last[name] = score
    }
    END {
      best = -1
      for (name in last) if (last[name] > best) { best = last[name]; other = name }
      printf "%s,%s,%s,%s,%s,%s,%s,%s,%s,%.3f,%s\n", kind, seed, without, a, b, c, accuracy, low, other, best, passed[other]
    }' "$folder/metrics.csv" "$folder/heads.csv"
}

{
  echo kind,seed,head,step_10,step_50,step_90,final_accuracy,lowest_accuracy,other_head,other_previous_token,other_step
  for kind in plain clamped clamped-before clamped-from clamped-after previous_token-one previous_token-both \
    uniform-one uniform-both; do
    for seed in $(seq "$seeds"); do
      IFS=, read -r _ layer head _ _ < "$runs/seed-$seed/marks"
      if [ -f "$runs/seed-$seed/$kind/finished" ]; then measure "$kind" "$seed" "$layer.$head"; fi
    done
  done
} > "$runs/table.csv"

echo "clamped head, step before the rise and step after it, by seed:"
for seed in $(seq "$seeds"); do awk -F, '{ printf "  seed %s: head %s of layer %s, %s, %s\n", $1, $3, $2, $4, $5 }' \
  "$runs/seed-$seed/marks"; done
echo
column -s, -t "$runs/table.csv"
echo
# A step that never came counts as later than all.
awk -F, "$median"'
  function step_median(kind, column,    i, list, result) {
    for (i = 1; i <= runs[kind]; ++i) list[i] = value[kind, i, column] == "" ? 1e9 : value[kind, i, column] + 0
    result = median(list, runs[kind])
    return result >= 5e8 ? "never" : result
  }
  function number_median(kind, column,    i, list, count) {
    for (i = 1; i <= runs[kind]; ++i)
      if (value[kind, i, column] != "") list[++count] = value[kind, i, column] + 0
    return count ? sprintf("%.3f", median(list, count)) : "-"
  }
  NR == 1 { next }
  {
    if (!($1 in runs)) order[++kinds] = $1
    ++runs[$1]
    for (i = 4; i <= NF; ++i) value[$1, runs[$1], i] = $i
    formed[$1] += $6 != ""
  }
  END {
    printf "%-20s %7s %6s %6s %6s %6s %9s %s\n", "median of", "runs", "10 %", "50 %", "90 %", "final", "lowest",
           "formed (above 90 %)"
    for (k = 1; k <= kinds; ++k) {
      kind = order[k]
      printf "%-20s %7d %6s %6s %6s %6s %9s %d\n", kind, runs[kind], step_median(kind, 4), step_median(kind, 5),
             step_median(kind, 6), number_median(kind, 7), number_median(kind, 8), formed[kind]
    }
  }' "$runs/table.csv"
