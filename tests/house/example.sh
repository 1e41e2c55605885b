#!/usr/bin/env bash
# The README's first example is the very text that tests/install/main.cpp builds between its two markers.
# In the README it is the ```cpp block after a comment line that names that file.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

fail() {
  echo "[example] $1" >&2
  exit 1
}

program=tests/install/main.cpp
[ -f README.md ] || fail "expected README.md, which does not exist"
printed=$(awk -v program="$program" '
  /^<!--/ && index($0, program) { marked = 1 }
  inside && /^```/              { exit }
  inside                        { print }
  marked && /^```cpp$/          { inside = 1 }' README.md)
built=$(sed -n '/README: begin/,/README: end/ { //! s/^  //p; //! { /^$/p } }' "$program")
[ -n "$printed" ] || fail "expected in README.md a line '<!-- $program -->' and a \`\`\`cpp block after it"
[ -n "$built" ] || fail "expected lines between 'README: begin' and 'README: end' in $program"

diff --label README.md --label "$program" -u <(echo "$printed") <(echo "$built") ||
  fail "expected the example in README.md to be the text in $program"
