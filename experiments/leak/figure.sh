#!/usr/bin/env bash
# Draws how far the logits at each position move with each token, as RUNS/moved.svg.
#   experiments/leak/figure.sh RUNS
set -euo pipefail
cd -P "$(dirname "${BASH_SOURCE[0]}")/../.."
# shellcheck source=experiments/room.sh
source experiments/room.sh
runs=$1

for mask in with without; do
  # Changed, position, moved; what did not move at all is left white, and has its 0 written.
  awk -F, -v mask="$mask" '$1 == mask && $4 > 0 { print $2, $3, $4 }' "$runs/moved.csv" > "$runs/$mask.data"
  awk -F, -v mask="$mask" '$1 == mask && $4 == 0 { print $2, $3 }' "$runs/moved.csv" > "$runs/$mask.zeros"
done

# A panel: mask, its title, and where it stands.
panel() {
  printf 'set lmargin at screen %s\nset rmargin at screen %s\n' "$3" "$4"
  printf "set label 1 '%s' at graph 0, 1.07 left textcolor rgb '#222222'\n" "$2"
  printf "plot '%s' using 1:2:(0.5):(0.5):3 with boxxyerror fillcolor palette notitle" "$runs/$1.data"
  if [ -s "$runs/$1.zeros" ]; then
    printf ", '%s' using 1:2:('0') with labels textcolor rgb '#7a7a7a' notitle" "$runs/$1.zeros"
  fi
  echo
}

{
  cat << EOT
set border 0
unset grid
set tics nomirror scale 0 textcolor rgb '#222222'
set style fill solid noborder
set palette defined (0 '#f0f5fa', 0.5 '#56b4e9', 1 '#003a5d')
set cbrange [0:25]
set cblabel 'sum of the differences of 16 logits' offset 1.2,0 textcolor rgb '#222222'
set xrange [0.5:8.5]
set yrange [8.5:0.5]
set size ratio 1
set xlabel 'token changed' textcolor rgb '#222222'
set ylabel 'logits at position' textcolor rgb '#222222'
set tmargin at screen 0.88
set bmargin at screen 0.17
set multiplot layout 1,2
unset colorbox
EOT
  panel with 'with the mask' 0.08 0.41
  echo 'set colorbox noborder'
  panel without 'without the mask' 0.51 0.84
  echo 'unset multiplot'
} | draw "$runs/moved.svg" 860 400 14
