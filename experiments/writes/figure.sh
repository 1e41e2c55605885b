#!/usr/bin/env bash
# Draws the singular values of every head's circuits, as RUNS/singular.svg.
#   experiments/writes/figure.sh RUNS
set -euo pipefail
cd -P "$(dirname "${BASH_SOURCE[0]}")/../.."
# shellcheck source=experiments/room.sh
source experiments/room.sh
runs=$1

for circuit in QK OV; do
  for head in 0.0 0.1 1.0 1.1; do
    awk -F, -v circuit="$circuit" -v head="$head" '$1 == circuit && $2 == head { print $3, $4 }' "$runs/singular.csv" \
      > "$runs/$circuit-$head.data"
  done
done

panel() {
  printf "set label 1 '%s' at graph 0, 1.06 left textcolor rgb '#222222'\nplot " "$2"
  local head colour separator=''
  for head in '0.0 #0072b2' '0.1 #56b4e9' '1.0 #d55e00' '1.1 #e69f00'; do
    colour=${head#* } head=${head% *}
    printf "%s'%s' with linespoints linewidth 1.6 pointtype 7 pointsize 0.35 linecolor rgb '%s' title 'head %s'" \
      "$separator" "$runs/$1-$head.data" "$colour" "$head"
    separator=', '
  done
  echo
}

{
  cat << EOT
set logscale y
set format y '10^{%T}'
set xrange [0:65]
set yrange [1e-10:2]
set ytics 100
set mytics 1
set xtics 0, 16, 64
set arrow 1 from 32.5, graph 0 to 32.5, graph 1 nohead dashtype 2 linewidth 0.8 linecolor rgb '#7a7a7a'
set label 2 'width of a head' at 33.5, graph 0.95 left textcolor rgb '#7a7a7a'
set xlabel 'singular value, by size' textcolor rgb '#222222'
set ylabel 'share of the largest' textcolor rgb '#222222'
set key bottom left reverse Left samplen 2 spacing 1.3
set tmargin 2.5
set bmargin 3.6
set lmargin 9
set multiplot layout 1,2
EOT
  panel QK 'QK: where a head looks'
  echo 'unset ylabel; unset key'
  panel OV 'OV: what a head writes'
  echo 'unset multiplot'
} | draw "$runs/singular.svg" 860 380 14
