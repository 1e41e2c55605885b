#!/usr/bin/env bash
# Models taken in from other programs and handed out to them, from the command line.
#   tests/app/exchange.sh TAPEHEAD
set -euo pipefail
golden=$(realpath "$(dirname "${BASH_SOURCE[0]}")/../golden")
# shellcheck source=tests/app/checks.sh
source "$(dirname "${BASH_SOURCE[0]}")/checks.sh"

gpt2=(--set model.feed_forward=32 --set model.norm=layer)
expect 0 train tiny.toml --out run "${gpt2[@]}"

names_in() { (cd "$1" && echo *); }

every_format() {
  local format
  for format in gpt2 nanogpt transformer-lens; do
    expect 0 export run --format "$format" --out "made/$format"
    check_not "$call: expected nothing on standard output" test -s out
    says 'the model of step 20' "made/$format"
    check "made/$format: wrong files" test "$(names_in "made/$format")" = "config.json model.safetensors"
  done
  expect 0 export run --format nanogpt --out made/again
  says "minGPT's GPT computes what this model does"
  expect 0 export run --format npz --out made/npz
  check "made/npz: wrong files" test "$(names_in made/npz)" = "config.json model.npz"
  expect 0 export run --format gpt2 --out made/early --step 8
  says 'the model of step 8'
  check_not "export --step 8: expected another model than that of step 20" \
    cmp made/early/model.safetensors made/gpt2/model.safetensors
}

there_and_back() {
  expect 0 import made/gpt2 --out back
  check_not "$call: expected nothing on standard output" test -s out
  says 'imported' 'tapehead heads back'
  check "back: wrong files" test "$(names_in back)" = "checkpoints config.toml"
  check "back/checkpoints: wrong files" test "$(names_in back/checkpoints)" = step-000000.safetensors
  expect 0 inspect back
  prints 'one training step'
  expect 0 export back --format gpt2 --out made/back
  same_file made/gpt2/model.safetensors made/back/model.safetensors
  expect 0 heads back
  prints 'layer 1 head 1'
  expect 0 ablate back --sequences 4 --head 0.1
  expect 0 import made/gpt2/model.safetensors --out back2 --set train.steps=2 --set train.evaluation_sequences=4
  expect 0 train --resume back2
  check "back2: expected a checkpoint of step 2" test -f back2/checkpoints/step-000002.safetensors
}

a_model_of_pytorch() {
  expect 0 import "$golden/gpt2-tied-bf16" --out imported
  says warning 'embd_pdrop'
  expect 0 heads imported --json
  is_json 'len(d["heads"]) == 4 and d["step"] == 0'
}

wrong_calls() {
  refuses RUN missing 'export --help' -- export
  refuses --format missing -- export run --out new
  refuses --out missing -- export run --format gpt2
  refuses gguf 'gpt2, nanogpt, transformer-lens, npz' -- export run --format gguf --out new
  refuses 'made/gpt2' 'not an empty folder' -- export run --format gpt2 --out made/gpt2
  refuses nowhere 'not a run' -- export nowhere --format gpt2 --out new
  refuses --step ' 0 8 16 20' -- export run --format gpt2 --out new --step 3
  expect 0 train tiny.toml --out attention
  refuses model.norm model.feed_forward transformer-lens -- export attention --format gpt2 --out new
  refuses 'DIR|FILE' missing 'import --help' -- import
  refuses --out missing -- import made/gpt2
  refuses nowhere 'no such file' -- import nowhere --out new
  refuses model.safetensors 'not there' -- import made/npz --out new
  refuses 'holds a run already' --overwrite -- import made/gpt2 --out run
  refuses --set model.width 'only its dropout' -- import made/gpt2 --out new --set model.width=4
  refuses train.steps -- import made/gpt2 --out new --set train.stpes=4
  expect 1 import made/nanogpt --out new
  says error n_positions
  cp -r made/gpt2 cut
  truncate -s 1000 cut/model.safetensors
  expect 1 import cut --out new
  says error cut/model.safetensors
  check_not "a wrong call or file: expected nothing to be written" ls -d new
}

help_texts() {
  expect 0 import --help
  prints --out --set --overwrite 'DIR|FILE' config.json model.safetensors
  expect 0 export --help
  prints --format --out --step gpt2 nanogpt transformer-lens npz
}

every_format
there_and_back
a_model_of_pytorch
wrong_calls
help_texts
finish
