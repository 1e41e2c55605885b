#!/usr/bin/env bash
# Installs a build into a folder of its own, builds the project beside this script against it, and runs that:
#   tests/install/run.sh BUILD [CMAKE_OPTION...]
set -euo pipefail
if [ $# -eq 0 ]; then
  echo "usage: tests/install/run.sh BUILD [CMAKE_OPTION...]" >&2
  exit 2
fi
build=$1
shift
project=$(dirname "$(realpath "${BASH_SOURCE[0]}")")
root=$(realpath "$project/../..")

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
prefix=$scratch/prefix

cmake --install "$build" --prefix "$prefix" > "$scratch/installed"
"$prefix/bin/tapehead" --version
if grep -rF "$root" --include='*.cmake' "$prefix"; then
  echo "[install] expected a package that stands alone, got one that names $root" >&2
  exit 1
fi

cmake -S "$project" -B "$scratch/build" -G Ninja -DCMAKE_PREFIX_PATH="$prefix" "$@"
cmake --build "$scratch/build"
(cd "$scratch" && build/example) | tee "$scratch/printed"

# Anything but two plain numbers (nan, inf) is no loss; a tenth is more than any batch differs by.
awk '/^loss [0-9.]+ before, [0-9.]+ after$/ && $4 < 0.9 * $2 { learnt = 1 }
     END { exit !learnt }' "$scratch/printed" || {
  echo "[install] expected 'loss X before, Y after' with Y a tenth below X or lower" >&2
  exit 1
}
