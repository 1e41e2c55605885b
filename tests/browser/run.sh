#!/usr/bin/env bash
# Opens the pages of a few small runs in Chromium, and checks them:
#   tests/browser/run.sh TAPEHEAD [FOLDER]      screenshots go to FOLDER, if it is named
# Lacking the browser, node or the packages of package.json, it says so and is skipped; where TAPEHEAD_BROWSER is
# "required", it fails.
set -euo pipefail
if [ $# -lt 1 ] || [ $# -gt 2 ]; then
  echo "usage: $0 TAPEHEAD [FOLDER]" >&2
  exit 2
fi
program=$(realpath "$1")
screenshots=${2:-}
cd "$(dirname "${BASH_SOURCE[0]}")"

leave_out() {
  if [ "${TAPEHEAD_BROWSER:-}" = required ]; then
    echo "the browser part was to run, but $1"
    exit 1
  fi
  echo "SKIPPED: the page was not opened in a browser: $1"
  exit 77
}
command -v node > /dev/null || leave_out "node is not installed (apt-get install nodejs)"
command -v chromium > /dev/null || leave_out "Chromium is not installed (apt-get install chromium)"
[ -d node_modules/playwright-core ] || leave_out "playwright-core is not installed (tests/browser/install.sh)"

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
if [ -n "$screenshots" ]; then
  mkdir -p "$screenshots"
  screenshots=$(realpath "$screenshots")
fi

# A run of two layers with every table, on which heads do form; one without any; one of one layer on a text of
# characters that mean something in HTML; one without layers; one of two tokens that was stopped
# at once; and one with a damaged table, and one of an earlier checkpoint.
cat > "$scratch/small.toml" <<'TOML'
[model]
vocabulary = 16
context = 24
width = 32
positions = "learned"
[task]
length = 24
period_min = 4
period_max = 10
[train]
steps = 400
batch = 16
learning_rate = 0.01
evaluation_interval = 20
evaluation_sequences = 32
checkpoint_interval = 50
TOML
for _ in $(seq 1 40); do echo "<b onclick=\"x\">Größe & 'Maß'</b> <!-- </script> --> \\u003c"; done > "$scratch/text.txt"
tapehead() {
  (cd "$scratch" && "$program" "$@" > out 2>&1) || {
    echo "tapehead $*: $(cat "$scratch/out")"
    exit 1
  }
}
tapehead train small.toml --out whole
for command in "heads whole --periods 4,8,11" "ablate whole --kind all" "ablate whole --subsets" "patch whole" \
               "circuits whole" "lens whole" "formation whole" "verdict whole"; do
  # shellcheck disable=SC2086  # a command's words
  tapehead $command
done
tapehead attention whole --head 0.0 --head 1.0 --sequence 1 --step 250 --json
mv "$scratch/out" "$scratch/attention.json"
tapehead train small.toml --out bare --set train.steps=40 --set model.heads=8
tapehead train small.toml --out '<img src=x onerror="alert(1)">' --set task.name=text --set task.file=text.txt \
  --set model.vocabulary=64 --set model.layers=1 --set train.steps=40
tapehead verdict '<img src=x onerror="alert(1)">'
tapehead train small.toml --out flat --set model.layers=0 --set train.steps=40
tapehead train small.toml --out start --set train.steps=0 --set model.vocabulary=2
tapehead formation start
tapehead circuits start
cp -r "$scratch/bare" "$scratch/behind"
tapehead lens behind --step 0
sed -i '2s/,/,x/' "$scratch/behind/heads.csv"
(cd "$scratch" && ! "$program" report behind -o behind.html > out 2>&1) || {
  echo "a damaged table: expected status 1"
  exit 1
}
i=0
for run in whole bare '<img src=x onerror="alert(1)">' flat start; do
  tapehead report "$run" -o "page-$i.html"
  i=$((i + 1))
done

PAGES=$scratch SCREENSHOTS=$screenshots node --test --test-reporter=spec page.test.js
