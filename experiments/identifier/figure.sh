#!/usr/bin/env bash
# Draws the losses of all runs of run.sh against training step, as RUNS/loss.svg.
#   experiments/identifier/figure.sh RUNS
set -euo pipefail
cd -P "$(dirname "${BASH_SOURCE[0]}")/../.."
# shellcheck source=experiments/room.sh
source experiments/room.sh
runs=$1

# The curves of one column, for each number of layers.
curves() {
  local layers run words
  for layers in 1 2; do
    for run in "$runs/layers-$layers"-seed-*/; do
      words=notitle
      [[ $run = *seed-1/ ]] && words="title '$layers layer$([ "$layers" = 1 ] || echo s)'"
      printf "'%smetrics.csv' using (column('step')):(column('%s')) with lines linewidth 1.6 linecolor rgb '%s' %s, " \
        "$run" "$1" "$([ "$layers" = 1 ] && echo '#d55e00' || echo '#0072b2')" "$words"
    done
  done
}

on_digits=$(curves loss_induction)
elsewhere=$(curves loss_noise)
draw "$runs/loss.svg" 900 420 14 << EOT
set datafile separator comma
set bmargin 3.6
set yrange [0:4]
set xlabel 'training step' textcolor rgb '#222222'
set ylabel 'loss (nats)' textcolor rgb '#222222'
set key top right samplen 2 spacing 1.3
set multiplot layout 1,2
set title "digits of an identifier's second occurrence" textcolor rgb '#222222'
set label 1 'ln 10' at graph 0.99, first 2.42 right textcolor rgb '#555555'
set arrow 1 from graph 0, first log(10) to graph 1, first log(10) nohead linewidth 1 dashtype 3 linecolor rgb '#7a7a7a'
plot ${on_digits%, }
unset label 1
unset arrow 1
unset ylabel
set title 'all other characters' textcolor rgb '#222222'
plot ${elsewhere%, }
unset multiplot
EOT
