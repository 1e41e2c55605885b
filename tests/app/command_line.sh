#!/usr/bin/env bash
# The program as somebody at a shell meets it: exit status, what is printed, and where.
#   tests/app/command_line.sh TAPEHEAD
set -euo pipefail
# shellcheck source=tests/app/checks.sh
source "$(dirname "${BASH_SOURCE[0]}")/checks.sh"

expect 0 train tiny.toml --out run

help_and_version() {
  expect 0 --help
  prints Usage train fork eval ablate heads circuits verdict verify patch lens context formation sweep plot report inspect bench generate attention tokenizer import export "Exit status"
  expect 0 -h
  expect 0 --version
  check "--version: expected a name and a number, got $(cat out)" grep -xE 'tapehead [0-9]+\.[0-9]+\.[0-9]+' out
  expect 2
  prints Usage
  expect 0 train --help
  prints --out --set --overwrite --resume --threads CONFIG '[model]' '[task]' '[train]' period_min learning_rate \
    '[[intervention]]' checkpoint_steps
  local command
  for command in eval ablate heads circuits patch lens; do
    expect 0 "$command" --help
    prints --step --sequences --threads --json RUN
  done
  for command in eval heads; do
    expect 0 "$command" --help
    prints --periods
  done
  expect 0 ablate --help
  prints --head --layer --feed-forward --kind --subsets --most-heads zero mean resample pattern-preserving value-preserving
  expect 0 patch --help
  prints --site --by --to --layer --sequence residual head-position
  expect 0 lens --help
  prints --sequence --text --position
  expect 0 inspect --help
  prints --set --ranks --threads --gflops --gbytes --gbits --latency-us --json
  expect 0 attention --help
  prints --head --sequence --text --keys --png --json
  expect 0 bench --help
  prints --set --seconds --steps --threads --json CONFIG
  expect 0 sweep --help
  prints --seeds --jobs --set --out CONFIG
  expect 0 formation --help
  prints --out --json RUN...
  for command in train fork eval ablate heads circuits verdict verify patch lens context formation sweep plot report inspect bench generate attention tokenizer import export; do
    expect 0 "$command" --help
    cp out long
    check_not "$call: expected nothing on standard error" test -s err
    expect 0 "$command" -h
    same_file out long
  done
}

wrong_calls() {
  refuses frobnicate 'tapehead --help' -- frobnicate
  refuses trian "the nearest is 'train'" -- trian tiny.toml
  refuses CONFIG missing -- train
  refuses stpes 'train --help' -- train tiny.toml --stpes 3
  refuses surplus -- train tiny.toml surplus
  refuses surplus -- eval run surplus
  refuses out argument -- train tiny.toml --out
  refuses json -- train tiny.toml --json
  refuses --threads "'0'" -- train tiny.toml --threads 0
  refuses --threads "'two'" -- train tiny.toml --threads two
  refuses --threads -- train tiny.toml --threads 1 --threads 2
  refuses nowhere.toml -- train nowhere.toml
  refuses nowhere 'not a run' -- train --resume nowhere
  refuses --set --resume -- train --resume run --set train.steps=3
  local command
  for command in eval ablate heads circuits verdict verify patch lens context formation plot report; do
    refuses RUN missing "$command --help" -- "$command"
    refuses nowhere 'not a run' -- "$command" nowhere
    refuses tiny.toml 'not a run' -- "$command" tiny.toml
  done
  refuses RUN missing 'fork --help' -- fork
  refuses nowhere 'not a run' -- fork nowhere --out child
  refuses --out 'fork --help' -- fork run
  refuses 'no checkpoint of step 3' '0 8 16 20' -- fork run --step 3 --out child
  refuses 'nothing is left to train' -- fork run --out child
  refuses train.batch 'cannot change from 5 to 6' -- fork run --step 8 --out child --set train.batch=6
  refuses 'its own child' -- fork run --step 8 --out run --overwrite
  check_not "a wrong fork: expected nothing to be written" ls -d child
  refuses nowhere -- inspect nowhere
  refuses CONFIG missing 'bench --help' -- bench
  refuses nowhere.toml -- bench nowhere.toml
  refuses surplus -- bench tiny.toml surplus
  refuses stpes 'bench --help' -- bench tiny.toml --stpes 3
  refuses --steps "'0'" -- bench tiny.toml --steps 0
  refuses --steps "'-1'" -- bench tiny.toml --steps=-1
  for seconds in x 0 -1 nan inf 1s; do refuses --seconds "'$seconds'" -- bench tiny.toml "--seconds=$seconds"; done
  refuses --threads "'0'" -- bench tiny.toml --threads 0
  refuses model.heads -- bench tiny.toml --set model.heads=3
  refuses CONFIG missing 'sweep --help' -- sweep
  refuses --seeds "'0'" -- sweep tiny.toml --seeds 0
  refuses --seeds 'at most 100000' -- sweep tiny.toml --seeds 100001
  refuses --jobs "'-1'" -- sweep tiny.toml --jobs=-1
  refuses --jobs 'at most 1024' -- sweep tiny.toml --jobs 1025
  refuses train.data_seed 'sets this seed itself' -- sweep tiny.toml --set train.data_seed=3
  refuses train.data_seed 'sets this seed itself' -- sweep tiny.toml --set ' train.data_seed = 3'
  refuses "expected a folder, got ''" -- sweep tiny.toml --out ''
  refuses --out 'several runs' -- formation run --out table.csv
  refuses --out 'several runs' -- plot run --out figures
  refuses "'los'" 'the nearest is loss' attention shapley -- plot run --only heads,los
  refuses --only "'loss,'" -- plot run --only loss,
  refuses --format "'gif'" 'svg, png or pdf' -- plot run --format png,gif
  for size in wide 319 4001 440x 440x199 x440 440x500x3 -440; do
    refuses --size "'$size'" 'column, page, WIDTH or WIDTHxHEIGHT' -- plot run "--size=$size"
  done
}

