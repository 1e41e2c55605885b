#!/usr/bin/env python3
"""Our runs of the copy model beside another project's logs.

    compare.py table RUNS CURVES         a Markdown table of crossings and ends
    compare.py figure RUNS CURVES FILE   the curves, drawn by gnuplot as SVG
    compare.py others RUN                the options of `tapehead ablate` that take out every head of a run but the best
                                         previous-token head of layer 0 and the best induction head of the last layer

RUNS is the folder with our runs, CURVES the one with their logs, or empty: then ours stand alone.
"""

import csv
import json
import pathlib
import subprocess
import sys

OURS = (("reference-copy", "ours, seed 1"), ("reference-copy-seed-2", "ours, seed 2"),
        ("reference-copy-one-layer", "ours, one layer"))
THEIRS = (("training_log_L2", "theirs"), ("training_log_L2s1", "theirs, another seed"),
          ("training_log_L1", "theirs, one layer"))
COLOURS = {"ours": "#0072b2", "theirs": "#d55e00"}
GREY, INK, PALE = "#7a7a7a", "#222222", "#e4e4e4"
WIDTH, HEIGHT, LEFT, RIGHT = 880, 640, 70, 690
# What is drawn, times what, up to what, its ticks, pixels from the top to the top and bottom, in words.
PANELS = (("accuracy_induction", 100, 100, 25, (92, 320), "accuracy on induction positions (%)"),
          ("loss_induction", 1, 4.5, 1, (364, 584), "loss on induction positions (nats)"))


def rows_of(file):
    with open(file, newline="") as lines:
        return list(csv.DictReader(lines))


def ours(runs):
    for name, label in OURS:
        file = pathlib.Path(runs) / name / "metrics.csv"
        if file.exists():
            columns = ("loss_induction", "loss_noise", "accuracy_induction")
            yield label, [(int(row["step"]), {c: float(row[c]) for c in columns}) for row in rows_of(file)]


def theirs(folder):
    for name, label in THEIRS if folder else ():
        log = json.loads((pathlib.Path(folder) / f"{name}.json").read_text())
        yield label, [(row["step"], {"loss_induction": row["ind_loss"], "loss_noise": row["ctl_loss"],
                                     "accuracy_induction": row["ind_acc"]}) for row in log]


def crossing(curve, accuracy):
    return next((f"{step:,}" for step, row in curve if row["accuracy_induction"] > accuracy), "–")


def print_table(runs, folder):
    print("| run | 10 % at step | 50 % at step | accuracy at the end | loss on induction | on noise | last step |")
    print("|---|---|---|---|---|---|---|")
    for label, curve in (*theirs(folder), *ours(runs)):
        step, last = curve[-1]
        print(f"| {label} | {crossing(curve, 0.1)} | {crossing(curve, 0.5)} | {last['accuracy_induction']:.3f} | "
              f"{last['loss_induction']:.2f} | {last['loss_noise']:.2f} | {step:,} |")


def apart(wanted, gap):
    """The places, moved as little as that takes, so that none are closer than the gap; any order."""
    order = sorted(range(len(wanted)), key=lambda i: wanted[i])
    places = list(wanted)
    for _ in range(200):
        for low, high in zip(order, order[1:]):
            lack = gap - (places[high] - places[low])
            if lack > 0:
                places[low] -= lack / 2
                places[high] += lack / 2
    return places


def style(label):
    """Colour, dash type and width: the project by colour, another seed dashed, one layer thin."""
    colour = COLOURS["ours" if label.startswith("ours") else "theirs"]
    return colour, 2 if "seed 2" in label or "another" in label else 1, 1.0 if "one layer" in label else 1.8


