#!/usr/bin/env bash
# Texts from the command line: training on one, writing on, and looking at attention.
#   tests/app/texts.sh TAPEHEAD
set -euo pipefail
# shellcheck source=tests/app/checks.sh
source "$(dirname "${BASH_SOURCE[0]}")/checks.sh"

for i in $(seq 1 60); do echo "Größe $i: the cat sat on the mat, and the mat sat on the cat."; done > "ein Text.txt"
on_text=(--set task.name=text --set "task.file=ein Text.txt" --set model.vocabulary=40 --set train.evaluation_interval=10)

training() {
  expect 0 train tiny.toml --out run "${on_text[@]}"
  check "a text's run: expected its tokenizer" test -s run/tokenizer/characters.json
  expect 0 eval run
  prints 'perplexity' 'bits per byte' 'held-out windows' 'floor: chance'
  check_not "a text: expected no floor but chance" grep -q 'floor: Bayes' out
  expect 0 eval run --json
  is_json 'd["evaluations"][1]["bits_per_byte"] > 0'
  for command in heads ablate plot inspect; do expect 0 "$command" run; done

  # The run goes on to the bit, and not on another text.
  expect 0 train tiny.toml --out stopped "${on_text[@]}"
  rm stopped/checkpoints/step-000020.safetensors
  expect 0 train --resume stopped --threads 2
  same_metrics run stopped
  same_file run/checkpoints/step-000020.safetensors stopped/checkpoints/step-000020.safetensors
  rm stopped/checkpoints/step-000020.safetensors
  cp "ein Text.txt" kept
  sed -i 's/cat/rat/' "ein Text.txt"
  refuses 'was trained on other data' -- train --resume stopped
  mv kept "ein Text.txt"

  refuses 'set model.vocabulary = ' -- train tiny.toml --out none "${on_text[@]}" --set model.vocabulary=7
  refuses 'expected the path of a text' -- train tiny.toml --out none --set task.name=text
  expect 1 train tiny.toml --out none "${on_text[@]}" --set task.file=nowhere.txt
  says 'cannot read nowhere.txt: No such file or directory'
  printf 'abc\377def' > broken.txt
  expect 1 train tiny.toml --out none "${on_text[@]}" --set task.file=broken.txt
  says 'expected UTF-8, got the byte 0xff at offset 3'
  expect 1 train tiny.toml --out none "${on_text[@]}" --set task.tokenizer=.
  says 'vocab.json'
  check_not "refused texts: expected no run" test -e none
}

writing() {
  expect 0 generate run --prompt 'the cat' --tokens 30
  prints 'the cat'
  cp out first
  expect 0 generate run --prompt 'the cat' --tokens 30
  same_file first out
  expect 0 generate run --prompt 'the cat' --tokens 30 --seed 2
  check_not "another seed: expected another text" cmp first out
  expect 0 generate run --prompt 'the cat' --tokens 30 --temperature 0 --seed 2
  cp out greedy
  expect 0 generate run --prompt 'the cat' --tokens 30 --top-k 1
  same_file greedy out
  expect 0 generate run --prompt 'the cat' --tokens 30 --top-p 0.000001
  same_file greedy out
  expect 0 generate run --prompt 'Größe' --tokens 0
  check "no tokens: expected the prompt alone" test "$(cat out)" = Größe
  expect 0 generate run --prompt 'Größe' --tokens 200 --json
  is_json 'len(d["tokens"]) == 205 and len(d["prompt_tokens"]) == 5 and d["text"].startswith("Größe")'

  refuses 'expected at least one token' -- generate run
  refuses '"Q" (U+0051)' -- generate run --prompt 'the Queen'
  refuses '--top-k' -- generate run --prompt a --top-k 0
  refuses 'top-p' -- generate run --prompt a --top-p 0
  refuses 'temperature' -- generate run --prompt a --temperature -1
  refuses '--temperature: expected a number' -- generate run --prompt a --temperature warm
  refuses '--tokens' -- generate run --prompt a --tokens -1
  refuses 'no checkpoint of step 7' -- generate run --prompt a --step 7

  # Without a tokenizer tokens are numbers.
  expect 0 train tiny.toml --out numbers
  expect 0 generate numbers --prompt '3 1 4' --tokens 20 --temperature 0
  check "tokens as numbers: expected 23" test "$(wc -w < out)" -eq 23
  refuses 'expected token ids from 0 to 15' -- generate numbers --prompt '3 16'
  refuses 'expected token ids from 0 to 15' -- generate numbers --prompt 'hello'
}