wrong_configs() {
  refuses train.steps 'train.stepz' -- train tiny.toml --set train.stepz=3
  refuses train.steps '1.5' -- train tiny.toml --set train.steps=1.5
  refuses train.steps -- train tiny.toml --set train.steps=-1
  refuses train.steps -- train tiny.toml --set 'train.steps="3"'
  refuses 'table.key=value' -- train tiny.toml --set train.steps
  refuses model.heads -- train tiny.toml --set model.heads=3
  refuses task.length -- train tiny.toml --set task.length=17
  refuses no_task -- train tiny.toml --set task.name=no_task
  refuses fixed_period_sequence -- train tiny.toml --set task.period_min=6
  refuses 'intervention[0].site' -- train tiny.toml --set 'intervention=[{kind="zero"}]'
  refuses 'intervention[0].kind' "the nearest is" -- train tiny.toml --set 'intervention=[{kind="zeros"}]'
  { cat tiny.toml; echo 'lerning_rate = 1e-3'; } > wrong.toml
  refuses wrong.toml:16:1 lerning_rate learning_rate -- train wrong.toml
  refuses wrong.toml:16:1 -- inspect wrong.toml
  echo '[train' > broken.toml
  refuses broken.toml:1 -- train broken.toml --out run
  refuses train.steps -- train tiny.toml --out new --set train.steps=-1
  check_not "a wrong config or call: expected nothing to be written" ls -d runs new
}

looking_at_a_run() {
  local command
  for command in eval heads circuits ablate inspect; do
    expect 0 "$command" run
    check_not "$call: expected nothing on standard error" test -s err
    cp out table
    if [ "$command" != inspect ]; then
      expect 0 "$command" run --threads 2
      same_file out table
      expect 0 "$command" run --threads 1
      same_file out table
    fi
  done
  check "ablation.csv: wrong columns" grep -qE \
    '^kind,layer,head,change_loss,change_induction,low,high,change_noise,accuracy_induction(,|$)' run/ablation.csv
  check "ablation.csv: wrong rows" test "$(tail -n +2 run/ablation.csv | cut -d , -f 1-3 | xargs)" = \
    "zero,0,0 zero,0,1 zero,0,all zero,1,0 zero,1,1 zero,1,all"
  expect 0 eval run --json
  is_json 'd["step"] == 20 and len(d["evaluations"]) == 1 and d["evaluations"][0]["loss"] > 0'
  is_json '[f["predictor"] for f in d["floors"]] == ["chance", "current token", "last two", "Bayes"]'
  is_json 'd["floors"][3]["loss"] < d["floors"][0]["loss"] and d["floors"][3]["sequences"] == 8'
  expect 0 eval run --json --periods 2,9 --step 8
  is_json 'd["step"] == 8 and [e["data"] for e in d["evaluations"]][1:] == ["period 2", "period 9"]'
  expect 0 eval run --json --length 9 --periods 8
  is_json '[e["data"] for e in d["evaluations"]] == ["length 9", "period 8"]'
  expect 0 heads run --json
  is_json '[(h["layer"], h["head"]) for h in d["heads"]] == [(0, 0), (0, 1), (1, 0), (1, 1)]'
  is_json '0 < d["chance"]["induction"] < 1 and d["chance"]["copying"] == 2 / 16 - 1'
  is_json 'all(-1 <= h["copying"] <= 1 for h in d["heads"])'
  check_not "heads: expected no table without --periods" test -e run/scores.csv
  heads_at_periods
  attention_maps
  circuits_of_a_run
  expect 0 ablate run --json
  is_json '[a["head"] for a in d["ablations"]] == [0, 1, "all"] * 2 and d["sequences"] == 8'
  expect 0 inspect run --json
  is_json 'sum(p["count"] for p in d["parameters"]) == d["parameter_count"] == 896'
  is_json 'd["step"]["operations"] * d["forward"]["tokens"] == 3 * sum(d["forward"]["operations"].values()) * d["step"]["tokens"]'
  expect 0 inspect run
  prints 'blocks.*.attention.pattern' 'operations a token'
  expect 0 inspect tiny.toml --json
  is_json 'd["parameter_count"] == 896'
  expect 0 inspect run/checkpoints/step-000020.safetensors
  prints 'blocks.1.attention.qkv.weight' 'F32' '(24, 8)' '"step" = "20"'
  expect 0 inspect run/checkpoints/step-000020.safetensors --json
  is_json 'len(d["tensors"]) == 21 and d["metadata"]["task"] == "repeated_sequence"'
  expect 0 plot run
  check "plot: expected a figure" test -s out
  while IFS= read -r figure; do check "plot: expected $figure" test -s "$figure"; done < out
  expect 0 plot run --only heads,loss --format pdf,png --size column
  check "$call: expected two figures in two formats" test "$(xargs -n 1 basename < out | xargs)" = \
    "loss.pdf loss.png heads.pdf heads.png"
  expect 1 plot run --only loss,lens --format png
  prints loss.png
  says 'run has no data for the figure lens yet; tapehead lens RUN makes them'
  expect 1 plot run --only loss --size 440x200
  says 'expected a height of at least' 'the figure loss'

  cp run/ablation.csv table
  expect 0 ablate run --head 0.1
  prints 'layer 0 head 1'
  check_not "ablate --head 0.1: expected no other head" grep -E 'layer 1|head 0|all heads' out
  expect 0 ablate run --head 1.0 --sequences 3 --json
  is_json '[(a["layer"], a["head"]) for a in d["ablations"]] == [(1, 0)] and d["sequences"] == 3'
  same_file run/ablation.csv table
  for head in 2.0 0.2 -1.0 0 0. .1 0.1.1 0.1x x ''; do refuses --head "'$head'" -- ablate run "--head=$head"; done
  ablating_together
  refuses --step ' 0 8 16 20' -- eval run --step 3
  refuses --sequences -- heads run --sequences 0
  refuses '--step: 99999999999999999999 is too large' -- eval run --step 99999999999999999999
  for command in eval heads ablate lens circuits patch verdict; do
    refuses --sequences 'fit in half of' -- "$command" run --sequences 1000000000000
  done
  refuses --periods -- eval run --periods 3,
  refuses period 16 -- eval run --periods 16
  refuses period 9 -- eval run --periods 9 --length 9
  refuses --length 'at most model.context (16), got 17' -- eval run --length 17
  refuses --length period_max -- eval run --length 6
}

