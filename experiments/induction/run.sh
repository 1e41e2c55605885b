#!/usr/bin/env bash
# Grows induction heads and takes them apart: trains, scores, ablates and patches every head, draws the figures,
# and gives the verdict.
#   experiments/induction/run.sh [--fresh | --quick]
# A finished run is used as it is, a stopped one is gone on with; --fresh trains it again. --quick has 1,000 steps in a
# folder of its own, runs the controls' short form too, and ends with status 1 if the verdict is not induction.
# TAPEHEAD names a program other than the one it builds, TAPEHEAD_RUNS a folder for the runs other than runs/.
set -euo pipefail
cd -P "$(dirname "${BASH_SOURCE[0]}")/../.."
# shellcheck source=experiments/room.sh
source experiments/room.sh

run=${TAPEHEAD_RUNS:-runs}/induction
overwrite=() settings=() quick=
case "$*" in
  "") ;;
  --fresh) overwrite=(--overwrite) ;;
  --quick)
    run=$run-quick quick=yes
    settings=(--set train.steps=1000 --set train.evaluation_interval=25)
    ;;
  *)
    echo "usage: experiments/induction/run.sh [--fresh | --quick]" >&2
    exit 2
    ;;
esac

# Whether the checkpoint of the last step is there.
finished() {
  local steps
  steps=$(sed -n 's/^steps *= *\([0-9]*\).*/\1/p' "$run/config.toml" 2> /dev/null) || return 1
  [ -n "$steps" ] && [ -f "$(printf '%s/checkpoints/step-%06d.safetensors' "$run" "$steps")" ]
}

build tapehead_program

if [ ${#overwrite[@]} -eq 0 ] && finished; then
  echo "$run holds a finished run; --fresh trains it again"
elif [ ${#overwrite[@]} -eq 0 ] && [ -e "$run/config.toml" ]; then
  "$tapehead" train --resume "$run"
else
  "$tapehead" train configs/induction.toml --out "$run" "${settings[@]}" "${overwrite[@]}"
fi

"$tapehead" heads "$run"
"$tapehead" ablate "$run"
"$tapehead" patch "$run"
"$tapehead" plot "$run"
verdict=$("$tapehead" verdict "$run")
echo "$verdict"
"$tapehead" ablate "$run" --kind all > /dev/null
"$tapehead" report "$run" --measure > /dev/null

echo
echo "A page to explore, in any browser:"
realpath "$run/report.html"
echo "Figures:"
ls -1 "$(realpath "$run")"/figures/*.png

if [ -n "$quick" ]; then
  experiments/induction/controls.sh --quick
  if ! grep --quiet ': induction$' <<< "$verdict"; then
    echo "expected the verdict: induction" >&2
    exit 1
  fi
fi
