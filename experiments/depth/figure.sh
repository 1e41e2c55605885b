#!/usr/bin/env bash
# Draws what all runs of run.sh came to, a dot a run, as RUNS/depth.svg.
#   experiments/depth/figure.sh RUNS
set -euo pipefail
cd -P "$(dirname "${BASH_SOURCE[0]}")/../.."
# shellcheck source=experiments/room.sh
source experiments/room.sh
runs=$1

# For the models in a row each from the top: the row, moved a little by seed, and a column of table.csv; for steps, those
# that formed, or (with "never") one for each that did not.
dots() {
  awk -F, -v column="$1" -v aside="$2" '
    NR == 1 { for (i = 1; i <= NF; ++i) at[$i] = i; next }
    !($1 in row) { row[$1] = ++rows }
    {
      ++seen[$1]
      y = -row[$1] + aside + 0.03 * ((seen[$1] * 7) % 11 - 5)
      if (column == "never") { if ($at["half"] == "") print 0.4 + 0.12 * seen[$1], -row[$1] + aside }
      else if ($at[column] != "") print $at[column], y
    }' "$runs/table.csv"
}
for column in trained half never; do dots "$column" 0.2 > "$runs/$column.data"; done
dots untrained -0.2 > "$runs/untrained.data"
last=$(awk -F, 'NR > 1 && $3 > last { last = $3 } END { print int(last * 1.08 / 50 + 1) * 50 }' "$runs/table.csv")

draw "$runs/depth.svg" 880 420 13 << EOT
set border 1 linewidth 0.7 linecolor rgb '#7a7a7a'
unset grid
set grid xtics linewidth 0.5 linecolor rgb '#e4e4e4'
set key off
set multiplot
set yrange [-6.6:-0.4]
set tmargin at screen 0.79
set bmargin at screen 0.17
set label 1 '{/:Bold One, two and three layers on repeats of a fixed and of drawn periods}' at screen 0.014, 0.945 left \
  font ',18' textcolor rgb '#222222'
set label 2 'at periods trained on' at screen 0.16, 0.855 left textcolor rgb '#0072b2'
set label 3 'at periods 25, 29 and 31, which none saw' at screen 0.36, 0.855 left textcolor rgb '#d55e00'
set ytics ('fixed, 1 layer' -1, 'fixed, 2 layers' -2, 'fixed, 3 layers' -3, 'drawn, 1 layer' -4, 'drawn, 2 layers' -5, \\
  'drawn, 3 layers' -6) scale 0
set lmargin at screen 0.16
set rmargin at screen 0.57
set xrange [-2:102]
set xtics 25
set xlabel 'accuracy on induction positions (%)' textcolor rgb '#222222'
plot '$runs/trained.data' using (100*\$1):2 with points pointtype 7 pointsize 0.5 linecolor rgb '#0072b2', \
  '$runs/untrained.data' using (100*\$1):2 with points pointtype 7 pointsize 0.5 linecolor rgb '#d55e00'
unset label
unset ytics
set lmargin at screen 0.62
set rmargin at screen 0.87
set xrange [0:$last]
set xtics 100
set xlabel 'step at which 50 % are reached' textcolor rgb '#222222'
plot '$runs/half.data' with points pointtype 7 pointsize 0.5 linecolor rgb '#0072b2'
set lmargin at screen 0.89
set rmargin at screen 0.99
set border 0
unset xtics
unset grid
unset xlabel
set xrange [0:2]
set label 4 'never' at screen 0.94, 0.855 center textcolor rgb '#cc79a7'
plot NaN, '$runs/never.data' with points pointtype 2 pointsize 0.5 linewidth 1.4 linecolor rgb '#cc79a7'
unset multiplot
EOT
