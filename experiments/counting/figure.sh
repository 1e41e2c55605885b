#!/usr/bin/env bash
# Draws what a token costs in a block of GPT-2 small against the context, as RUNS/lengths.svg.
#   experiments/counting/figure.sh RUNS
set -euo pipefail
cd -P "$(dirname "${BASH_SOURCE[0]}")/../.."
# shellcheck source=experiments/room.sh
source experiments/room.sh
runs=$1

awk -F, 'NR > 1 { print $1, $2 / 1e6, $3 / 1e6, $4 / 1e6 }' "$runs/lengths.csv" > "$runs/lengths.data"

draw "$runs/lengths.svg" 860 360 14 << EOT
set lmargin 9
set bmargin 3.6
set rmargin at screen 0.66
set key at graph 1.03, 0.98 left top reverse Left samplen 2 spacing 1.5
stats '$runs/lengths.data' using 1 nooutput
set xrange [0:STATS_max]
set yrange [0:12]
set xlabel 'context t (tokens)' textcolor rgb '#222222'
set ylabel 'million operations a token' textcolor rgb '#222222'
d = 768
plot 16 * d**2 / 1e6 with lines linewidth 1.6 linecolor rgb '#d55e00' title 'feed-forward, 16 d²', \\
  8 * d**2 / 1e6 with lines linewidth 1.6 linecolor rgb '#0072b2' title 'four projections, 8 d²', \\
  4 * x * d / 1e6 with lines linewidth 1.6 linecolor rgb '#009e73' title 'scores and mix, 4 t d', \\
  '$runs/lengths.data' using 1:4 with points pointtype 7 pointsize 0.8 linecolor rgb '#d55e00' notitle, \\
  '$runs/lengths.data' using 1:2 with points pointtype 7 pointsize 0.8 linecolor rgb '#0072b2' notitle, \\
  '$runs/lengths.data' using 1:3 with points pointtype 7 pointsize 0.8 linecolor rgb '#009e73' notitle, \\
  NaN with lines linewidth 1.6 linecolor rgb '#7a7a7a' title 'lines: by formula', \\
  NaN with points pointtype 7 pointsize 0.8 linecolor rgb '#7a7a7a' title 'points: counted'
EOT
