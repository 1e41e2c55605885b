#!/usr/bin/env bash
# Every experiment says how it is run and how long that takes, has a short form, is in the index, and keeps its
# figures small.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

# Files of experiments/ in a folder: those that are kept, or all where there is no repository.
kept() (
  cd "$1"
  { [ -e .git ] && git ls-files experiments 2> /dev/null; } || find experiments -type f
)

# What is wrong with the rooms of experiments/ in a folder, a line each; nothing if all is well.
complaints() {
  local root=$1 folder room file
  for folder in "$root"/experiments/*/; do
    room=experiments/$(basename "$folder")
    [ -x "$folder/run.sh" ] || echo "$room/run.sh: not there, or not executable"
    grep --quiet -e '--quick' "$folder/run.sh" 2> /dev/null || echo "$room/run.sh: no --quick"
    grep --quiet --fixed-strings "$room/run.sh" "$folder/README.md" 2> /dev/null ||
      echo "$room/README.md: not there, or without the command $room/run.sh"
    grep --quiet -E 'less than a second|seconds|minutes?|hours?' "$folder/README.md" 2> /dev/null ||
      echo "$room/README.md: not there, or without the time it takes"
    grep --quiet --fixed-strings "]($(basename "$folder")/" "$root/experiments/README.md" 2> /dev/null ||
      echo "experiments/README.md: no link to $(basename "$folder")/"
  done
  while IFS= read -r file; do
    [ -e "$root/$file" ] || continue
    case $file in
      */figures/*.svg | */figures/*.png)
        [ "$(wc -c < "$root/$file")" -lt 200000 ] || echo "$file: 200 KB or more"
        ;;
      */figures/*) echo "$file: neither SVG nor PNG" ;;
      *.svg | *.png | *.jpg | *.jpeg | *.gif | *.pdf) echo "$file: not in the room's figures/" ;;
    esac
  done < <(kept "$root")
}

# The check must itself be able to fail, and to pass.
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$work"/experiments/{good,bad}/figures
printf '[good](good/README.md)\n' > "$work/experiments/README.md"
printf 'experiments/good/run.sh # two minutes\n' > "$work/experiments/good/README.md"
printf -- '--quick\n' > "$work/experiments/good/run.sh"
chmod +x "$work/experiments/good/run.sh"
head -c 199999 /dev/zero > "$work/experiments/good/figures/small.svg"
head -c 200000 /dev/zero > "$work/experiments/bad/figures/large.png"
touch "$work/experiments/bad/figures/figure.pdf" "$work/experiments/bad/figure.png"
found=$(complaints "$work")
if [ "$(wc -l <<< "$found")" -ne 8 ] || grep --quiet good <<< "$found"; then
  echo "The check itself does not find what it should: $found"
  exit 1
fi

found=$(complaints .)
echo "$found"
[ -z "$found" ]
