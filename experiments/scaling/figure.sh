#!/usr/bin/env bash
# Draws how the largest weight and the entropy of run.sh's rows are spread, raw and scaled, as RUNS/rows.svg.
#   experiments/scaling/figure.sh RUNS
set -euo pipefail
cd -P "$(dirname "${BASH_SOURCE[0]}")/../.."
# shellcheck source=experiments/room.sh
source experiments/room.sh
runs=$1

# Of a column of rows.csv: the middle of every bin of that width up to a highest value, and the share of rows in it.
histogram() {
  awk -F, -v column="$1" -v width="$2" -v highest="$3" '
    NR == 1 { for (i = 1; i <= NF; ++i) at[$i] = i; next }
    { bin = int($at[column] / width); last = int(highest / width + 0.5) - 1; ++count[bin > last ? last : bin] }
    END { for (bin = 0; bin <= last; ++bin) print (bin + 0.5) * width, 100 * count[bin] / (NR - 1) }' "$runs/rows.csv"
}
# 45 bins up to ln 16, the entropy of an even row.
highest=$(awk 'BEGIN { print log(16) }') width=$(awk 'BEGIN { print log(16) / 45 }')
for kind in raw scaled; do
  histogram "largest_$kind" 0.025 1 > "$runs/largest_$kind.data"
  histogram "entropy_$kind" "$width" "$highest" > "$runs/entropy_$kind.data"
done

# One panel: what is counted (its files' name), and a label for its axis.
panel() {
  printf "set xlabel '%s' textcolor rgb '#222222'\n" "$2"
  printf "plot '%s' with boxes fillcolor rgb '#d55e00' title 'raw scores', " "$runs/$1_raw.data"
  printf "'%s' with boxes fillcolor rgb '#0072b2' title 'scores / √128'\n" "$runs/$1_scaled.data"
}

{
  cat << EOT
set style fill transparent solid 0.75 noborder
set boxwidth 0.95 relative
set ylabel 'share of rows (%)' textcolor rgb '#222222'
set lmargin 8
set bmargin 3.6
set tmargin 1.5
set multiplot layout 1,2
set xrange [0:1]
set yrange [0:60]
set xtics 0, 0.25, 1
unset key
EOT
  panel largest 'largest weight of a row'
  cat << EOT
unset ylabel
set xrange [0:$highest]
set xtics ('0' 0, '0.5' 0.5, '1' 1, '1.5' 1.5, '2' 2, 'ln 16' $highest)
set key top center reverse Left samplen 1.5 spacing 1.3
EOT
  panel entropy 'entropy of a row (nats); ln 16 is an even row'
  echo 'unset multiplot'
} | draw "$runs/rows.svg" 860 340 14
