#!/usr/bin/env bash
# ctest takes names apart at brackets and semicolons, and then runs other tests than it lists, or none.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

breaks_ctest() { grep -nE 'TEST_CASE\("[^"]*[][;\\]' "$@"; }

# The check must itself be able to fail, and to pass.
breaks_ctest --quiet <<< 'TEST_CASE("a draw lies in [0, 1)") {'
breaks_ctest --quiet <<< 'TEST_CASE("one thing; another") {'
if breaks_ctest <<< 'TEST_CASE("a draw (of many), is x > 0") {'; then exit 1; fi

if breaks_ctest -r tests --include='*.cpp'; then
  echo "The test names above hold a bracket, a semicolon or a backslash."
  exit 1
fi
