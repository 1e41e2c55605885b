#!/usr/bin/env bash
# Every file that a README points to is there.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

# The targets of [text](target) and ![text](target) in a file, without addresses and places within a page.
targets() { grep -oE '\]\([^)#]+\)' "$1" | sed 's/^](//; s/)$//' | grep -v '^https\?:' || true; }

status=0
while IFS= read -r page; do
  while IFS= read -r target; do
    [ -z "$target" ] || [ -e "$(dirname "$page")/$target" ] || {
      echo "$page points to $target, which is not there"
      status=1
    }
  done < <(targets "$page")
done < <(find . -name '*.md' -not -path './build*' -not -path './runs/*' -not -path './.git/*' -not -path '*/node_modules/*')
exit "$status"
