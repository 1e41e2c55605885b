#!/usr/bin/env bash
# Draws time and memory against the length, from the medians of table.sh, as RUNS/lengths.svg.
#   experiments/tiled-attention/figure.sh RUNS
set -euo pipefail
cd -P "$(dirname "${BASH_SOURCE[0]}")/../.."
# shellcheck source=experiments/room.sh
source experiments/room.sh
runs=$1

# The lines of one panel: a column, and whether they are named.
lines() {
  local column=$1 named=$2 plots='' kind colour words title
  while read -r kind colour words; do
    [ -s "$runs/$kind.median" ] || continue
    title="title '$words'"
    [ "$named" = yes ] || title=notitle
    plots+="'$runs/$kind.median' using 1:$column with linespoints linewidth 1.6 pointtype 7 pointsize 0.6 linecolor rgb '$colour' $title, "
  done << 'EOT'
torch-own #cc79a7 PyTorch, own
torch-plain #e69f00 PyTorch, plain
torch-blocks #009e73 PyTorch, in blocks
pattern #0072b2 pattern held
tiled #d55e00 in tiles
EOT
  printf '%s' "${plots%, }"
}

draw "$runs/lengths.svg" 860 760 14 << EOT
stats '$runs/tiled.median' using 1 nooutput
set xrange [0.9 * STATS_min:1.1 * STATS_max]
set logscale xy
set xtics ('128' 128, '256' 256, '512' 512, '1,024' 1024, '2,048' 2048, '4,096' 4096, '8,192' 8192, '16,384' 16384)
set lmargin at screen 0.1
set rmargin at screen 0.66
set tmargin 3
set bmargin 3.6
set key at graph 1.03, 0.98 left top reverse Left samplen 2 spacing 1.35
set xlabel 'length T (tokens)' textcolor rgb '#222222'
set multiplot layout 2,1
set ytics ('0.1' 0.1, '1' 1, '10' 10, '100' 100, '1,000' 1000, '10,000' 10000)
set label 1 'Milliseconds, forward and backward, one thread' at graph 0, 1.06 left textcolor rgb '#222222'
plot $(lines 4 yes)
set label 1 'MiB by which the process grows, beside inputs, outputs and gradients' at graph 0, 1.06
plot $(lines 5 no)
unset multiplot
EOT
