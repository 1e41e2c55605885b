#!/usr/bin/env bash
# Draws the accuracy on induction positions of all runs of run.sh, a thin line each and the median of each kind, as
# RUNS/accuracy.svg.
#   experiments/formation/figure.sh RUNS SEEDS
set -euo pipefail
cd -P "$(dirname "${BASH_SOURCE[0]}")/../.."
# shellcheck source=experiments/room.sh
source experiments/room.sh
runs=$1 seeds=$2
curves=$runs/curves
mkdir -p "$curves"

# Step and accuracy of one run; of a fork, from its first step on.
curve() {
  local first=0
  [ -f "$1/parent.toml" ] && first=$(sed -n 's/^step = //p' "$1/parent.toml")
  awk -F, -v first="$first" '
    NR == 1 { for (i = 1; i <= NF; ++i) at[$i] = i; next }
    $1 >= first { print $1, $at["accuracy_induction"] }' "$1/metrics.csv"
}

# At every step that all curves of standard input have: the median. A blank line ends a curve.
median_curve() {
  awk "$median"'
    NF == 2 { value[$1, ++count[$1]] = $2; if ($1 > last) last = $1 }
    NF == 0 { ++curves }
    END {
      for (step = 0; step <= last; ++step) {
        n = count[step]
        if (n == 0 || n < curves) continue
        for (i = 1; i <= n; ++i) list[i] = value[step, i]
        print step, median(list, n)
      }
    }'
}

for kind in plain clamped clamped-before clamped-from clamped-after previous_token-one previous_token-both \
  uniform-one uniform-both; do
  for seed in $(seq "$seeds"); do
    if [ -f "$runs/seed-$seed/$kind/finished" ]; then
      curve "$runs/seed-$seed/$kind"
      echo
    fi
  done > "$curves/$kind.data"
  median_curve < "$curves/$kind.data" > "$curves/$kind.median"
done

# One panel: a title, and kind, colour and words of each of its lines.
panel() {
  local title=$1 thin='' thick=''
  shift
  while [ $# -gt 0 ]; do
    thin+="'$curves/$1.data' with lines linewidth 0.8 linecolor rgb '#90${2#\#}' notitle, "
    thick+="'$curves/$1.median' with lines linewidth 2.6 linecolor rgb '$2' title '$3', "
    shift 3
  done
  printf "set label 1 '%s' at graph 0, 1.06 left textcolor rgb '#222222'\nplot %s%s\n" "$title" "$thin" "${thick%, }"
}

{
  cat << EOT
set lmargin at screen 0.1
set rmargin at screen 0.66
set tmargin 3
set bmargin 3.6
set key at graph 1.03, 0.72 left top reverse Left samplen 2 spacing 1.35
set xrange [0:*<1000]
set yrange [0:1]
set ylabel 'accuracy on induction positions' textcolor rgb '#222222'
set xlabel 'training step' textcolor rgb '#222222'
set multiplot layout 2,1
EOT
  panel 'The previous-token head of the plain run set to zero' \
    plain '#222222' 'plain' clamped '#d55e00' 'from the start' clamped-before '#0072b2' 'up to the rise' \
    clamped-from '#009e73' 'from the rise on' clamped-after '#cc79a7' 'once 90 % are reached'
  panel "Patterns of layer 0 put in place from the start" \
    plain '#222222' 'plain' previous_token-one '#0072b2' 'that head: previous token' \
    previous_token-both '#56b4e9' 'both: previous token' uniform-one '#e69f00' 'that head: even' \
    uniform-both '#d55e00' 'both: even'
  echo 'unset multiplot'
} | draw "$runs/accuracy.svg" 860 760 14
