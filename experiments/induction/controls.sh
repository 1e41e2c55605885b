#!/usr/bin/env bash
# The controls: one layer on the same data, and one layer on data that can be copied by position alone.
#   experiments/induction/controls.sh
# A run that is there already is used as it is. Needs build/tapehead; experiments/induction/run.sh makes it.
set -euo pipefail
cd -P "$(dirname "${BASH_SOURCE[0]}")/../.."

for twin in induction-one-layer fixed-period-one-layer; do
  if [ ! -e "runs/$twin" ]; then
    build/tapehead train "configs/$twin.toml"
  elif [ ! -e "runs/$twin/checkpoints/step-002000.safetensors" ]; then
    build/tapehead train --resume "runs/$twin"
  fi
  echo
  build/tapehead eval "runs/$twin" --periods 6,10,11,12,13,14,24
done
