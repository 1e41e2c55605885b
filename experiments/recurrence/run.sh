#!/usr/bin/env bash
# What recurrence costs beside attention, and how well recurrent layers copy:
#   experiments/recurrence/run.sh [--quick]
# --quick stops at 256 positions and 60 steps.
set -euo pipefail
cd -P "$(dirname "${BASH_SOURCE[0]}")/../.."
# shellcheck source=experiments/room.sh
source experiments/room.sh
enter recurrence 'tapehead_program experiment_recurrence' "$@"

steps=2000 lengths=(64 128 256 512 1024 2048 4096) models=("64 2e-3" "128 2e-3" "256 1e-3")
[ -z "$quick" ] || steps=60 lengths=(64 256) models=("64 2e-3")
mkdir -p "$runs"

"$programs/recurrence" costs "${lengths[@]}" | tee "$runs/costs"

# Where two columns of one width cross, between two lengths, by the logarithms of both.
crossing() {
  awk -v width="$1" -v a="$2" -v b="$3" '
    $1 == width {
      difference = log($b / $a)
      if (seen && last < 0 && difference >= 0) {
        share = -last / (difference - last)
        printf "%.0f\n", exp(log(length_before) + share * log($2 / length_before))
      }
      seen = 1; last = difference; length_before = $2
    }' "$runs/costs"
}
for width in 256 512; do
  alone=$(crossing "$width" 4 6) beside=$(crossing "$width" 5 6)
  echo "d = $width: attention takes as long as recurrence at T = ${alone:-(not within these lengths)}, and at" \
    "${beside:-(not within these lengths)} as a recurrence over eight sequences side by side"
done

echo
logged "$runs/attention.log" "$tapehead" train configs/induction.toml --set "train.steps=$steps" --set train.ring_snapshots=0 \
  --out "$runs/attention" --overwrite
for model in "${models[@]}"; do
  read -r width rate <<< "$model"
  "$programs/recurrence" copies configs/induction.toml "$steps" "$width" "$rate" > "$runs/copies-$width.csv"
done

# The last row of a table: loss on induction positions, on noise, accuracy.
last() {
  awk -F, '
    /^#/ { next }
    !found { for (i = 1; i <= NF; ++i) at[$i] = i; found = 1; next }
    { loss = $at["loss_induction"]; noise = $at["loss_noise"]; accuracy = $at["accuracy_induction"] }
    END { printf "%9.3f %9.3f %9.3f\n", loss, noise, accuracy }' "$1"
}
printf 'after %d steps, on positions that can be copied\n%-36s %9s %9s %9s\n' "$steps" '' loss noise accuracy
printf '%-36s %s\n' 'two layers of attention, width 64' "$(last "$runs/attention/metrics.csv")"
for model in "${models[@]}"; do
  read -r width rate <<< "$model"
  printf '%-36s %s\n' "two recurrent layers, width $width" "$(last "$runs/copies-$width.csv")"
done
experiments/recurrence/figure.sh "$runs"
