#!/usr/bin/env bash
# The page's modules and styles, and the scripts that drive a browser over it, are as prettier has them, and eslint
# finds nothing in them.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

tools=tests/browser/node_modules/.bin
if ! [ -x "$tools/prettier" ] || ! [ -x "$tools/eslint" ] || ! command -v node > /dev/null; then
  echo "SKIPPED: prettier and eslint are not installed (tests/browser/install.sh)"
  exit 77
fi

places=(src/report/page tests/browser/*.js)
lint=("$tools/eslint" --config tests/browser/eslint.config.js)
# The check must itself be able to fail.
if "${lint[@]}" --stdin --stdin-filename src/report/page/x.js <<< 'unknown(1);' > /dev/null; then exit 1; fi

status=0
"$tools/prettier" --config tests/browser/package.json --check "${places[@]}" || status=1
"${lint[@]}" "${places[@]}" || status=1
exit "$status"
