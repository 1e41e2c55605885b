#!/usr/bin/env bash
# Takes the previous-token head away while induction forms, or gives its pattern from the start:
#   experiments/formation/run.sh [--quick] [SEEDS]     default: 7 seeds
# --quick has one seed and 600 steps. A run that is there already is not trained again.
set -euo pipefail
cd -P "$(dirname "${BASH_SOURCE[0]}")/../.."

# shellcheck source=experiments/sweeps.sh
source experiments/sweeps.sh
enter_sweeps formation 7 600 "$@"
export runs steps tapehead

# Runs `tapehead WORDS... --out RUN` unless it ended well before.
once() {
  local run=$1
  shift
  [ -f "$run/finished" ] && return
  logged "$run.log" "$tapehead" "$@" --out "$run" --overwrite --threads 1
  touch "$run/finished"
}

# The first step of a run at which the accuracy on induction positions is above a mark; nothing if it never is.
passes() {
  awk -F, -v mark="$2" '
    NR == 1 { for (i = 1; i <= NF; ++i) at[$i] = i; next }
    $at["accuracy_induction"] > mark { print $1; exit }' "$1/metrics.csv"
}

# All runs of one seed. Marks and head are those of the seed's plain run, read from its tables.
train_seed() {
  local seed=$1 folder=$runs/seed-$1 layer head start end
  local common=(configs/induction.toml --set "train.initialisation_seed=$seed" --set "train.data_seed=$seed"
    --set "train.steps=$steps" --set train.checkpoint_interval=50 --set train.ring_snapshots=0)
  mkdir -p "$folder"
  once "$folder/plain" train "${common[@]}"
  read -r layer head _ < <(best_head "$folder/plain" previous_token)
  # The last checkpoint before the accuracy takes off, and the first after it has arrived.
  start=$(passes "$folder/plain" 0.2) end=$(passes "$folder/plain" 0.9)
  start=$(((${start:-$steps} - 1) / 50 * 50)) end=$(((${end:-$steps} + 49) / 50 * 50))
  printf '%s,%s,%s,%s,%s\n' "$seed" "$layer" "$head" "$start" "$end" > "$folder/marks"

  local clamped="site=\"blocks.$layer.attention.head_output\", head=$head, kind=\"zero\""
  local pattern="site=\"blocks.$layer.attention.pattern\""
  once "$folder/clamped" train "${common[@]}" --set "intervention=[{$clamped}]"
  once "$folder/clamped-before" train "${common[@]}" --set "intervention=[{$clamped, to=$start}]"
  once "$folder/clamped-from" fork "$folder/plain" --step "$start" --set "intervention=[{$clamped, from=$start}]"
  if [ "$end" -lt "$steps" ]; then
    once "$folder/clamped-after" fork "$folder/plain" --step "$end" --set "intervention=[{$clamped, from=$end}]"
  fi
  local kind
  for kind in previous_token uniform; do
    once "$folder/$kind-one" train "${common[@]}" --set "intervention=[{$pattern, head=$head, kind=\"$kind\"}]"
    once "$folder/$kind-both" train "${common[@]}" --set "intervention=[{$pattern, kind=\"$kind\"}]"
  done
}
export -f logged once passes best_head train_seed
# shellcheck disable=SC2016  # for the shell of each seed
seq "$seeds" | xargs -P 2 -I '{}' bash -c 'set -euo pipefail; train_seed "$1"' _ '{}'

experiments/formation/table.sh "$runs" "$seeds"
experiments/formation/figure.sh "$runs" "$seeds"