def panel(curves, best, index, column, factor, top, ticks, pixels, title):
    first, last = pixels
    lines = [f"set tmargin at screen {1 - first / HEIGHT}", f"set bmargin at screen {1 - last / HEIGHT}",
             f"set yrange [0:{top}]", f"set ytics {ticks}",
             "set format x ''" if index == 0 else "set format x '%g'",
             f"set label 1 {title!r} at graph 0, graph 1 left offset 0,0.7 textcolor rgb '{INK}'"]
    plots, labels = [], []
    for number, (label, curve) in enumerate(curves):
        colour, dash, width = style(label)
        plots.append(f"$curve{number} using 1:{index + 2} with lines linewidth {width} dashtype {dash} "
                     f"linecolor rgb '{colour}'")
        value = factor * curve[-1][1][column]
        labels.append((value, f"{label} {value:.1f} %" if factor == 100 else f"{label} {value:.2f}", colour))
    for value, text in best:
        plots.insert(0, f"{value} with lines linewidth 1 linecolor rgb '#b8b8b8'")
        labels.append((value, text, GREY))
    height = last - first
    places = apart([value / top * height for value, _, _ in labels], 17)
    lift = max(0, 6 - min(places))
    for number, ((_, text, colour), place) in enumerate(zip(labels, places)):
        lines.append(f"set label {number + 10} {text!r} at graph 1.012, graph {(place + lift) / height:.4f} left "
                     f"textcolor rgb '{colour}'")
    if index == 1:
        lines.append(f"set label 2 'training step (256 sequences each)' at screen {0.5 * (LEFT + RIGHT) / WIDTH}, "
                     f"screen {1 - (last + 45) / HEIGHT} center textcolor rgb '{INK}'")
    return lines + ["plot " + ", ".join(plots), "unset label"]


def floors(runs, column, factor):
    file = pathlib.Path(runs) / "reference-copy" / "floors.csv"
    for row in rows_of(file) if file.exists() else ():
        if row["predictor"] in ("current token", "Bayes"):
            value = factor * float(row[column])
            yield value, f"floor: {row['predictor']} " + (f"{value:.1f} %" if factor == 100 else f"{value:.2f}")


def draw(runs, folder, file):
    curves = [*theirs(folder), *ours(runs)]
    lines = [f"set terminal svg size {WIDTH},{HEIGHT} dynamic background rgb 'white' font 'Inter,14'",
             "set encoding utf8", f"set border 3 linecolor rgb '{GREY}' linewidth 0.8",
             f"set tics nomirror out scale 0.5 font ',13' textcolor rgb '{INK}'",
             f"set grid ytics linetype 1 linecolor rgb '{PALE}' linewidth 0.6", "set key off", "set multiplot",
             f"set lmargin at screen {LEFT / WIDTH}", f"set rmargin at screen {RIGHT / WIDTH}",
             f"set xrange [0:{max(curve[-1][0] for _, curve in curves)}]",
             f"set label 3 '{{/:Bold=19 Learning to copy, in two programs}}' at screen {20 / WIDTH}, screen "
             f"{1 - 26 / HEIGHT} left textcolor rgb '{INK}'",
             f"set label 4 '24 of 128 tokens stand a second time · 2 layers, 4 heads each, width 128, attention only' at "
             f"screen {20 / WIDTH}, screen {1 - 50 / HEIGHT} left font ',13' textcolor rgb '{GREY}'"]
    for number, (_, curve) in enumerate(curves):
        lines.append(f"$curve{number} << END")
        lines += [f"{step} {100 * row['accuracy_induction']} {row['loss_induction']}" for step, row in curve]
        lines.append("END")
    for index, (column, factor, top, ticks, pixels, title) in enumerate(PANELS):
        lines += panel(curves, list(floors(runs, column, factor)), index, column, factor, top, ticks, pixels, title)
    svg = subprocess.run(["gnuplot"], input="\n".join(lines), capture_output=True, text=True, check=True).stdout
    pathlib.Path(file).parent.mkdir(parents=True, exist_ok=True)
    pathlib.Path(file).write_text(svg)
    print(file)


def print_others(run):
    heads = rows_of(pathlib.Path(run) / "heads.csv")
    heads = [row for row in heads if row["step"] == heads[-1]["step"]]
    last = heads[-1]["layer"]
    previous = max((row for row in heads if row["layer"] == "0"), key=lambda row: float(row["previous_token"]))
    induction = max((row for row in heads if row["layer"] == last), key=lambda row: float(row["induction"]))
    for row in heads:
        if row not in (previous, induction):
            print(f"--head\n{row['layer']}.{row['head']}")


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["table", runs, curves]:
            print_table(runs, curves)
        case ["figure", runs, curves, file]:
            draw(runs, curves, file)
        case ["others", run]:
            print_others(run)
        case _:
            print("usage: compare.py table RUNS CURVES | figure RUNS CURVES FILE | others RUN", file=sys.stderr)
            raise SystemExit(2)
