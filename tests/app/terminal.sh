#!/usr/bin/env bash
# What somebody sees who sits at a terminal: a training's live view, and attention maps in colours.
#   tests/app/terminal.sh TAPEHEAD
set -euo pipefail
terminal=$(realpath "$(dirname "${BASH_SOURCE[0]}")/terminal.py")
# shellcheck source=tests/app/checks.sh
source "$(dirname "${BASH_SOURCE[0]}")/checks.sh"
if [ -z "$python" ]; then
  echo "SKIPPED: python3 is not installed, so there is no terminal to look at (apt-get install python3)"
  exit 77
fi
export TERM=xterm-256color
unset NO_COLOR COLORTERM

# Runs the program on a terminal, as terminal.py has it, and keeps what is seen in the file out.
watch() {
  local wanted=$1 status=0
  shift
  call="on a terminal: $*"
  timeout 120 "$python" "$terminal" "$@" > out 2> err || status=$?
  [ "$status" -eq "$wanted" ] || fail "$call: expected status $wanted, got $status: $(head -c 500 err) $(tail -n 12 out)"
}
# How many lines are seen of which this is a part, before the action of that name.
seen_before() {
  awk -v action="== $1" -v part="$2" '
    $0 == action { print count + 0; exit }
    /^== / { count = 0; next }
    index($0, part) { ++count }' out
}
sees() {
  check "$call: expected '$3' $1 times before $2, got: $(tail -n 12 out)" test "$(seen_before "$2" "$3")" -eq "$1"
}

endless=(--set train.steps=10000000 --set train.evaluation_interval=50)

# Rewritten in place, however wide and high the terminal is or becomes.
a_live_view() {
  watch 1 100 24 20:60x24 5:25x24 5:80x24 5:100x6 5:x 5:^C -- "$program" train tiny.toml --out live "${endless[@]}"
  local size
  for size in 60x24 25x24 80x24 100x6 x ^C; do
    sees 1 "$size" 'step '
    sees 1 "$size" ' → '
    sees 1 "$size" 'previous '
    sees 1 "$size" 'info: '
    sees 1 "$size" '   0 ▕'
  done
  for size in 60x24 25x24 80x24 100x6; do sees 3 "$size" ' ▕'; done
  for size in x ^C; do sees 2 "$size" ' ▕'; done
  sees 1 60x24 '░ step '
  sees 1 60x24 ' tokens/s'
  sees 1 60x24 ' nats, steps 0 to '
  sees 1 60x24 'best scores: previous token '
  # Where there is less room, there are fewer words.
  sees 1 25x24 ' left'
  sees 0 25x24 '…'
  sees 0 80x24 ' nats'
  check "$call: expected nothing over the first line" grep -q '^info: training' <(head -n 1 out)
  sees 1 end 'finishing what was begun'
  sees 1 end 'warning: stopped after step'

  # What goes on begins with what is there.
  local step
  step=$(tail -n 1 live/metrics.csv | cut -d , -f 1)
  watch 1 100 24 2:^C -- "$program" train --resume live --threads 1
  sees 1 ^C ', steps 0 to '
  check "$call: expected the curve to reach on" test "$(sed -n 's/.*steps 0 to //p' out | tail -n 1)" -ge "$step"
  rm -r live

  watch 1 100 1 5:100x2 5:100x3 5:100x4 5:100x24 5:^C -- "$program" train tiny.toml --out low "${endless[@]}"
  for size in 100x2 100x3 100x4 100x24 ^C; do sees 1 "$size" 'step '; done
  for size in 100x2 100x3; do sees 0 "$size" 'induction loss '; done
  for size in 100x4 100x24 ^C; do sees 1 "$size" 'induction loss '; done
  sees 0 100x4 'best scores: '
  sees 1 100x24 'best scores: '
  sees 0 100x24 '▕'
  sees 3 ^C '▕'
  rm -r low
}

# The last evaluation stands there at the end.
a_training_to_its_end() {
  watch 0 90 24 -- "$program" train tiny.toml --out whole --set train.steps=300
  sees 1 end 'step 300/300'
  sees 1 end ' nats, steps 0 to 300'
  sees 3 end ' ▕'
  local loss
  loss=$(tail -n 1 whole/metrics.csv | cut -d , -f 4 | xargs printf '%.2f')
  sees 1 end " → $loss nats"
  check "$call: expected what is next right below the curve" \
    test "$(grep -A 1 '^best scores' out | tail -n 1 | cut -c 1-10)" = 'info: done'

  watch 0 90 24 -- "$program" train tiny.toml --out no-layers --set train.steps=300 --set model.layers=0
  sees 1 end 'induction loss'
  sees 0 end 'best scores'
  for _ in $(seq 1 60); do printf 'abcdefghijklmnopqrstuvwxyz0123456789'; done > text
  watch 0 90 24 -- "$program" train tiny.toml --out text-run --set task.name=text --set task.file=text \
    --set model.vocabulary=36 --set train.steps=300
  sees 1 end 'loss on all positions'
  rm -r no-layers text-run
}

# What is no terminal that rewrites its lines gets lines that stay.
plain_lines() {
  local type
  for type in dumb ''; do
    TERM=$type watch 0 90 24 -- "$program" train tiny.toml --out plain --overwrite
    sees 1 end 'info: step 20/20  loss '
    sees 1 end 'induction loss '
    sees 0 end '▕'
  done
  expect 0 train tiny.toml --out plain --overwrite
  says 'info: step 20/20  loss ' '  induction loss ' '  previous token '
  check_not "$call: expected no escape sequence" grep -q $'\x1b' err
  rm -r plain
}

# A sweep has one line, for which a warning makes way.
other_status_lines() {
  watch 0 90 24 -- "$program" verify whole
  sees 1 end 'step 300/300'
  sees 0 end '▕'
  mkdir swept
  echo mine > swept/seed-2
  watch 1 90 24 -- "$program" sweep tiny.toml --seeds 3 --jobs 1 --out swept --set train.steps=300
  sees 1 end 'runs done'
  rm -r swept
}

maps() {
  watch 0 40 24 -- "$program" attention whole --head 1.0
  sees 1 end 'attention weight: '
  sees 1 end 'Position 15 is left out: 40 columns'
  sees 13 end '[]'
  watch 0 42 24 -- "$program" attention whole --head 1.0
  sees 0 end 'left out'
  NO_COLOR=1 watch 0 42 24 -- "$program" attention whole --head 1.0
  sees 1 end '░░ from 0.05'
  TERM=dumb watch 0 42 24 -- "$program" attention whole --head 1.0
  sees 1 end '░░ from 0.05'
}

a_live_view
a_training_to_its_end
plain_lines
other_status_lines
maps
finish
