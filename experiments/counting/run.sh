#!/usr/bin/env bash
# Counts parameters and operations, and compares them with the texts' formulas:
#   experiments/counting/run.sh [--quick]
# --quick takes shorter sequences and fewer configs. Ends with status 1 where a count is not what the formula says.
set -euo pipefail
cd -P "$(dirname "${BASH_SOURCE[0]}")/../.."
# shellcheck source=experiments/room.sh
source experiments/room.sh
enter counting 'tapehead_program experiment_counting' "$@"

length=1024
configs=(induction induction-one-layer reference-copy speed-copy speed-feed-forward speed-gpt2-block speed-gpt2)
[ -z "$quick" ] || length=32 configs=(induction speed-feed-forward)
mkdir -p "$runs"
paths=("${configs[@]/#/configs/}")
paths=("${paths[@]/%/.toml}")

"$programs/counting" "$length" "$runs" "${paths[@]}" | tee "$runs/counts"

# The same by what `tapehead inspect` counts in a training step.
status=0
printf '\n%-34s %24s %36s\n' 'tapehead inspect' 'parameters' 'operations of a training step'
while IFS=, read -r config parameters operations; do
  counted=$("$tapehead" inspect "$config" --json)
  counted_parameters=$(sed -n 's/^  "parameter_count": \([0-9]*\).*/\1/p' <<< "$counted")
  counted_operations=$(sed -n 's/^    "operations": \([0-9][0-9]*\).*/\1/p' <<< "$counted")
  verdict='as by formula'
  if [ "$counted_parameters,$counted_operations" != "$parameters,$operations" ]; then
    verdict="NOT WHAT THE FORMULA SAYS: $parameters, $operations" status=1
  fi
  printf "%-34s %24d %36d   %s\n" "$config" "$counted_parameters" "$counted_operations" "$verdict"
done < "$runs/formula.csv"
experiments/counting/figure.sh "$runs"
exit "$status"