looking() {
  expect 0 attention run --text 'the cat sat' --head 0.1
  prints 'run at step 20, the text' 'layer 0 head 1' 'query key 0' '    3 ␣   ' '*: after an earlier copy'
  expect 0 attention run --text 'the cat sat' --head 0.1 --keys 2
  prints 'layer 0 head 1' '"t"' 'looks at'
  expect 0 attention run --text 'the cat sat' --json
  is_json 'len(d["heads"]) == 4 and all(abs(sum(row) - 1) < 1e-5 for row in d["heads"][3]["pattern"])'
  is_json 'd["labels"][4] == "\"c\"" and d["heads"][0]["pattern"][0] == [1] + [0] * 10'
  expect 0 attention numbers --text '1 2 3' --keys 1
  expect 0 lens run --text 'the cat sat'
  prints 'at position 10 of the text, whose token is "t"' 'layer 1'
  refuses 'do not repeat by construction' -- patch run --sequence 0
  refuses '--specials goes with --text' -- attention run --specials
  refuses 'expected at least one token' -- attention run --text ''
  refuses 'expected LAYER.HEAD' -- attention run --text a --head 7.7
  expect 1 attention run --text 'the cat sat on the mat on the cat'
  says 'more than the context of 16'
}

# Text that would move the cursor, change colours or turn lines around, and characters two columns wide.
hostile_text() {
  local _
  for _ in $(seq 1 40); do printf '漢字🙂 e\xcc\x81\xe2\x80\xae\e[31m\xc2\x9b\r\t<b>'; done > hostile.txt
  expect 0 train tiny.toml --out hostile --set task.name=text --set task.file=hostile.txt --set model.vocabulary=40 \
    --set train.steps=2
  local shown hostile
  for shown in '--head 1.0' '--keys 2' '--head 1.0 --json'; do
    read -ra words <<< "$shown"
    expect 0 attention hostile "${words[@]}"
    for hostile in $'\e' $'\r' $'\xc2\x9b' $'\xe2\x80\xae'; do
      LC_ALL=C check_not "$call: expected nothing hostile" grep -aqF "$hostile" out
    done
  done
  expect 0 attention hostile --text '漢字🙂 e漢字' --head 1.0 --png map.png
  prints '          漢字🙂␣ e 漢字' '    2 🙂  ' '    4 e   '
  rm -r hostile
}

# A vocabulary learnt from a text, written where the text task, other commands and other programs read it.
learning() {
  expect 0 tokenizer train "ein Text.txt" --vocabulary 280 --out learnt
  prints '280 tokens learnt from ein Text.txt: ' 'which stand together' 'wrote learnt'
  check "merges.txt: expected 24 merges" test "$(tail -n +2 learnt/merges.txt | wc -l)" -eq 24
  expect 0 tokenizer train "ein Text.txt" --vocabulary 280 --out again --json
  is_json 'd["vocabulary"] == 280 and len(d["merges"]) == 24 and d["bytes"] > d["tokens"]'
  same_file learnt/merges.txt again/merges.txt
  same_file learnt/vocab.json again/vocab.json
  expect 0 tokenizer train "ein Text.txt" --vocabulary 100000 --out ended --end-of-text
  prints 'fewer than the 100,000 asked for'
  check "vocab.json: expected <|endoftext|>" grep -q 'endoftext' ended/vocab.json
  expect 0 train tiny.toml --out pairs "${on_text[@]}" --set task.tokenizer=learnt --set model.vocabulary=280
  same_file learnt/merges.txt pairs/tokenizer/merges.txt
  expect 0 eval pairs
  prints 'bits per byte'
  expect 0 generate pairs --prompt 'die größte Katze' --tokens 5
  prints 'die größte Katze'
  expect 0 attention pairs --text 'the cat sat' --keys 1
  expect 0 heads pairs --periods 4,5
  expect 0 context pairs --sequences 6
  prints 'negative: the context helps'
  expect 0 plot pairs --only context

  refuses 'expected the word train first, got nothing' -- tokenizer
  refuses "got 'learn'" -- tokenizer learn "ein Text.txt"
  refuses '--vocabulary is missing' -- tokenizer train "ein Text.txt" --out new
  refuses '--out is missing' -- tokenizer train "ein Text.txt" --vocabulary 280
  refuses '256 tokens or more, got 255' -- tokenizer train "ein Text.txt" --vocabulary 255 --out new
  refuses 'learnt is there already' -- tokenizer train "ein Text.txt" --vocabulary 280 --out learnt
  refuses TEXT -- tokenizer train --vocabulary 280 --out new
  : > empty.txt
  refuses 'empty.txt is empty' -- tokenizer train empty.txt --vocabulary 280 --out new
  expect 1 tokenizer train broken.txt --vocabulary 280 --out new
  says 'expected UTF-8, got the byte 0xff at offset 3'
  expect 1 tokenizer train nowhere.txt --vocabulary 280 --out new
  check_not "refused texts: expected no folder" test -e new
}

training
learning
writing
looking
hostile_text
finish
