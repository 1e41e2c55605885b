#!/usr/bin/env bash
# Installs the packages of package.json beside it, as package-lock.json has them; does nothing where they are there.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"

if [ node_modules/.package-lock.json -nt package-lock.json ]; then exit 0; fi
npm ci --no-progress < /dev/null
touch node_modules/.package-lock.json
