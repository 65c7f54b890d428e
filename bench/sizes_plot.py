#!/usr/bin/env python3
"""Plots what sizes.py measured: a panel for each movement, the share of the best peer against the bytes moved.

    python3 bench/sizes_plot.py OUT.svg H200.csv [H100.csv ..]

Upper panels: microseconds of a kernel in a CUDA graph (ours, torch eager, torch.compile, cudaMemcpyAsync of as many bytes) on the
first file's GPU; lower panels: the best of eager and compiled over ours on each GPU (1: as fast; 2: ours takes half the time).
Needs matplotlib.
"""
import csv
import math
import sys
from collections import defaultdict

import matplotlib

matplotlib.use("svg")
import matplotlib.pyplot as plt  # noqa: E402

matplotlib.rcParams["svg.fonttype"] = "none"
matplotlib.rcParams["svg.hashsalt"] = "sizes"

PEERS = [("ours", "tilecc", "#0b6e4f", 1.8), ("eager", "torch eager", "#c1666b", 1.0),
         ("compiled", "torch.compile", "#4a6fa5", 1.0), ("memcpy", "cudaMemcpyAsync", "#999999", 0.8)]
SIZE_TICKS = [(1 << 12, "4 KB"), (1 << 16, "64 KB"), (1 << 20, "1 MB"), (1 << 24, "16 MB"), (1 << 28, "256 MB"), (1 << 31, "2 GB")]


def read(path):
    """GPU and {movement: [row]}, the rows by size with numbers as floats (None: not measured)."""
    movements, gpu = defaultdict(list), ""
    with open(path, newline="") as f:
        for row in csv.DictReader(f):
            gpu = row["gpu"]
            number = {k: float(v) if v else None for k, v in row.items() if k not in ("gpu", "movement", "shape")}
            movements[row["movement"]].append(number)
    for rows in movements.values():
        rows.sort(key=lambda r: r["bytes"])
    return gpu, movements


def best(row):
    return min(row[p] for p in ("eager", "compiled") if row[p])


def sizes_axis(ax):
    ax.set_xscale("log", base=2)
    ax.set_xticks([s for s, _ in SIZE_TICKS], [t for _, t in SIZE_TICKS])
    ax.minorticks_off()
    ax.tick_params(labelsize=6)
    ax.grid(True, linewidth=0.3)


def draw_times(ax, rows):
    for key, _, color, width in PEERS:
        points = [(r["bytes"], r[key]) for r in rows if r[key]]
        ax.plot(*zip(*points), color=color, linewidth=width)
    ax.set_yscale("log")
    sizes_axis(ax)


def draw_share(ax, runs, movement):
    for (gpu, movements), style in zip(runs, ("-", "--", ":", "-.")):
        rows = movements.get(movement, [])
        ax.plot([r["bytes"] for r in rows], [best(r) / r["ours"] for r in rows], style, color="#0b6e4f", linewidth=1.2)
    ax.axhline(1, color="black", linewidth=0.6)
    ax.set_ylim(0.5, 2.5)
    sizes_axis(ax)


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    runs = [read(p) for p in sys.argv[2:]]
    names = list(runs[0][1])
    columns = 4
    blocks = math.ceil(len(names) / columns)
    fig, axes = plt.subplots(2 * blocks, columns, figsize=(3.1 * columns, 3.1 * blocks), height_ratios=[1.5, 1] * blocks, squeeze=False)
    for i in range(blocks * columns):
        top, low = axes[2 * (i // columns)][i % columns], axes[2 * (i // columns) + 1][i % columns]
        if i >= len(names):
            top.axis("off")
            low.axis("off")
            continue
        top.set_title(names[i], fontsize=8)
        draw_times(top, runs[0][1][names[i]])
        draw_share(low, runs, names[i])
        top.set_xticklabels([])
        if i % columns == 0:
            top.set_ylabel("µs", fontsize=7)
            low.set_ylabel("best peer / ours", fontsize=7)
    lines = [plt.Line2D([], [], color=c, linewidth=w, label=t) for _, t, c, w in PEERS]
    lines += [plt.Line2D([], [], color="#0b6e4f", linestyle=s, linewidth=1.2, label=f"best peer / ours, {gpu}")
              for (gpu, _), s in zip(runs, ("-", "--", ":", "-."))]
    fig.legend(handles=lines, ncols=3, fontsize=8, loc="lower center", frameon=False)
    fig.suptitle(f"Time of a kernel in a CUDA graph on {runs[0][0]}, against the bytes moved", fontsize=10)
    fig.tight_layout(rect=(0, 0.05, 1, 0.99))
    fig.savefig(sys.argv[1], metadata={"Date": None})


if __name__ == "__main__":
    main()
