#!/usr/bin/env bash
# Every C++ file is as the .clang-format at the root has it. Versions differ in what they make of one, so only
# the version of Debian 12 is asked.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

version=14
if ! found=$(clang-format --version 2> /dev/null); then
  echo "SKIPPED: clang-format is not installed (apt-get install clang-format)"
  exit 77
fi
if ! [[ $found =~ version\ $version\. ]]; then
  echo "SKIPPED: formatting is checked with clang-format $version; this is $found"
  exit 77
fi

mapfile -t -d '' files < <(find include src tests experiments '(' -name '*.h' -o -name '*.cpp' ')' -print0 | sort -z)
echo "${#files[@]} files"
[ ${#files[@]} -gt 0 ]

status=0
complaints=$(clang-format --dry-run -Werror "${files[@]}" 2>&1) || status=$?
if [ "$status" -ne 0 ]; then
  unformatted=$(sed -n 's/^\([^: ]*\):[0-9]*:[0-9]*: error: .*/\1/p' <<< "$complaints" | sort --unique)
  printf '%s\n\nFormat with: clang-format -i %s\n' "$complaints" "${unformatted//$'\n'/ }"
fi
exit "$status"
