#!/usr/bin/env bash
# Writes data/kjv.txt, the King James Bible, one verse a line, from Debian's package:
#   data/bible.sh
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

[ ! -s data/kjv.txt ] || exit 0
.ci/packages texts
# A verse comes with its place before it, as in "Ge1:1 In the beginning".
bible -f gen1:1-rev22:21 | sed 's/^[^ ]* //' > data/kjv.txt.new
mv data/kjv.txt.new data/kjv.txt
