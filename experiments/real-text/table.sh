#!/usr/bin/env bash
# What the two runs of run.sh came to: losses, in-context-learning score and best heads at some of the checkpoints.
#   experiments/real-text/table.sh RUNS
set -euo pipefail
runs=$1

# Of one run, at about ten checkpoints: loss by kind of position from its own evaluation, the in-context-learning
# score, and the heads that score highest on random tokens that repeat.
for layers in 1 2; do
  run=$runs/layers-$layers
  echo
  echo "layers: $layers"
  awk -F, '
    FNR == 1 { delete at; for (i = 1; i <= NF; ++i) at[$i] = i; next }
    FILENAME ~ /metrics/ { loss[$1] = $at["loss"]; copied[$1] = $at["loss_induction"]; noise[$1] = $at["loss_noise"]; next }
    FILENAME ~ /context/ {
      step = $1
      if (!(step in score)) { steps[++n] = step; score[step] = $at["score"]; half[step] = ($at["score_high"] - $at["score_low"]) / 2 }
      next
    }
    {
      step = $at["step"]; head = $at["layer"] "." $at["head"]; key = step " " head
      heads[head] = 1
      prefix[key] = $at["prefix_matching"]; previous[key] = $at["previous_token"]
    }
    function best(scores, step,   head, top) {
      top = -1
      for (head in heads) if (scores[step " " head] > top) { top = scores[step " " head]; name = head }
      return sprintf("%.3f (%s)", top, name)
    }
    function at_or_before(list, step,   s) { for (s = step; s >= 0; --s) if (s in list) return list[s]; return 0 }
    END {
      printf "%6s %7s %7s %7s  %-15s %-14s %-14s\n", "step", "loss", "copied", "noise", "context score", "prefix match", "previous token"
      every = n > 12 ? n / 12 : 1
      for (i = 1; i <= n; ++i) {
        if (i < n && int(i / every) == int((i - 1) / every)) continue
        step = steps[i]
        printf "%6d %7.3f %7.3f %7.3f  %+.3f ± %.3f  %-14s %-14s\n", step, at_or_before(loss, step), at_or_before(copied, step),
          at_or_before(noise, step), score[step], half[step], best(prefix, step), best(previous, step)
      }
    }' "$run/metrics.csv" "$run/context.csv" "$run/random.csv"
done
echo
awk '$3 == "chance" { print "Even attention has a prefix match of " $9 " and a previous-token score of " $4 ", a perfect head 1." }' \
  "$runs/heads.txt"
echo
echo "two layers, what the loss does without a head:"
cat "$runs/ablation.txt"