attention_maps() {
  expect 0 attention run --head 1.0
  prints 'run at step 20, sequence ' ' of the evaluation batch' 'layer 1 head 0' 'query key 0         5         10        15' \
    'attention weight:  · below 0.05  ░░ from 0.05' '*: after an earlier copy of the query'
  check_not "$call: expected no escape sequence off a terminal" grep -q $'\x1b' out
  check_not "$call: expected nothing on standard error" test -s err
  expect 0 attention run
  prints 'layer 0 head 1' 'layer 1 head 1' 'position  token  looks at'
  expect 0 attention run --sequence 7 --head 0.1 --head 1.1 --json
  is_json '[(h["layer"], h["head"]) for h in d["heads"]] == [(0, 1), (1, 1)] and len(d["tokens"]) == 16'
  is_json 'd["where"] == "sequence 7 of the evaluation batch" and len(d["heads"][0]["pattern"]) == 16'
  expect 0 attention run --text '1 2 3 1 2' --head 1.0
  prints '    4 C  ' 'the text'
  expect 0 attention run --text 1 --head 1.0 --step 0 --png one.png
  prints '    0 B   ██'
  check "$call: expected a picture" grep -q PNG <(head -c 8 one.png)
  expect 0 attention run --head 1.0 --png map.svg
  check "$call: expected the head and the sequence in the picture" grep -q 'What layer 1 head 0 looks at' map.svg
  check_not "$call: expected no other file" ls map.png attention.svg
  refuses '--sequence' 'from 0 to 7, got 8' -- attention run --sequence 8
  refuses '--sequence' "'-1'" -- attention run --sequence=-1
  refuses --sequence --text -- attention run --sequence 1 --text '1 2'
  refuses --keys "'0'" -- attention run --keys 0
  refuses --png 'the map of one head' --head -- attention run --png map.png
  refuses --png 'ends in .png or .svg' "'map.pdf'" -- attention run --head 0.1 --png map.pdf
  refuses --png "''" -- attention run --head 0.1 --png ''
  expect 1 attention run --head 0.1 --png nowhere/map.png
  says nowhere/map.png
  expect 0 train tiny.toml --out no-layers --set model.layers=0 --set train.steps=1
  refuses 'no layers' -- attention no-layers
  refuses 'no layers' -- attention no-layers --head 0.0
  rm -r no-layers one.png map.svg
}

heads_at_periods() {
  expect 0 heads run --periods 4,9 --threads 1
  prints 'sequences of length 16 at each period' 'the ceiling of each score is 1' chance untrained 'step 20'
  cp out table
  expect 0 heads run --periods 9,4,9 --threads 2
  same_file out table
  check "scores.csv: wrong rows" test "$(cut -d , -f 1-5 run/scores.csv | sed -n '1p;2p;7p;$p' | xargs)" = \
    "model,period,trained_on,layer,head trained,4,1,0,0 trained,9,0,0,1 untrained,9,0,1,1"
  expect 0 heads run --periods 4 --json
  is_json '[(p["model"], p["step"], p["trained_on"]) for p in d["periods"]] == [("trained", 20, True), ("untrained", 0, True)]'
  refuses --periods -- heads run --periods 3,
  refuses periods 'from 1 to 15' -- heads run --periods 16
}

circuits_of_a_run() {
  check "circuits.csv: wrong rows" test "$(cut -d , -f 1-3 run/circuits.csv | head -n 1) $(wc -l < run/circuits.csv)" = \
    "layer,head,previous_token_circuit 5"
  check "composition.csv: wrong rows" test "$(tail -n +2 run/composition.csv | cut -d , -f 1-5 | head -n 4 | xargs)" = \
    "0,0,1,0,Q 0,0,1,0,K 0,0,1,0,V 0,1,1,0,Q"
  check "eigenvalues.csv: wrong rows" test "$(wc -l < run/eigenvalues.csv)" -eq $((1 + 4 * 3 * 4))
  check "attribution.csv: wrong rows" test "$(wc -l < run/attribution.csv)" -eq $((1 + 3 * (2 + 4 + 1)))
  expect 0 circuits run --json --step 8
  is_json 'd["step"] == 8 and len(d["heads"]) == 4 and len(d["composition"]) == 4'
  is_json 'abs(sum(c["induction"]["logit"] for c in d["attribution"]["components"]) - d["attribution"]["logits"]["induction"]["logit"]) < 1e-4'
  is_json 'd["attribution"]["largest_error"] < 1e-4 and 0 < d["chance"]["composition"] < 1'
  expect 0 circuits run
  prints 'the largest error is' 'nothing is folded or held' 'layer 1 head 1' chance ceiling random
}

