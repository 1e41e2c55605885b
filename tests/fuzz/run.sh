#!/usr/bin/env bash
# Builds the fuzz targets and runs them all at once, for so many seconds:
#   tests/fuzz/run.sh [SECONDS]      20, unless told how many
# What is found lies in build-fuzz/findings. What is learnt on the way stays in build-fuzz/corpus, for the next run.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

seconds=${1:-20}
[[ $seconds =~ ^[1-9][0-9]*$ ]] || { echo "usage: tests/fuzz/run.sh [SECONDS]" >&2; exit 2; }

if ! command -v clang++ > /dev/null; then
  echo "SKIPPED: clang++ is not installed (apt-get install clang)"
  exit 77
fi
mkdir -p build-fuzz/findings
entry='extern "C" int LLVMFuzzerTestOneInput(const unsigned char*, unsigned long) { return 0; }'
if ! clang++ -fsanitize=fuzzer,address,undefined -x c++ - -o build-fuzz/probe <<< "$entry" 2> /dev/null; then
  echo "SKIPPED: clang++ has no libFuzzer (apt-get install libclang-rt-14-dev)"
  exit 77
fi

{ cmake --preset fuzz && cmake --build --preset fuzz; } > build-fuzz/build.log 2>&1 || {
  cat build-fuzz/build.log
  exit 1
}

# Fuzzes one target and says in one line how it went. Of inputs this short nobody has to make a block of a megabyte,
# the smallest limit that libFuzzer has.
fuzz() {
  local target=$1 learnt=build-fuzz/corpus/$1 log=build-fuzz/$1.log
  local seeds=(tests/fuzz/corpus/"$target")
  [ "$target" != config ] || seeds+=(configs)
  mkdir -p "$learnt"
  local status=0
  build-fuzz/tests/fuzz/fuzz_"$target" -max_total_time="$seconds" -timeout=5 -max_len=4096 -rss_limit_mb=512 \
    -malloc_limit_mb=1 -artifact_prefix=build-fuzz/findings/"$target"- -print_final_stats=1 \
    "$learnt" "${seeds[@]}" > "$log" 2>&1 || status=$?
  if [ "$status" -ne 0 ]; then
    echo "$target: FOUND $(sed -n 's/.*Test unit written to //p' "$log"); the end of $log:"
    tail -n 40 "$log"
    return 1
  fi
  echo "$target: $(sed -n 's/^stat::number_of_executed_units: *//p' "$log") runs in $seconds s," \
    "$(sed -n 's/.*DONE *cov: \([0-9]*\) .*/\1/p' "$log") edges covered, nothing found"
}

running=()
for corpus in tests/fuzz/corpus/*; do
  fuzz "$(basename "$corpus")" &
  running+=($!)
done
status=0
for target in "${running[@]}"; do wait "$target" || status=1; done
exit "$status"
