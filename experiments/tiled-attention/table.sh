#!/usr/bin/env bash
# Medians of run.sh's rounds, as RUNS/KIND.median (length, milliseconds forward, backward, both, MiB), and their table.
#   experiments/tiled-attention/table.sh RUNS
set -euo pipefail
cd -P "$(dirname "${BASH_SOURCE[0]}")/../.."
# shellcheck source=experiments/room.sh
source experiments/room.sh
runs=$1

for data in "$runs"/*.data; do
  awk "$median"'
    function median_of(length_, column,    row, list) {
      for (row = 1; row <= count[length_]; ++row) list[row] = cell[length_, row, column]
      return median(list, count[length_])
    }
    { row = ++count[$1]
      cell[$1, row, 1] = $2; cell[$1, row, 2] = $3; cell[$1, row, 3] = $2 + $3; cell[$1, row, 4] = $NF
      cell[$1, row, 5] = NF == 5 ? $4 : 0 }
    END {
      for (length_ in count) {
        printf "%d", length_
        for (i = 1; i <= 3; ++i) printf " %.3f", median_of(length_, i)
        printf " %.4f %.4f\n", median_of(length_, 4) / 1048576, median_of(length_, 5) / 1048576
      }
    }' "$data" | sort -n > "${data%.data}.median"
done

awk '
  FNR == 1 { kind = FILENAME; sub(/.*\//, "", kind); sub(/\.median$/, "", kind) }
  { time[kind, $1] = $4; grown[kind, $1] = $5; arrays[kind, $1] = $6
    if (kind == "tiled") { lengths[++n] = $1; forward[$1] = $2; backward[$1] = $3 } }
  function ratio(kind, length_) {
    return ((kind, length_) in time) ? sprintf("%.2f", time[kind, length_] / time["tiled", length_]) : "-"
  }
  function of(table, kind, length_) {
    return ((kind, length_) in table) ? sprintf("%.2f", table[kind, length_]) : "-"
  }
  END {
    printf "\n%7s %10s %10s   %s\n", "", "tiled, ms", "", "times as long"
    printf "%7s %10s %10s %9s %9s %9s %9s\n", "T", "forward", "backward", "pattern", "blocks", "plain", "own"
    for (i = 1; i <= n; ++i)
      printf "%7d %10.2f %10.2f %9s %9s %9s %9s\n", lengths[i], forward[lengths[i]], backward[lengths[i]],
        ratio("pattern", lengths[i]), ratio("torch-blocks", lengths[i]), ratio("torch-plain", lengths[i]),
        ratio("torch-own", lengths[i])
    printf "\n%7s %21s   %s\n", "", "MiB of arrays", "MiB by which the process grew"
    printf "%7s %10s %10s %9s %9s %9s %9s %9s\n", "T", "tiled", "pattern", "tiled", "pattern", "blocks", "plain", "own"
    for (i = 1; i <= n; ++i)
      printf "%7d %10s %10s %9s %9s %9s %9s %9s\n", lengths[i], of(arrays, "tiled", lengths[i]),
        of(arrays, "pattern", lengths[i]), of(grown, "tiled", lengths[i]), of(grown, "pattern", lengths[i]),
        of(grown, "torch-blocks", lengths[i]), of(grown, "torch-plain", lengths[i]), of(grown, "torch-own", lengths[i])
  }' "$runs"/*.median | tee "$runs/table"