patching() {
  # A small model that has learnt to copy, in half a second.
  expect 0 train tiny.toml --out copies --set model.width=32 --set train.learning_rate=0.01 --set train.steps=400 \
    --set train.batch=16 --set train.shard=8 --set train.evaluation_interval=200 --set train.checkpoint_interval=400
  expect 0 patch copies --threads 2
  check_not "$call: expected nothing on standard error" test -s err
  prints 'log-probability (nats)' 'head_output by head-position' 'residual by position' 'after the copy' 'layer 1 head 1'
  cp out table
  cp copies/patching.csv patching.csv
  expect 0 patch copies --threads 1
  same_file out table
  same_file copies/patching.csv patching.csv
  check "patching.csv: wrong columns" grep -qE '^site,by,to,layer,head,position,role,effect,low,high,clean,corrupted,' \
    patching.csv
  check "patching.csv: wrong grids" test "$(tail -n +2 patching.csv | cut -d , -f 1-3 | uniq -c | xargs)" = \
    "4 head_output,head, 64 head_output,head-position, 48 residual,position,"
  expect 0 patch copies --site residual --by layer --layer 0 --json
  is_json '[p["effect"] for p in d["grids"][0]["patches"]] == [{"mean": 1, "low": 1, "high": 1}]'
  is_json 'd["query"] == 15 and d["sequences"] == 64 and d["copies"][0] == 15 - d["period"]'
  same_file copies/patching.csv patching.csv
  expect 0 patch copies --to 1.0.keys --json
  is_json '[(p["layer"], p["head"]) for p in d["grids"][0]["patches"]] == [(0, 0), (0, 1)] and d["grids"][0]["to"] == "1.0.keys"'
  check "patching.csv: expected the path beside the rest" grep -q '^head_output,head,1.0.keys,0,1,' copies/patching.csv
  check "patching.csv: expected the rest beside the path" grep -q '^residual,position,,final,' copies/patching.csv
  expect 0 patch copies --site pattern --by position --sequences 5 --sequence 2
  prints '5 sequences with the structure of sequence 2' 'pattern by position'
  check_not "patching.csv: expected no other sequences" grep -q ',64,' copies/patching.csv

  expect 1 patch run
  says 'hardly likelier at the query of clean sequences' '95 % interval'
  refuses 'the nearest is keys' -- patch copies --site key
  refuses 'the nearest is head' -- patch copies --by heds
  refuses 'attention_output has no heads' -- patch copies --site attention_output --by head
  refuses 'lies below the receiver 0.1' -- patch copies --to 0.1
  refuses 'lies below the receiver 1.0.keys' -- patch copies --to 1.0.keys --layer 1
  refuses 'expected a receiver LAYER.HEAD' -- patch copies --to 2.0
  refuses 'from 0 to 1, got 2' -- patch copies --layer 2
  refuses --sequences "'1'" -- patch copies --sequences 1
  refuses 'from 0 to 7, got 8' -- patch copies --sequence 8

  echo 'site,by' > copies/patching.csv
  echo 'head_output' >> copies/patching.csv
  expect 1 patch copies
  prints 'head_output by head-position'
  says 'patching.csv' 'with it removed, these grids begin another'
  expect 1 plot copies
  prints loss.png heads.png
  says 'patching.csv'
  rm copies/patching.csv
  expect 0 patch copies

  expect 0 lens copies --threads 2
  prints embedding 'layer 0' 'chance is ln 16' 'at position 15 of sequence 0 of the evaluation batch' '*'
  cp out table
  expect 0 lens copies --threads 1
  same_file out table
  check "lens.csv: wrong columns" grep -qE '^layer,loss,loss_induction,loss_noise,accuracy_induction,' copies/lens.csv
  check "lens.csv: wrong rows" test "$(tail -n +2 copies/lens.csv | cut -d , -f 1 | xargs)" = "0 1 2"
  cp copies/lens.csv lens.csv
  expect 0 lens copies --json --sequence 3 --position 4
  is_json '[r["after"] for r in d["layers"]] == ["embedding", "layer 0", "layer 1"] and d["shown"]["position"] == 4'
  is_json 'all(len(r["tokens"]) == 5 and 0 < r["right_probability"] < 1 for r in d["shown"]["layers"])'
  expect 0 lens copies --text '1 2 3 1 2' --json
  is_json '"layers" not in d and d["shown"]["position"] == 4 and d["shown"]["right"] is None'
  same_file copies/lens.csv lens.csv
  refuses --sequence 'from 0 to 7, got 8' -- lens copies --sequence 8
  refuses --position 'from 0 to 15, got 16' -- lens copies --position 16
  refuses '1 to 16 tokens, got 0' -- lens copies --text ''
  refuses 'token ids from 0 to 15' -- lens copies --text 'a cat'
  refuses --sequences -- lens copies --text 1 --sequences 3

  expect 0 context copies --threads 2
  prints 'negative: the context helps' 'positions 15 to 16 less that at position 1 ' '256 held-out sequences'
  cp copies/context.csv context.csv
  expect 0 context copies --threads 1 --json
  is_json 'len(d["checkpoints"]) > 1 and d["late"] == {"first": 15, "last": 16} and len(d["bands"]) == 7'
  is_json 'all(len(c["losses"]) == len(c["slopes"]) == 7 for c in d["checkpoints"])'
  same_file copies/context.csv context.csv
  refuses 'from 1 to 16, got 5 and 17' -- context copies --early 5 --late 17
  refuses 'positions apart' -- context copies --early 14 --late 15
  refuses --spread -- context copies --spread wide
  refuses --sequences -- context copies --sequences 0

  expect 0 plot copies
  for figure in patching lens context; do check "plot: expected $figure.png" test -s "copies/figures/$figure.png"; done
}

