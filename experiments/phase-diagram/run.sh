#!/usr/bin/env bash
# Trains the induction model at every point of a grid of heads, width and longest period:
#   experiments/phase-diagram/run.sh [--quick] [SEEDS]     default: 5 seeds, 240 runs
# --quick has one seed, 60 steps and 8 runs. Runs that are there already are kept.
set -euo pipefail
cd -P "$(dirname "${BASH_SOURCE[0]}")/../.."
# shellcheck source=experiments/sweeps.sh
source experiments/sweeps.sh
enter_sweeps phase-diagram 5 60 "$@"

heads=1,2,4,8 widths=16,32,64,128 longest=8,12,24
if [ "$steps" -lt 2000 ]; then heads=1,2 widths=16,32 longest=8,12; fi
sweep grid configs/induction.toml --grid "model.heads=$heads" --grid "model.width=$widths" \
  --grid "task.period_max=$longest" --set train.evaluation_interval=20
cat "$runs/grid.log"
