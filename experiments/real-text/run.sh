#!/usr/bin/env bash
# Learns a vocabulary from the King James Bible, trains a model of two layers and one of one layer on it side by side,
# and follows their in-context learning and their prefix matching over the training.
#   experiments/real-text/run.sh [--short | --quick]
# --short trains on less; --quick takes the project's README for a text. A run that is there already is not trained
# again.
set -euo pipefail
cd -P "$(dirname "${BASH_SOURCE[0]}")/../.."
# shellcheck source=experiments/room.sh
source experiments/room.sh

runs=${TAPEHEAD_RUNS:-runs}/real-text config=configs/real-text.toml text=data/kjv.txt period=64 sequences=32
settings=()
case "$*" in
  "") ;;
  --short) runs=$runs-short config=configs/real-text-short.toml ;;
  --quick)
    runs=$runs-quick text=README.md period=20 sequences=8
    settings=(model.vocabulary=320 model.context=64 model.width=32 task.length=64 train.steps=60 train.batch=8
      train.evaluation_interval=20 train.evaluation_sequences=8 train.checkpoints_per_doubling=1
      train.checkpoint_interval=0)
    ;;
  *)
    echo "usage: experiments/real-text/run.sh [--short | --quick]" >&2
    exit 2
    ;;
esac
build tapehead_program experiment_real_text
[ "$text" = README.md ] || data/bible.sh
[ "$text" != README.md ] || rm -rf "$runs"  # of a README that may have changed since
mkdir -p "$runs"

# The vocabulary is learnt from the part of the text that is trained on: the first nine tenths.
vocabulary=$(sed -n 's/^vocabulary *= *\([0-9]*\).*/\1/p' "$config")
[ -z "${settings[*]}" ] || vocabulary=320
if [ ! -s "$runs/tokenizer/merges.txt" ]; then
  # iconv ends with 1 where the cut falls inside a character, which it leaves out.
  head -c $(($(stat -c %s "$text") * 9 / 10)) "$text" |
    { iconv -c -f UTF-8 -t UTF-8 2> /dev/null || [ $? -eq 1 ]; } > "$runs/training.txt"
  "$tapehead" tokenizer train "$runs/training.txt" --vocabulary "$vocabulary" --out "$runs/tokenizer"
fi

# One model: its training, its in-context learning, and at every checkpoint what its heads look at in random tokens that
# repeat with one period.
follow() {
  local run=$runs/layers-$1 setting step words=(--set "model.layers=$1" --set "task.file=$text"
    --set "task.tokenizer=$runs/tokenizer")
  for setting in "${settings[@]}"; do words+=(--set "$setting"); done
  if [ ! -f "$run/finished" ]; then
    "$tapehead" train "$config" "${words[@]}" --out "$run" --overwrite --threads 1
    touch "$run/finished"
  fi
  "$tapehead" context "$run" --threads 1 > "$run/context.txt"
  for step in $(cut -d , -f 1 "$run/context.csv" | grep -v step | uniq); do
    "$tapehead" heads "$run" --step "$step" --periods "$period" --sequences "$sequences" --threads 1 > /dev/null
    awk -F, 'NR == 1 || $1 == "trained"' "$run/scores.csv"
  done | awk 'NR == 1 || !/^model/' > "$run/random.csv"
}
log=$runs/layers-1.log
follow 1 > "$log" 2>&1 &
follow 2
wait $! || { cat "$log" >&2; exit 1; }

"$tapehead" ablate "$runs/layers-2" --threads 2 > "$runs/ablation.txt"
for layers in 1 2; do "$tapehead" plot "$runs/layers-$layers" --only context,loss > /dev/null; done
"$tapehead" heads "$runs/layers-2" --periods "$period" --sequences "$sequences" > "$runs/heads.txt"
"$programs/real_text" "$text" "$runs/layers-1" "$runs/layers-2"
experiments/real-text/table.sh "$runs"
experiments/real-text/figure.sh "$runs"