# Sets of heads, kinds side by side, and subsets of layers.
ablating_together() {
  local kind
  expect 0 ablate run --head 0.1 --head 1.0 --json
  is_json '[a["components"] for a in d["ablations"]] == [[{"layer": 0, "head": 1}, {"layer": 1, "head": 0}]]'
  expect 0 ablate run --head 0.1 --layer 1 --kind resample
  prints 'layer 0 head 1 + layer 1 all heads' resample
  for kind in zero mean resample pattern-preserving value-preserving; do
    expect 0 ablate run --layer 0 --kind "$kind" --json
    is_json "[(a['kind'], a['layer'], a['head']) for a in d['ablations']] == [('$kind', 0, 'all')]"
  done
  same_file run/ablation.csv table
  expect 0 ablate run --kind all
  prints 'pattern-preserving' 'how the effect goes'
  cp out kinds
  expect 0 ablate run --kind all --threads 1
  same_file out kinds
  check "ablation.csv: expected all kinds" test "$(tail -n +2 run/ablation.csv | cut -d , -f 1 | uniq -c | xargs)" = \
    "6 zero 6 mean 6 resample 6 pattern-preserving 6 value-preserving"
  expect 0 ablate run --kind all --json
  is_json 'len(d["ablations"]) == 30 and len(d["comparisons"]) == 6 and len(d["kinds"]) == 5'
  is_json 'all(abs(d["ablations"][i]["change_induction"]["mean"]) < 9 for i in range(30))'

  expect 0 ablate run --subsets --layer 1
  prints 'Layer 1, zero ablation' '0+1' 'Shapley value' 'interaction'
  check_not "ablate --subsets --layer 1: expected no other layer and no table" \
    sh -c 'grep "Layer 0" out || ls run/shapley.csv'
  expect 0 ablate run --subsets --json
  is_json '[len(l["subsets"]) for l in d["layers"]] == [4, 4] and len(d["layers"][0]["interactions"]) == 1'
  is_json 'all(abs(sum(h["shapley"]["mean"] for h in l["heads"]) - l["whole_layer"]["mean"]) < 1e-12 for l in d["layers"])'
  check "subsets.csv: wrong rows" test "$(tail -n +2 run/subsets.csv | cut -d , -f 1-4 | xargs)" = \
    "zero,0,none,0 zero,0,0,1 zero,0,1,1 zero,0,0+1,2 zero,1,none,0 zero,1,0,1 zero,1,1,1 zero,1,0+1,2"
  check "shapley.csv: expected 4 heads" test "$(wc -l < run/shapley.csv)" -eq 5
  check "interactions.csv: expected 2 pairs" test "$(wc -l < run/interactions.csv)" -eq 3
  expect 0 plot run
  prints run/figures/ablation.png run/figures/shapley.png

  refuses 'layer 0 head 1 was named more than once' -- ablate run --head 0.1 --head 0.1
  refuses 'was named more than once' -- ablate run --head 0.1 --layer 0
  refuses --kind "'some'" value-preserving -- ablate run --kind some
  refuses --layer "'2'" 'from 0 to 1' -- ablate run --layer 2
  refuses --layer "'-1'" -- ablate run --subsets --layer=-1
  refuses --feed-forward 'no feed-forward parts' 'heads 0 to 1' -- ablate run --feed-forward 0
  refuses --subsets --head -- ablate run --subsets --head 0.1
  refuses --most-heads 'at most 16' -- ablate run --subsets --most-heads 17
  refuses --most-heads --subsets -- ablate run --most-heads 3
  refuses '2 heads' '6 evaluations of 8 sequences' seconds '--most-heads 2' -- ablate run --subsets --most-heads 1
  expect 0 ablate run
}

