#!/usr/bin/env python3
"""What experiments/speed/run.sh makes of its measurements.

    table.py best FILE     the settings of the fastest trial in FILE: PyTorch's threads, OpenBLAS's, the wait policy
    table.py table FOLDER  the Markdown tables, and under them what they were measured with

FOLDER holds a file ROW.WHO.json for every row and each of
    ours-one    Tapehead on one thread       torch-one    PyTorch on one thread
    ours-all    Tapehead on every core       torch-all    PyTorch at the best of its own thread settings
                                             torch-parts  PyTorch, a batch cut into a part for every core
                                             torch-plain  PyTorch as most scripts have it
A file holds a JSON object a round, of `tapehead bench`, of train_torch.py, or of Google Benchmark.
"""

import json
import pathlib
import platform
import statistics
import sys

WHO = ("ours-one", "torch-one", "ours-all", "torch-all", "torch-parts", "torch-plain")
MILLISECONDS = {"ns": 1e-6, "us": 1e-3, "ms": 1.0, "s": 1e3}


def objects(path):
    """The JSON objects of a file, one after the other; those of Google Benchmark under the names of the rest."""
    decoder, text, found = json.JSONDecoder(), path.read_text().strip(), []
    while text:
        value, end = decoder.raw_decode(text)
        text = text[end:].lstrip()
        if "benchmarks" in value:
            (run,) = (run for run in value["benchmarks"] if run.get("run_type", "iteration") == "iteration")
            value = {"ms_per_step": run["real_time"] * MILLISECONDS[run["time_unit"]],
                     "gflops": run["operations"] / 1e9}
        found.append(value)
    return found


def median(results, key):
    """Of the rounds; None where a round does not have it."""
    values = [result.get(key) for result in results]
    return None if None in values else statistics.median(values)


def settings(result):
    environment = result["environment"]
    return (result["threads"], environment.get("OPENBLAS_NUM_THREADS", "unset"),
            environment.get("OMP_WAIT_POLICY", "unset"))


def best(path):
    print(*settings(min(objects(path), key=lambda result: result["ms_per_step"])))


def time(milliseconds):
    return f"{milliseconds:.0f}" if milliseconds >= 100 else f"{milliseconds:.3g}"


def ratio(slow, fast):
    return f"{slow / fast:.1f}×" if slow / fast < 10 else f"{slow / fast:.0f}×"


def speed(gflops, peak):
    if gflops is None:
        return "–"
    return f"{gflops:.0f}" + (f" ({100 * gflops / peak:.0f} %)" if peak else "")


def mebibytes(results):
    size = median(results, "peak_memory_bytes")
    return "–" if size is None else f"{size / 2**20:,.0f}"


def rows(folder):
    names = [line.split("\t") for line in (folder / "rows").read_text().splitlines()]
    return [(title, {who: objects(folder / f"{row}.{who}.json") for who in WHO}) for row, title in names]


def print_markdown(head, lines):
    print(f"| {' | '.join(head)} |")
    print("|---" * len(head) + "|")
    for cells in lines:
        print(f"| {' | '.join(cells)} |")
    print()


def times(title, row):
    ms = {who: median(row[who], "ms_per_step") for who in WHO}
    cells = [title, time(ms["ours-one"]), time(ms["torch-one"]), f"**{ratio(ms['torch-one'], ms['ours-one'])}**",
             time(ms["ours-all"])]
    for who in ("torch-all", "torch-parts", "torch-plain"):
        best = "**" if who == "torch-all" else ""
        cells += [time(ms[who]), f"{best}{ratio(ms[who], ms['ours-all'])}{best}"]
    return cells


def efficiency(title, row, peaks):
    speeds = []
    for who in ("ours-one", "ours-all"):
        peak = median(row[who], "peak_gflops") or (statistics.median(peaks[who]) if peaks[who] else None)
        speeds.append(speed(median(row[who], "gflops"), peak))
    gain = median(row["ours-one"], "ms_per_step") / median(row["ours-all"], "ms_per_step")
    return [title, f"{gain:.2f}×", *speeds, mebibytes(row["ours-all"]), mebibytes(row["torch-all"])]


def print_tables(measured, cores):
    print_markdown(["ms a step", "Tapehead, 1 thread", "PyTorch, 1 thread", "ratio", f"Tapehead, {cores} threads",
                    "PyTorch, best threads", "ratio", f"PyTorch, {cores} parts", "ratio", "PyTorch as it comes", "ratio"],
                   [times(title, row) for title, row in measured])
    # Attention alone does not measure the peak itself: it gets that of the other rows.
    peaks = {who: [r["peak_gflops"] for _, row in measured for r in row[who] if "peak_gflops" in r]
             for who in ("ours-one", "ours-all")}
    print_markdown(["Tapehead", f"{cores} threads against 1", "GFLOP/s, 1 thread (of peak)",
                    f"GFLOP/s, {cores} threads (of peak)", "arrays, MiB", "PyTorch's process, MiB"],
                   [efficiency(title, row, peaks) for title, row in measured])
    for who, threads in (("ours-one", 1), ("ours-all", cores)):
        if peaks[who]:
            print(f"Matrix product peak on {threads} thread{'s' * (threads > 1)}: "
                  f"{statistics.median(peaks[who]):.0f} GFLOP/s")


def processor():
    for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.split(":", 1)[1].strip()
    return platform.processor() or "unknown"


def table(folder):
    measured = rows(folder)
    run = dict(line.split("=", 1) for line in (folder / "run").read_text().splitlines())
    print_tables(measured, int(run["cores"]))
    torch = measured[0][1]["torch-one"][0]
    print(f"Processor: {processor()}, {run['cores']} cores; load average at the start {run['load']}")
    print(f"Versions: {run['version']}, PyTorch {torch['torch']}; OpenBLAS core in PyTorch: {torch['openblas_core']}")
    always = sorted(f"{key}={value}" for key, value in torch["environment"].items()
                    if key not in ("OPENBLAS_NUM_THREADS", "OMP_WAIT_POLICY"))
    print(f"PyTorch's settings everywhere: {' '.join(always)}")
    for title, row in measured:
        threads, blas, wait = settings(row["torch-all"][0])
        print(f"PyTorch's best threads, {title}: {threads}, OPENBLAS_NUM_THREADS {blas}, OMP_WAIT_POLICY {wait}")


if __name__ == "__main__":
    commands = {"best": best, "table": table}
    if len(sys.argv) != 3 or sys.argv[1] not in commands:
        print("usage: table.py best FILE | table FOLDER", file=sys.stderr)
        raise SystemExit(2)
    try:
        commands[sys.argv[1]](pathlib.Path(sys.argv[2]))
    except FileNotFoundError as error:
        raise SystemExit(f"[table] {error.filename} is not there: a measurement was not finished") from None
