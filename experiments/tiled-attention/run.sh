#!/usr/bin/env bash
# Measures attention in tiles and with its pattern held, and PyTorch's, against the length:
#   experiments/tiled-attention/run.sh [--quick]
# Some five minutes of one core, once it is built, and 3.3 GB of memory; --quick takes short texts. Ends with status 1
# where our two ways differ by more than rounding. PyTorch is left out where it is not installed. TAPEHEAD_ROOMS names a
# folder with the program of this room, TAPEHEAD_RUNS a folder for what it writes other than runs/.
set -euo pipefail
cd -P "$(dirname "${BASH_SOURCE[0]}")/../.."

runs=${TAPEHEAD_RUNS:-runs}/tiled-attention rounds=3 seconds=0.5
lengths=(256 512 1024 2048 4096 8192 16384) torch_longest=8192 checked=(1000 2048)
case "$*" in
  "") ;;
  --quick)
    runs=$runs-quick rounds=1 seconds=0.02
    lengths=(128 256 512) torch_longest=256 checked=(200)
    ;;
  *)
    echo "usage: experiments/tiled-attention/run.sh [--quick]" >&2
    exit 2
    ;;
esac
if [ -z "${TAPEHEAD_ROOMS:-}" ]; then
  .ci/packages build
  .ci/build experiment_tiled_attention
fi
ours=${TAPEHEAD_ROOMS:-build/experiments}/tiled_attention
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
