#!/usr/bin/env bash
# A model as large as GPT-2 small is imported and looked at in less than 2 GB of memory.
#   tests/app/gpt2_size.sh TAPEHEAD
set -euo pipefail

if ! command -v python3 > /dev/null; then
  echo "SKIPPED: python3, which makes the model, is not installed (apt-get install python3)"
  exit 77
fi
room=$(df --output=avail --block-size=1M "${TMPDIR:-/tmp}" | tail -n 1)
if [ "$room" -lt 1500 ]; then
  echo "SKIPPED: the model and its run take 1.1 GB in ${TMPDIR:-/tmp}, which has $room MB"
  exit 77
fi
exec python3 "$(dirname "${BASH_SOURCE[0]}")/gpt2_size.py" "$1"
