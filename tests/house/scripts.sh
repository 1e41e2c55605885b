#!/usr/bin/env bash
# Every shell script is executable, stops at the first error, and passes shellcheck.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

if ! command -v shellcheck > /dev/null; then
  echo "SKIPPED: shellcheck is not installed (apt-get install shellcheck)"
  exit 77
fi

scripts=()
while IFS= read -r -d '' file; do
  IFS= read -r first < "$file" || true
  if [[ $file == *.sh || $first =~ ^#!.*sh ]]; then scripts+=("$file"); fi
done < <(find .ci src include configs experiments tests '(' -name runs -o -name node_modules ')' -prune -o -type f -print0 | sort -z)
echo "${#scripts[@]} scripts: ${scripts[*]}"
[[ " ${scripts[*]} " == *" tests/house/scripts.sh "* ]]

status=0
for script in "${scripts[@]}"; do
  [ -x "$script" ] || { echo "$script: not executable"; status=1; }
  grep --quiet '^set -euo pipefail$' "$script" || { echo "$script: no line 'set -euo pipefail'"; status=1; }
done
shellcheck --external-sources "${scripts[@]}" || status=1
exit "$status"
