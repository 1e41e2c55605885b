#!/usr/bin/env bash
# Grows induction heads and takes them apart: trains, scores, ablates and patches every head, draws the figures,
# and gives the verdict.
#   experiments/induction/run.sh [--fresh]
# A finished run is used as it is, a stopped one is gone on with; --fresh trains it again.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

run=runs/induction
overwrite=()
case "$*" in
  "") ;;
  --fresh) overwrite=(--overwrite) ;;
  *)
    echo "usage: experiments/induction/run.sh [--fresh]" >&2
    exit 2
    ;;
esac

# Whether the checkpoint of the last step is there.
finished() {
  local steps
  steps=$(sed -n 's/^steps *= *\([0-9]*\).*/\1/p' "$run/config.toml" 2> /dev/null) || return 1
  [ -n "$steps" ] && [ -f "$(printf '%s/checkpoints/step-%06d.safetensors' "$run" "$steps")" ]
}

.ci/packages build
.ci/build tapehead_program

if [ ${#overwrite[@]} -eq 0 ] && finished; then
  echo "$run holds a finished run; --fresh trains it again"
elif [ ${#overwrite[@]} -eq 0 ] && [ -e "$run/config.toml" ]; then
  build/tapehead train --resume "$run"
else
  build/tapehead train configs/induction.toml "${overwrite[@]}"
fi

build/tapehead heads "$run"
build/tapehead ablate "$run"
build/tapehead patch "$run"
build/tapehead plot "$run"
build/tapehead verdict "$run"
build/tapehead ablate "$run" --kind all > /dev/null
build/tapehead report "$run" --measure > /dev/null

echo
echo "A page to explore, in any browser:"
echo "$PWD/$run/report.html"
echo "Figures:"
ls -1 "$PWD/$run"/figures/*.png
