#!/usr/bin/env bash
# No file names a folder of one machine: what a person or a workplace keeps under these roots.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

roots='home|root|Users|work|mnt|media|opt|srv'
# Where a path begins: not within a relative path, an address, or after a variable.
start='^|-[IL]|[^A-Za-z0-9_.})/-]'

names_a_machine() { grep -nIE "($start)/($roots)/[A-Za-z0-9_.]" "$@"; }

# The check must itself be able to fail, and to pass.
names_a_machine --quiet <<< 'cmake -S "/'"home"'/somebody/tapehead"'
names_a_machine --quiet <<< '-I/'"opt"'/xtensor/include'
if names_a_machine <<< 'src/mnt/x.cpp https://example.org/home/x prefix/opt/x ../srv/x'; then exit 1; fi

status=0
names_a_machine -r . --exclude-dir=.git --exclude-dir='build*' --exclude-dir=runs --exclude-dir=node_modules || status=$?
if [ "$status" -eq 0 ]; then echo "The lines above name a folder of one machine."; fi
# 1 is grep's word for: nothing found.
[ "$status" -eq 1 ]
