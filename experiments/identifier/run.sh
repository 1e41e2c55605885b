#!/usr/bin/env bash
# Learns to copy an identifier in lines of text, with two layers and with one, and takes the copying apart:
#   experiments/identifier/run.sh [--quick]
# --quick has one seed of each and fewer steps.
set -euo pipefail
cd -P "$(dirname "${BASH_SOURCE[0]}")/../.."
# shellcheck source=experiments/room.sh
source experiments/room.sh
enter identifier tapehead_program "$@"

seeds=3 settings=()
[ -z "$quick" ] || seeds=1 settings=(--set train.steps=900 --set train.evaluation_sequences=64)
mkdir -p "$runs"

# The last value of a column of a run's metrics.
last() {
  awk -F, -v column="$2" '
    NR == 1 { for (i = 1; i <= NF; ++i) at[$i] = i; next }
    { value = $at[column] }
    END { print value }' "$1/metrics.csv"
}

for seed in $(seq "$seeds"); do
  for layers in 2 1; do
    run=$runs/layers-$layers-seed-$seed
    logged "$run.log" "$tapehead" train configs/identifier.toml "${settings[@]}" --set "model.layers=$layers" \
      --set "train.initialisation_seed=$seed" --set "train.data_seed=$seed" \
      --out "$run" --overwrite
    printf '%d layers, seed %d: loss on the second occurrence %.3f, elsewhere %.3f; accuracy there %.3f\n' "$layers" \
      "$seed" "$(last "$run" loss_induction)" "$(last "$run" loss_noise)" "$(last "$run" accuracy_induction)"
  done
done

run=$runs/layers-2-seed-1
echo
"$tapehead" heads "$run"
echo
"$tapehead" ablate "$run"
echo
"$tapehead" generate "$run" --prompt 'P-104 pump ' --tokens 60 --seed 1
echo

# The identifier as it was read; then with another first digit, with another letter, and after another line.
echo "likeliest next characters; | is the end of a line"
while read -r prompt; do
  "$tapehead" generate "$run" --prompt "${prompt//|/$'\n'}" --tokens 3 --temperature 0 2> /dev/null | tr '\n' '|'
  echo
done << 'EOT'
|P-104 pump leaks; cleaned; P-
|P-104 pump leaks; cleaned; new seal; added oil; P-
|P-104 pump leaks; cleaned; P-9
|P-104 pump leaks; cleaned; V-
|V-263 valve trips; reset; V-263 runs.|P-104 pump leaks; cleaned; P-
EOT

# The head that looks at the digit to be copied.
read -r layer head _ < <(best_head "$run" induction)
"$tapehead" attention "$run" --head "$layer.$head" --text $'\nP-104 pump leaks; cleaned; P-104 in' \
  --png "$runs/attention.png" > /dev/null
experiments/identifier/figure.sh "$runs"

# Guessing among the digits is right once in ten.
awk -v accuracy="$(last "$run" accuracy_induction)" \
  'BEGIN { if (accuracy < 0.3) { print "no digit is copied"; exit 1 } }'
