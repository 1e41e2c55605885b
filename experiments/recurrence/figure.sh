#!/usr/bin/env bash
# Draws what run.sh measured, as RUNS/costs.svg and RUNS/copies.svg.
#   experiments/recurrence/figure.sh RUNS
set -euo pipefail
cd -P "$(dirname "${BASH_SOURCE[0]}")/../.."
# shellcheck source=experiments/room.sh
source experiments/room.sh
runs=$1

# One width's panel: its place among the blocks of the table, and the words above it.
panel() {
  echo "set title 'd = $2' textcolor rgb '#222222'
set arrow 1 from $2, graph 0 to $2, graph 1 nohead linewidth 1 dashtype 3 linecolor rgb '#7a7a7a'
set label 1 'T = d' at $2, graph 0.97 right offset -0.6, 0 textcolor rgb '#555555'
plot '$runs/costs' index $1 using 2:6 with linespoints linewidth 2.2 pointtype 7 pointsize 0.5 linecolor rgb '#d55e00' title 'attention', \\
  '' index $1 using 2:4 with linespoints linewidth 2.2 pointtype 7 pointsize 0.5 linecolor rgb '#0072b2' title 'recurrence', \\
  '' index $1 using 2:5 with linespoints linewidth 2.2 pointtype 7 pointsize 0.5 linecolor rgb '#56b4e9' title 'recurrence, each of 8 sequences', \\
  '' index $1 using 2:9 with lines linewidth 1.2 dashtype 2 linecolor rgb '#d55e00' title 'attention, whole layer', \\
  '' index $1 using 2:8 with lines linewidth 1.2 dashtype 2 linecolor rgb '#0072b2' title 'recurrence, whole layer'"
}

draw "$runs/costs.svg" 1060 430 14 << EOT
set grid xtics ytics linewidth 0.5 linecolor rgb '#e4e4e4'
set bmargin 3.6
set logscale xy 2
set logscale y 10
set xrange [50:5200]
set yrange [0.02:500]
set xtics ('64' 64, '256' 256, '1,024' 1024, '4,096' 4096)
set format y '%g'
set xlabel 'T, positions' textcolor rgb '#222222'
set ylabel 'milliseconds a sequence, forward, one thread' textcolor rgb '#222222'
set multiplot
unset key
set lmargin at screen 0.075
set rmargin at screen 0.37
$(panel 0 256)
unset ylabel
set key at graph 1.06, 0.75 left top Left reverse samplen 2 spacing 1.4
set lmargin at screen 0.425
set rmargin at screen 0.72
$(panel 1 512)
unset multiplot
EOT

lines=''
colours=('#56b4e9' '#0072b2' '#009e73')
i=0
for file in "$runs"/copies-64.csv "$runs"/copies-128.csv "$runs"/copies-256.csv; do
  [ -f "$file" ] || continue
  width=${file##*-}
  lines+=", '$file' using 1:2 with lines linewidth 2.2 linecolor rgb '${colours[i]}' title 'two recurrent layers, width ${width%.csv}'"
  i=$((i + 1))
done
draw "$runs/copies.svg" 820 420 14 << EOT
set grid xtics ytics linewidth 0.5 linecolor rgb '#e4e4e4'
set bmargin 3.6
set datafile separator comma
set datafile commentschars '#'
set yrange [0:4.6]
set xlabel 'training step' textcolor rgb '#222222'
set ylabel 'loss on induction positions (nats)' textcolor rgb '#222222'
set key at graph 0.98, 0.7 right Right samplen 2 spacing 1.3
set label 1 'ln 64' at graph 0.99, first 4.3 right textcolor rgb '#555555'
set arrow 1 from graph 0, first log(64) to graph 1, first log(64) nohead linewidth 1 dashtype 3 linecolor rgb '#7a7a7a'
plot '$runs/attention/metrics.csv' using (column('step')):(column('loss_induction')) with lines linewidth 2.2 linecolor rgb '#d55e00' title 'two layers of attention, width 64'$lines
EOT