formation_of_runs() {
  expect 0 formation run
  prints 'by evaluations up to step 20' 'half ' 'not by 20' 'previous_token' 'even attention scores' 'copying'
  check_not "$call: expected nothing on standard error" test -s err
  check "formation.csv: wrong rows" test "$(cut -d , -f 1-4 run/formation.csv | xargs)" = "step,onset,half,done 20,$(
    sed -n 2p run/formation.csv | cut -d , -f 2),,"
  expect 0 formation run --json
  is_json 'd["runs"][0]["step"] == 20 and d["runs"][0]["measures"]["half"] is None'
  is_json 'd["summary"]["half"]["median"] == {"not_by_step": 20} and d["differing_fields"] == []'
  expect 0 train tiny.toml --out other --set train.data_seed=5 --set train.steps=10
  expect 0 formation run other --out both.csv
  says warning 'differ in more than their seeds: train.steps'
  prints '0 of 2 runs formed' 'up to steps 10 to 20' 'lower quartile'
  check "both.csv: wrong rows" test "$(cut -d , -f 1,2 both.csv | xargs)" = "run,step run,20 other,10"
  cp -r run foreign
  cp other/checkpoints/step-000010.safetensors foreign/checkpoints/step-000010.safetensors
  for command in eval heads ablate patch circuits lens verdict; do
    refuses 'disagree: train.steps is 20 in the one and 10 in the other' -- "$command" foreign --step 10
  done
  rm -r foreign
  expect 0 plot run other
  check "$call: expected the figure beside the runs" test "$(xargs < out)" = "figures/curves.svg figures/curves.png"
  refuses "'loss'" 'several runs' curves -- plot run other --only loss
  expect 0 plot run other --out drawn --only curves --format pdf --size 500
  check "$call: expected a PDF alone" test "$(ls drawn)" = curves.pdf
  expect 0 plot run other --out drawn
  check "$call: expected the figure in drawn" test -s drawn/curves.png
  rm -r other figures drawn
}

sweeps() {
  expect 0 sweep tiny.toml --seeds 3 --jobs 2 --out swept --set model.dropout=0.1
  says '3 runs of 20 steps, 2 at once' '3 of 3 runs done'
  prints '0 of 3 runs formed' swept/sweep.csv swept/figures/curves.png
  check "sweep.csv: wrong rows" test "$(cut -d , -f 1-6 swept/sweep.csv | xargs)" = \
    "run,setting,seed,status,step,formed seed-1,,1,finished,20,0 seed-2,,2,finished,20,0 seed-3,,3,finished,20,0"
  expect 0 train tiny.toml --out alone --set model.dropout=0.1 --set train.initialisation_seed=2 --set train.data_seed=2 \
    --set train.dropout_seed=2
  same_metrics alone swept/seed-2
  local file
  for file in config.toml heads.csv checkpoints/step-000020.safetensors; do same_file "alone/$file" "swept/seed-2/$file"; done

  # Figures of sweeps.
  expect 0 plot swept
  prints swept/figures/formation.svg swept/figures/curves.png
  expect 0 sweep tiny.toml --seeds 1 --out other-sweep
  expect 0 plot swept other-sweep swept/ --format svg
  says warning 'named twice'
  check "$call: expected the figures beside the sweeps" test "$(xargs < out)" = "figures/formation.svg figures/curves.svg"
  for file in swept other-sweep '0 of 3' 'not formed by' model.dropout; do
    check "formation.svg: expected $file" grep -F -e "$file" figures/formation.svg
  done
  expect 0 plot swept other-sweep --only formation --format pdf --size 500 --out drawn
  check "$call: expected a PDF alone" test "$(ls drawn)" = formation.pdf
  refuses "'loss'" 'of sweeps' formation curves -- plot swept --only loss
  refuses 'expected runs or sweeps, got both' 'swept/seed-1 is a run, swept a sweep' -- plot swept swept/seed-1
  refuses 'drawn is not a run, and not a sweep' sweep.csv -- plot swept drawn
  mkdir empty-sweep
  head -n 1 swept/sweep.csv > empty-sweep/sweep.csv
  expect 1 plot empty-sweep
  says error 'expected at least one finished run, got none of 0'
  rm -r other-sweep figures drawn empty-sweep swept/figures

  refuses swept/seed-1 'model.dropout, which is 0.1 there and 0.0 here' -- sweep tiny.toml --seeds 3 --out swept
  rm swept/seed-2/checkpoints/step-000020.safetensors
  rm -r swept/seed-3
  cp swept/sweep.csv before
  expect 0 sweep tiny.toml --seeds 3 --out swept --set model.dropout=0.1
  same_file before swept/sweep.csv
  same_file alone/heads.csv swept/seed-2/heads.csv

  # A run that cannot be written does not stop the others.
  rm -r swept/seed-2
  echo mine > swept/seed-2
  expect 1 sweep tiny.toml --seeds 4 --out swept --set model.dropout=0.1
  says error '1 of 4 runs failed' 'swept/seed-2 exists and is not a run'
  check "$call: expected seed 4" test -s swept/seed-4/checkpoints/step-000020.safetensors
  check "sweep.csv: wrong status" test "$(cut -d , -f 4 swept/sweep.csv | xargs)" = "status finished failed finished finished"

  # Stopped, it says how it goes on.
  "$program" sweep tiny.toml --seeds 2 --jobs 2 --out stopped --set train.steps=10000000 > out 2> err &
  running=$!
  for file in stopped/seed-1 stopped/seed-2; do
    until [ -f "$file/metrics.csv" ] || ! kill -0 "$running" 2> /dev/null; do sleep 0.02; done
  done
  kill -INT "$running"
  local status=0
  wait "$running" || status=$?
  running=
  call='tapehead sweep and SIGINT'
  check "$call: expected status 1, got $status" test "$status" -eq 1
  says 'stopped with 0 of 2 runs done' 'the same command goes on'
  check "$call: expected a row for each" test "$(cut -d , -f 4 stopped/sweep.csv | xargs)" = "status stopped stopped"
  rm -r swept stopped alone
}

