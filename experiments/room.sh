#!/usr/bin/env bash
# What the rooms share: how one begins, how it draws, and medians; to be sourced by a room's scripts, in the project's root:
#   source experiments/room.sh
# TAPEHEAD names a program other than the one that is built, TAPEHEAD_ROOMS a folder with the rooms' own programs,
# TAPEHEAD_RUNS a folder to write to other than runs/.
# shellcheck disable=SC2034  # what is set here is for who sources it
set -euo pipefail

# gnuplot takes no path with one.
if [[ ${TAPEHEAD_RUNS:-} == *\'* ]]; then
  echo "TAPEHEAD_RUNS: expected a path without an apostrophe, got $TAPEHEAD_RUNS" >&2
  exit 2
fi
tapehead=${TAPEHEAD:-build/tapehead}
programs=${TAPEHEAD_ROOMS:-build/experiments}

# enter NAME TARGETS WORD...: for a room that takes [--quick] and no other word. Builds the targets, and sets `runs`, the
# folder to write to, and `quick`, which is empty in the full form.
enter() {
  quick='' runs=${TAPEHEAD_RUNS:-runs}/$1
  case "${*:3}" in
    '') ;;
    --quick) quick=yes runs=$runs-quick ;;
    *)
      echo "usage: $0 [--quick]" >&2
      exit 2
      ;;
  esac
  local targets
  read -ra targets <<< "$2"
  build "${targets[@]}"
}

# build TARGET...: builds those that are not said to be elsewhere.
build() {
  local target elsewhere missing=()
  for target in "$@"; do
    case $target in
      tapehead_program) elsewhere=${TAPEHEAD:-} ;;
      *) elsewhere=${TAPEHEAD_ROOMS:-} ;;
    esac
    [ -n "$elsewhere" ] || missing+=("$target")
  done
  [ ${#missing[@]} -gt 0 ] || return 0
  .ci/packages build
  .ci/build "${missing[@]}"
}

# logged LOG COMMAND...: keeps a command's standard error in a file, and shows it where the command fails.
logged() {
  local log=$1 status=0
  shift
  "$@" 2> "$log" || status=$?
  [ "$status" -eq 0 ] || cat "$log" >&2
  return "$status"
}

# best_head RUN SCORE: layer, head and score of the head that has the highest score of that name at the run's end.
best_head() {
  awk -F, -v score="$2" '
    NR == 1 { for (i = 1; i <= NF; ++i) at[$i] = i; next }
    $1 != step { step = $1; best = -1 }
    $at[score] > best { best = $at[score]; head = $at["layer"] " " $at["head"] }
    END { print head, best }' "$1/heads.csv"
}

# draw FILE.svg WIDTH HEIGHT FONT_SIZE: draws the gnuplot commands of standard input, in the style that all figures have.
draw() {
  {
    cat << EOT
set terminal svg size $2,$3 font 'Inter,$4' background rgb 'white'
set output '$1'
set border 3 linewidth 0.7 linecolor rgb '#7a7a7a'
set tics nomirror out scale 0.6 textcolor rgb '#222222'
set grid ytics linewidth 0.5 linecolor rgb '#e4e4e4'
EOT
    cat
  } | gnuplot
  printf '\n%s\n' "$1"
}

# For an awk program to begin with: median(list, count), which sorts the list, and leaves its ends in `least` and `most`.
median='
  function median(list, count,    i, j, swap) {
    for (i = 1; i <= count; ++i)
      for (j = i + 1; j <= count; ++j)
        if (list[j] < list[i]) { swap = list[i]; list[i] = list[j]; list[j] = swap }
    least = list[1]; most = list[count]
    return count % 2 ? list[(count + 1) / 2] : (list[count / 2] + list[count / 2 + 1]) / 2
  }'
