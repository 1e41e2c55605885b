#!/usr/bin/env bash
# Trains the same models in Tapehead and in PyTorch, in turns, and prints a table of medians and ratios.
#   experiments/speed/run.sh [--quick]
# Some twenty minutes once it is built. Leave the machine alone meanwhile. Every measurement is kept in build/speed/.
# --quick only shows that everything still runs: two small rows, a round, a few steps each, in runs/speed-quick/.
# TAPEHEAD names a program other than the one it builds, whose benchmarks are in tests/ beside it; TAPEHEAD_RUNS a folder
# for the measurements.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

rounds=5 seconds=1.2 trial_seconds=0.5 waits=(unset active passive)
gpt2_rounds=3 gpt2_steps=5
cores=$(nproc)
results=${TAPEHEAD_RUNS:-build}/speed quick=
case "$*" in
  "") ;;
  --quick)
    rounds=1 seconds=0.02 trial_seconds=0.02 quick=yes
    cores=$((cores < 2 ? cores : 2))
    results=${TAPEHEAD_RUNS:-runs}/speed-quick
    ;;
  *)
    echo "usage: experiments/speed/run.sh [--quick]" >&2
    exit 2
    ;;
esac

tapehead=${TAPEHEAD:-build/tapehead}
if [ -z "${TAPEHEAD:-}" ]; then
  .ci/packages build speed
  .ci/build tapehead_program tapehead_benchmarks
fi
benchmarks=$(dirname "$tapehead")/tests/tapehead_benchmarks
if ! [ -x "$benchmarks" ]; then
  echo "expected the program $benchmarks, which is not there" >&2
  exit 1
fi

# Debian's own, which sees Debian's PyTorch.
python=/usr/bin/python3
if ! "$python" -c 'import torch' 2> /dev/null; then
  echo "SKIPPED: PyTorch is not installed (apt-get install python3-torch)"
  exit 77
fi
rm -rf "$results"
mkdir -p "$results"
printf 'cores=%s\nload=%s\nversion=%s\n' "$cores" "$(cut -d' ' -f1-3 /proc/loadavg)" "$("$tapehead" --version)" \
  > "$results/run"

if [ -n "$quick" ]; then
  echo "measurements as short as these say only that everything runs" >&2
elif awk '{ exit !($1 > 0.5) }' /proc/loadavg; then
  echo "something else is running (load average $(cut -d' ' -f1 /proc/loadavg)): the figures will not be worth much" >&2
fi

# Memory once had is kept and in large pages: fresh pages can cost PyTorch nearly half of its time.
memory=(MALLOC_MMAP_THRESHOLD_=1073741824 MALLOC_TRIM_THRESHOLD_=17179869184 MALLOC_TOP_PAD_=67108864
        MALLOC_ARENA_MAX=1 GLIBC_TUNABLES=glibc.malloc.hugetlb=1)

# PyTorch with so many threads of its own, so many of OpenBLAS, and a way for threads to wait.
in_torch() {
  local threads=$1 blas=$2 wait=$3 policy=()
  shift 3
  [ "$wait" = unset ] || policy=("OMP_WAIT_POLICY=$wait")
  env --unset=OMP_NUM_THREADS --unset=OMP_WAIT_POLICY --unset=GOMP_SPINCOUNT "${memory[@]}" "${policy[@]}" \
    OPENBLAS_NUM_THREADS="$blas" "$python" experiments/speed/train_torch.py --threads "$threads" --json "$@"
}

# PyTorch as most scripts have it: attention as commonly written, every setting left as it is.
in_plain_torch() {
  env --unset=OMP_NUM_THREADS --unset=OMP_WAIT_POLICY --unset=GOMP_SPINCOUNT "$python" \
    experiments/speed/train_torch.py --plain --threads "$cores" --json "$@"
}

# Tries every way for PyTorch to use the cores by itself, one thread included; in the short form, that one alone.
try_settings() {
  local trials=$1 wait blas
  shift
  in_torch 1 1 unset "$@" >> "$trials"
  if [ "$cores" -eq 1 ] || [ -n "$quick" ]; then return; fi
  in_torch 1 "$cores" unset "$@" >> "$trials"
  for wait in "${waits[@]}"; do
    for blas in 1 "$cores"; do in_torch "$cores" "$blas" "$wait" "$@" >> "$trials"; done
  done
}

# Tapehead with so many threads.
ours() {
  local name=$1 threads=$2
  case $name in
    attention-*)
      "$benchmarks" --benchmark_format=json --benchmark_min_time="$seconds" \
        --benchmark_filter="^attention/length:${name#attention-}/threads:$threads\$" 2> /dev/null
      ;;
    speed-gpt2)
      "$tapehead" bench configs/speed-gpt2.toml --threads "$threads" --steps "$gpt2_steps" --json
      ;;
    *) "$tapehead" bench "configs/$name.toml" --threads "$threads" --seconds "$seconds" --json ;;
  esac
}

# A row of the table: a config's name or attention-LENGTH, and what the table calls it.
row() {
  local name=$1 title=$2 turns=$rounds file=$results/$1 what=("configs/$1.toml")
  local trial=(--seconds "$trial_seconds") measurement=(--seconds "$seconds") turn threads blas wait
  case $name in
    attention-*) what=(--attention "${name#attention-}") ;;
    speed-gpt2) turns=$gpt2_rounds trial=(--steps 2) measurement=(--steps "$gpt2_steps") ;;
  esac
  printf '%s\t%s\n' "$name" "$title" >> "$results/rows"

  echo "$title: trying PyTorch's settings" >&2
  try_settings "$file.trials.json" "${what[@]}" "${trial[@]}"
  read -r threads blas wait < <("$python" experiments/speed/table.py best "$file.trials.json")
  echo "$title: measuring" >&2
  what+=("${measurement[@]}")
  for ((turn = 0; turn < turns; ++turn)); do
    ours "$name" 1 >> "$file.ours-one.json"
    in_torch 1 1 unset "${what[@]}" >> "$file.torch-one.json"
    ours "$name" "$cores" >> "$file.ours-all.json"
    in_torch "$threads" "$blas" "$wait" "${what[@]}" >> "$file.torch-all.json"
    in_torch 1 1 unset --workers "$cores" "${what[@]}" >> "$file.torch-parts.json"
    in_plain_torch "${what[@]}" >> "$file.torch-plain.json"
  done
}

if [ -n "$quick" ]; then
  row induction "induction.toml"
  row attention-64 "attention alone, length 64"
  "$python" experiments/speed/table.py table "$results"
  exit
fi
row speed-copy "copy model"
row induction "induction.toml"
row speed-feed-forward "with feed-forward"
row speed-gpt2-block "GPT-2's block"
row speed-gpt2 "GPT-2, 124M"
row attention-512 "attention alone, length 512"
row attention-1024 "attention alone, length 1,024"

"$python" experiments/speed/table.py table "$results" | tee "$results/table.md"
