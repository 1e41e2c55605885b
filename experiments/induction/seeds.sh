#!/usr/bin/env bash
# Trains a config with seeds 1 to N, two at a time, and prints when induction formed in each:
#   experiments/induction/seeds.sh [CONFIG [N [OPTION...]]]     default: configs/induction.toml 20
# Further words go to `tapehead train`. A seed that is there already is not trained again.
set -euo pipefail
cd -P "$(dirname "${BASH_SOURCE[0]}")/../.."

config=${1:-configs/induction.toml}
seeds=${2:-20}
shift $(($# < 2 ? $# : 2))
runs=runs/$(basename "$config" .toml)-seeds
mkdir -p "$runs"

train_seed() {
  local seed=$1 run="$2/seed-$1" config=$3
  shift 3
  [ -f "$run/finished" ] && return
  build/tapehead train "$config" --out "$run" --overwrite --threads 1 --set "train.initialisation_seed=$seed" \
    --set "train.data_seed=$seed" "$@" 2>"$run.log" || { cat "$run.log" >&2; return 1; }
  touch "$run/finished"
}
export -f train_seed
seq "$seeds" | xargs -P 2 -I '{}' bash -c 'train_seed "$@"' _ '{}' "$runs" "$config" "$@"

# The first step at which the accuracy on induction positions passed each mark, and the highest noise loss.
echo "seed  10 %  50 %  90 %  final accuracy  noise loss: highest  final"
for seed in $(seq "$seeds"); do
  awk -F, -v seed="$seed" '
    NR == 1 { for (i = 1; i <= NF; ++i) at[$i] = i; next }
    {
      accuracy = $at["accuracy_induction"]; noise = $at["loss_noise"]
      if (!a && accuracy > 0.1) a = $1
      if (!b && accuracy > 0.5) b = $1
      if (!c && accuracy > 0.9) c = $1
      if (noise > top) top = noise
    }
    END {
      printf "%4d  %4s  %4s  %4s  %14.3f  %19.2f  %5.2f\n", seed, a ? a : "-", b ? b : "-", c ? c : "-", accuracy, top,
             noise
    }' "$runs/seed-$seed/metrics.csv"
done
