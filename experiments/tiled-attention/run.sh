#!/usr/bin/env bash
# Measures attention in tiles and with its pattern held, and PyTorch's, against the length:
#   experiments/tiled-attention/run.sh [--quick]
# Takes 3.3 GB of memory; --quick takes short texts. Ends with status 1 where our two ways differ by more than rounding. PyTorch
# is left out where it is not installed.
set -euo pipefail
cd -P "$(dirname "${BASH_SOURCE[0]}")/../.."
# shellcheck source=experiments/room.sh
source experiments/room.sh
enter tiled-attention experiment_tiled_attention "$@"

rounds=3 seconds=0.5 lengths=(256 512 1024 2048 4096 8192 16384) torch_longest=8192 checked=(1000 2048)
[ -z "$quick" ] || rounds=1 seconds=0.02 lengths=(128 256 512) torch_longest=256 checked=(200)
ours=$programs/tiled_attention
# Debian's own, which sees Debian's PyTorch.
python=/usr/bin/python3
torch=()
if "$python" -c 'import torch' 2> /dev/null; then
  torch=(own plain blocks)
else
  echo "PyTorch is not installed: our own ways alone" >&2
fi
mkdir -p "$runs"
rm -f "$runs"/*.data

for length in "${checked[@]}"; do "$ours" check "$length"; done

# In turns, each in a process of its own: a process grows once.
for ((round = 0; round < rounds; ++round)); do
  for length in "${lengths[@]}"; do
    for kind in tiled pattern; do "$ours" "$kind" "$length" "$seconds" >> "$runs/$kind.data"; done
    [ "$length" -le "$torch_longest" ] || continue
    for kind in "${torch[@]}"; do
      OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1 "$python" experiments/tiled-attention/attention_torch.py "$kind" "$length" \
        "$seconds" >> "$runs/torch-$kind.data"
    done
  done
done

experiments/tiled-attention/table.sh "$runs"
experiments/tiled-attention/figure.sh "$runs"
