#!/usr/bin/env bash
# Trains models of one, two and three layers on repeats of one fixed period and of drawn periods, and evaluates them at
# periods that none of them saw:
#   experiments/depth/run.sh [--quick] [SEEDS]     default: 10 seeds
# --quick has one seed and 400 steps. Runs that are there already are kept. Ends with status 1 if a model does not do
# what the README says.
set -euo pipefail
cd -P "$(dirname "${BASH_SOURCE[0]}")/../.."
# shellcheck source=experiments/sweeps.sh
source experiments/sweeps.sh
enter_sweeps depth 10 400 "$@"

for periods in fixed drawn; do
  config=configs/induction.toml
  [ "$periods" = drawn ] || config=configs/fixed-period-one-layer.toml
  for layers in 1 2 3; do
    sweep "$periods-$layers-layer" "$config" --set "model.layers=$layers"
  done
done

# A row a run.
table=$runs/table.csv
echo model,seed,half,last_step,trained,untrained > "$table"
for sweep in "${sweeps[@]}"; do
  awk -F, '
    NR == 1 { for (i = 1; i <= NF; ++i) at[$i] = i; next }
    { print $at["run"], $at["seed"] "," $at["half"] "," $at["step"] "," $at["final_accuracy_induction"] }' \
    "$sweep/sweep.csv" | while read -r run cells; do
    accuracy=$(elsewhere "$sweep/$run")
    echo "$(basename "$sweep"),$cells,$accuracy"
  done >> "$table"
done

experiments/depth/figure.sh "$runs"
# The medians; a step that never came counts as later than all.
awk -F, "$median"'
  function median_of(model, column,    i, list) {
    for (i = 1; i <= runs[model]; ++i) list[i] = value[model, i, column]
    return median(list, runs[model])
  }
  NR == 1 { next }
  {
    if (!($1 in runs)) order[++models] = $1
    ++runs[$1]
    formed[$1] += $3 != ""
    value[$1, runs[$1], 3] = $3 == "" ? 1e9 : $3 + 0
    for (i = 5; i <= 6; ++i) value[$1, runs[$1], i] = $i + 0
  }
  END {
    printf "%-16s %9s %12s %24s %24s\n", "accuracy", "formed", "median step", "periods trained on", "periods 25, 29, 31"
    for (k = 1; k <= models; ++k) {
      model = order[k]
      step = median_of(model, 3)
      printf "%-16s %9s %12s", model, formed[model] " of " runs[model], (step >= 5e8 ? "never" : step)
      for (i = 5; i <= 6; ++i) {
        middle = median_of(model, i)
        printf "  %.3f (%.3f to %.3f)", middle, least, most
        result[model, i] = middle
      }
      print ""
    }
    # By position alone, and not at other periods; by induction with two layers and not with one.
    if (result["fixed-1-layer", 5] < 0.95 || result["fixed-1-layer", 6] > 0.1 || formed["drawn-1-layer"] > 0 ||
        formed["drawn-2-layer"] < runs["drawn-2-layer"] / 2) {
      print "not as expected" > "/dev/stderr"
      exit 1
    }
  }' "$table"
