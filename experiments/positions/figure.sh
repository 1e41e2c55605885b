#!/usr/bin/env bash
# Draws the accuracy against the length of the sequences, a dot a run and a line through the medians, as RUNS/lengths.svg,
# and prints the medians.
#   experiments/positions/figure.sh RUNS
set -euo pipefail
cd -P "$(dirname "${BASH_SOURCE[0]}")/../.."
# shellcheck source=experiments/room.sh
source experiments/room.sh
runs=$1

# positions length median least most, a block for each kind.
awk -F, "$median"'
  NR == 1 { next }
  !($1 in known) { known[$1] = 1; kinds[++kind_count] = $1 }
  !($3 in lengths) { lengths[$3] = 1; order[++length_count] = $3 }
  { value[$1, $3, ++count[$1, $3]] = $4 + 0 }
  END {
    for (k = 1; k <= kind_count; ++k) {
      for (l = 1; l <= length_count; ++l) {
        n = count[kinds[k], order[l]]
        for (i = 1; i <= n; ++i) list[i] = value[kinds[k], order[l], i]
        middle = median(list, n)
        printf "%s %d %.3f %.3f %.3f\n", kinds[k], order[l], middle, least, most
      }
      print "\n"
    }
  }' "$runs/lengths.csv" > "$runs/lengths.medians"
printf '\n%-14s %7s   %s\n' positions length 'accuracy on induction positions: median (lowest to highest)'
awk 'NF == 5 { printf "%-14s %7d   %s (%s to %s)\n", $1, $2, $3, $4, $5 }' "$runs/lengths.medians"

# Dots, and the line, of one kind.
line() {
  printf "'%s' using (\$3*(1+%s)):(100*\$4) with points pointtype 7 pointsize 0.45 linecolor rgb '%s' notitle, " \
    "$runs/lengths-$1.data" "$4" "$2"
  printf "'%s' using (\$2*(1+%s)):(100*\$3) with lines linewidth 2.2 linecolor rgb '%s' title '%s', " \
    "$runs/lengths-$1.median" "$4" "$2" "$3"
}
for kind in none learned sinusoidal rotary alibi alibi-8-heads; do
  awk -F, -v kind="$kind" '$1 == kind { print $1, $2, $3, $4 }' "$runs/lengths.csv" > "$runs/lengths-$kind.data"
  awk -v kind="$kind" '$1 == kind' "$runs/lengths.medians" > "$runs/lengths-$kind.median"
done
lines=$(line none '#7a7a7a' none -0.016 && line learned '#0072b2' learned -0.008 && line sinusoidal '#d55e00' sinusoidal 0 &&
  line rotary '#009e73' rotary 0.008 && line alibi '#cc79a7' ALiBi 0.016 &&
  line alibi-8-heads '#e69f00' 'ALiBi, 8 heads' 0.024)

draw "$runs/lengths.svg" 880 440 13 << EOT
set logscale x 2
set xrange [45:205]
set yrange [0:101]
set xtics (48, 64, 96, 192)
set lmargin at screen 0.1
set rmargin at screen 0.8
set tmargin at screen 0.86
set bmargin at screen 0.16
set key at graph 1.03, 0.9 left top reverse Left samplen 1.5 spacing 1.35
set label 1 '{/:Bold Beyond the length of training}' at screen 0.014, 0.94 left font ',18' textcolor rgb '#222222'
set xlabel 'length of the sequences (trained at 48)' textcolor rgb '#222222'
set ylabel 'accuracy on induction positions (%)' textcolor rgb '#222222'
plot $lines NaN notitle
EOT