grids() {
  local grid=(tiny.toml --seeds 2 --grid "model.heads=1,2" --grid "task.period_max=5,6")
  expect 0 sweep "${grid[@]}" --out whole
  says '8 runs of 20 steps' '8 of 8 runs done'
  prints 'heads 2, period_max 5  0 of 2' whole/figures/formation.svg whole/figures/phase.png whole/figures/curves.svg
  check "sweep.csv: wrong rows" test "$(cut -d , -f 1-6 whole/sweep.csv | sed -n '1p;4p')" = \
    'run,setting,model.heads,task.period_max,seed,status
heads=1_period_max=6/seed-1,model.heads=1 task.period_max=6,1,6,1,finished'
  check "sweep.csv: expected what heads do" test -n "$(tail -n 1 whole/sweep.csv | cut -d , -f 23)"
  expect 0 plot whole --only phase --format svg --out drawn
  check "$call: expected the map alone" test "$(ls drawn)" = phase.svg
  refuses "no figure 'phases' of sweeps; the nearest is phase" -- plot whole --only phases

  # An array's jobs, one of which comes late, and all at once: each writes the table, and the last one draws.
  expect 0 sweep "${grid[@]}" --out parts --index 1 --of 3
  says '8 runs of 20 steps, of which this job does 3,' '3 of 8 runs are finished by now'
  check_not "$call: expected no figures yet" test -e parts/figures
  "$program" sweep "${grid[@]}" --out parts --index 0 --of 3 > out 2> err &
  expect 0 sweep "${grid[@]}" --out parts --index 2 --of 3
  wait $!
  check "$call: expected the figures" test -s parts/figures/phase.svg
  same_file whole/sweep.csv parts/sweep.csv
  # The same job started twice: each run is one of theirs, and whoever ends last sees all of them finished.
  "$program" sweep "${grid[@]}" --out twice --index 0 --of 1 > /dev/null 2>&1 &
  "$program" sweep "${grid[@]}" --out twice --index 0 --of 1 > /dev/null 2>&1 || true
  wait $! || true
  call='tapehead sweep, twice at once'
  same_file whole/sweep.csv twice/sweep.csv
  check "$call: expected the figures" test -s twice/figures/phase.svg
  # A smaller call says what its table leaves out.
  expect 0 sweep tiny.toml --seeds 1 --grid "model.heads=1,2" --grid "task.period_max=5,6" --out twice
  says 'twice/sweep.csv had 4 runs more, of another call'

  refuses "0 to 2 of 3, got 3" -- sweep "${grid[@]}" --index 3 --of 3
  refuses '--index and --of go together' -- sweep "${grid[@]}" --of 3
  refuses '--grid sweeps this field' -- sweep "${grid[@]}" --set model.heads=2
  refuses 'sets this seed itself' -- sweep tiny.toml --grid train.data_seed=1,2
  refuses 'no field model.head; the nearest is model.heads' -- sweep tiny.toml --grid model.head=1,2
  refuses 'at heads 3 of the grid' 'model.width' -- sweep tiny.toml --grid model.heads=1,3
  refuses 'at most 1000 settings, got more' -- sweep tiny.toml --seeds 100 --grid "model.heads=$(seq -s , 1 1001)"
  check_not "expected nothing from refused grids" test -e runs/tiny-sweep
  rm -r whole parts twice drawn
}

forks() {
  local head='site="blocks.0.attention.head_output", head=0, kind="zero"'
  expect 0 fork run --step 8 --out child --threads 2
  says 'going on from step 8 of run' 'done: '
  same_metrics run child
  same_file run/heads.csv child/heads.csv
  same_file run/checkpoints/step-000020.safetensors child/checkpoints/step-000020.safetensors
  check "fork: expected its parent to be named" grep -x 'path = "../run"' child/parent.toml
  expect 0 fork run --step 8 --out clamped --set "intervention=[{$head, from=12}]"
  check "a fork's rows up to its step: expected the parent's" cmp <(metrics run | head -n 4) <(metrics clamped | head -n 4)
  check_not "a clamped head: expected other metrics" cmp <(metrics run) <(metrics clamped)
  rm clamped/checkpoints/step-000020.safetensors
  cp clamped/heads.csv whole
  expect 0 train --resume clamped
  same_file whole clamped/heads.csv
  expect 0 fork run --out longer --set train.steps=23
  check "a fork to more steps: wrong steps" test "$(tail -n +2 longer/metrics.csv | cut -d , -f 1 | xargs)" = \
    "0 5 10 15 20 23"
  rm -r child clamped longer
}

