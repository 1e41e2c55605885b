#!/usr/bin/env bash
# Draws the two runs of run.sh beside each other, as RUNS/real-text.svg: in-context-learning score, best
# prefix matching on repeated random tokens, best previous-token score and losses against the training step.
#   experiments/real-text/figure.sh RUNS
set -euo pipefail
cd -P "$(dirname "${BASH_SOURCE[0]}")/../.."
# shellcheck source=experiments/room.sh
source experiments/room.sh
runs=$1

for layers in 1 2; do
  run=$runs/layers-$layers
  awk -F, 'NR == 1 { for (i = 1; i <= NF; ++i) at[$i] = i; next }
    $1 > 0 && !($1 in seen) { seen[$1] = 1; print $1, $at["score"], $at["score_low"], $at["score_high"] }' \
    "$run/context.csv" > "$run/score.data"
  awk -F, 'NR == 1 { for (i = 1; i <= NF; ++i) at[$i] = i; next }
    $1 > 0 { print $1, $at["loss"], $at["loss_induction"], $at["loss_noise"] }' "$run/metrics.csv" > "$run/loss.data"
  # A blank line between heads.
  awk -F, 'NR == 1 { for (i = 1; i <= NF; ++i) at[$i] = i; next }
    $at["step"] > 0 {
      step = $at["step"]; head = $at["layer"] "." $at["head"]; key = head " " step
      if (!(step in seen)) { seen[step] = 1; steps[++n] = step }
      heads[head] = 1
      prefix[key] = $at["prefix_matching"]; previous[key] = $at["previous_token"]
    }
    END {
      for (head in heads) {
        for (i = 1; i <= n; ++i) print steps[i], prefix[head " " steps[i]], previous[head " " steps[i]]
        print ""
      }
    }' "$run/random.csv" > "$run/heads.data"
done

# What a head scores that attends evenly.
chance=$(awk '$3 == "chance" { print $9 }' "$runs/heads.txt")

draw "$runs/real-text.svg" 860 980 14 << EOT
set lmargin at screen 0.1
set rmargin at screen 0.7
set tmargin 2.6
set bmargin 2.2
set logscale x
set autoscale xfixmax
set xrange [4:*]
set key at graph 1.03, 1 left top reverse Left samplen 2 spacing 1.3
one = '#d55e00'
two = '#0072b2'
set multiplot layout 4,1
set label 1 'In-context-learning score (nats): below 0 the context helps' at graph 0, 1.1 left textcolor rgb '#222222'
set ytics 0.1
plot 0 with lines linewidth 1 dashtype 2 linecolor rgb '#7a7a7a' notitle, \
  '$runs/layers-1/score.data' using 1:3:4 with filledcurves fillcolor rgb one fillstyle transparent solid 0.15 notitle, \
  '$runs/layers-2/score.data' using 1:3:4 with filledcurves fillcolor rgb two fillstyle transparent solid 0.15 notitle, \
  '$runs/layers-1/score.data' using 1:2 with lines linewidth 2 linecolor rgb one title 'one layer', \
  '$runs/layers-2/score.data' using 1:2 with lines linewidth 2 linecolor rgb two title 'two layers'
set label 1 "Prefix matching on repeated random tokens, every head; 1 is a perfect induction head"
set yrange [0:0.3<*]
set ytics 0.1
plot $chance with lines linewidth 1 dashtype 2 linecolor rgb '#7a7a7a' title 'chance', \
  '$runs/layers-1/heads.data' using 1:2 with lines linewidth 1.4 linecolor rgb one title 'one layer', \
  '$runs/layers-2/heads.data' using 1:2 with lines linewidth 1.4 linecolor rgb two title 'two layers'
set label 1 "Previous-token score on the same tokens, every head"
plot '$runs/layers-1/heads.data' using 1:3 with lines linewidth 1.4 linecolor rgb one title 'one layer', \
  '$runs/layers-2/heads.data' using 1:3 with lines linewidth 1.4 linecolor rgb two title 'two layers'
set label 1 "Loss on the held-out text (nats)"
set yrange [2:6]
set ytics 1
set bmargin 3.4
set xlabel 'training step' textcolor rgb '#222222'
plot '$runs/layers-1/loss.data' using 1:2 with lines linewidth 1.8 linecolor rgb one title 'one layer, all', \
  '$runs/layers-2/loss.data' using 1:2 with lines linewidth 1.8 linecolor rgb two title 'two layers, all', \
  '$runs/layers-1/loss.data' using 1:3 with lines linewidth 1.2 dashtype 2 linecolor rgb one title 'one, pair seen before', \
  '$runs/layers-2/loss.data' using 1:3 with lines linewidth 1.2 dashtype 2 linecolor rgb two title 'two, pair seen before'
unset multiplot
EOT