benchmarks() {
  mkdir bench
  cp tiny.toml bench
  cd bench
  expect 0 bench tiny.toml --steps 2 --threads 2
  check_not "$call: expected nothing on standard error" test -s err
  prints 'tiny.toml, 2 steps on 2 threads:' 'ms a step (median; quartiles' 'tokens a second' 'GFLOP/s in matrix products' \
    'of arrays at the peak'
  check "$call: expected a table of ops" grep -E '^op +calls a step +forward ms +backward ms +share' out
  # Three shards of two layers.
  check "$call: expected six patterns a step" grep -E '^attention_pattern +6 +[0-9.]+ +[0-9.]+ +[0-9.]+ %' out
  check "$call: expected one update a step" grep -E '^optimizer +1 ' out
  expect 0 bench tiny.toml --steps 1 --threads 1
  prints 'tiny.toml, 1 step on 1 thread:'
  expect 0 bench tiny.toml --seconds 0.01

  expect 0 bench tiny.toml --steps 2 --threads 1 --json --set model.layers=1
  is_json 'list(d) == ["config", "ranks", "threads", "steps", "ms_per_step", "ms_low", "ms_high", "tokens_per_second",
    "operations_per_step", "gflops", "peak_gflops", "peak_memory_bytes", "communication", "ops"]'
  is_json 'd["config"] == "tiny.toml" and d["threads"] == 1 and d["steps"] == 2'
  is_json '0 < d["ms_low"] <= d["ms_per_step"] <= d["ms_high"] and d["peak_gflops"] > 0 and d["peak_memory_bytes"] > 0'
  is_json 'abs(d["tokens_per_second"] * d["ms_per_step"] / (1000 * 5 * 16) - 1) < 1e-9'
  is_json 'd["operations_per_step"] == 6 * 5 * 16 * (4 * 8 * 8 + 16 * 8 + 2 * 16 * 8)'
  is_json 'abs(d["gflops"] * d["ms_per_step"] * 1e6 / d["operations_per_step"] - 1) < 1e-9'
  is_json 'abs(sum(op["share"] for op in d["ops"]) - 1) < 1e-9'
  is_json '[op["share"] for op in d["ops"]] == sorted((op["share"] for op in d["ops"]), reverse=True)'
  is_json '{op["name"]: op["calls"] for op in d["ops"]}["attention_mix"] == 3'
  is_json 'all(list(op) == ["name", "calls", "forward_ms", "backward_ms", "share"] for op in d["ops"])'
  rm -f out err problem
  cd ..
  check "bench: expected nothing to be written" test "$(ls -A bench)" = tiny.toml
  same_file tiny.toml bench/tiny.toml
}

page_of_a_run() {
  expect 0 train tiny.toml --out paged
  expect 0 report paged
  prints paged/report.html
  check "a page: expected HTML" grep -q '<!doctype html>' paged/report.html
  check "a page: expected the command of what is not measured" grep -qF 'tapehead ablate paged --kind all' paged/report.html
  check_not "report without --measure: expected no table" test -e paged/lens.csv
  cp paged/report.html first
  expect 0 report paged --threads 1 -o "elsewhere page.html"
  same_file first "elsewhere page.html"

  # What is missing is made first; this model has not learnt to copy, so nothing can be patched.
  expect 0 report paged --measure
  says 'tapehead lens paged' 'left out: [patching]'
  prints 'paged/report.html'
  for table in formation scores ablation subsets shapley interactions circuits lens context verdict; do
    check "report --measure: expected $table.csv" test -s "paged/$table.csv"
  done
  expect 0 verify paged
  prints report.html 'is what comes out'
  sed -i 's/"parameters":/"parameters":1/' paged/report.html
  expect 1 verify paged
  prints 'report.html: /run/parameters'
  says "shows other numbers than the run's tables" 'tapehead report paged'
  expect 0 report paged
  expect 0 verify paged
  head -c 5000 first > paged/report.html
  expect 1 verify paged
  prints "cannot be recomputed: report.html" "a page that tapehead report wrote"

  expect 1 report paged -o nowhere/page.html
  says nowhere
  cp paged/config.toml config.before
  refuses config.toml 'is no page' -- report paged -o paged/config.toml
  refuses config.toml 'is no table of several runs' -- formation run paged --out paged/config.toml
  same_file config.before paged/config.toml
  expect 0 report paged -o "elsewhere page.html"
  sed '2s/,/,x/' paged/lens.csv > damaged
  mv damaged paged/lens.csv
  expect 1 report paged
  says 'paged/lens.csv' 'expected a number in column loss of row 1'
  # What is measured anew is what is damaged, or of an earlier checkpoint.
  expect 0 lens paged --step 16
  expect 0 report paged
  says 'paged/lens.csv tells of step 16, and the page of step 20'
  expect 0 report paged --measure
  says 'tapehead lens paged'
  check "report --measure: expected the newest step" grep -q ',20,[0-9]*$' paged/lens.csv
  truncate -s 1000 paged/checkpoints/step-000008.safetensors
  expect 1 report paged
  says error step-000008.safetensors
  check "a damaged checkpoint: expected a page of the rest" grep -q '"steps":\[0,16,20\]' paged/report.html
  expect 0 train tiny.toml --out paged --overwrite
  check_not "--overwrite: expected no page of the old run" test -e paged/report.html
}

failures_while_running() {
  mkdir no_programs
  PATH=$PWD/no_programs expect 1 plot run --format svg,png,pdf
  says gnuplot-nox "run's CSV files"
  check "$call: expected it said once" test "$(grep -c gnuplot-nox err)" -eq 1
  expect 1 train tiny.toml --out diverged --set train.optimizer=sgd --set train.learning_rate=1e30 --set train.clip=0
  says error 'not finite at step'
  cp -r run cut
  truncate -s 1000 cut/checkpoints/step-000020.safetensors
  expect 1 eval cut
  says error step-000020.safetensors
  expect 0 eval cut --step 16

  local command
  for command in --help --version 'train --help' 'eval run' 'heads run --json' 'circuits run' 'ablate run' 'lens run' 'inspect run --json' \
    'bench tiny.toml --steps 1'; do
    read -ra words <<< "$command"
    status=0
    "$program" "${words[@]}" > /dev/full 2> err || status=$?
    check "$command on a full disk: expected status 1, got $status" test "$status" -eq 1
    check "$command on a full disk: expected it to be said" grep -F 'standard output' err
    status=0
    "$program" "${words[@]}" >&- 2> err || status=$?
    check "$command without standard output: expected status 1, got $status" test "$status" -eq 1
  done
}

help_and_version
wrong_calls
wrong_configs
looking_at_a_run
patching
formation_of_runs
sweeps
grids
forks
benchmarks
page_of_a_run
failures_while_running
finish
