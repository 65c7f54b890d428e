#!/usr/bin/env python3
"""What a movement costs by its size: the library's kernels beside PyTorch's eager operation, torch.compile and the driver's copy, in CUDA graphs
and in a stream.

    python3 bench/sizes.py [--csv FILE] [--seconds N] [WORD ..]    movements whose name has one of the words; without words all

Needs a GPU, PyTorch and the package in runtime/python. A row is a movement of a size (bytes that it reads, or of the tensor that it makes): 4 KB to 2 GB,
a factor of 4 apart. Numbers are microseconds per launch. Graph: the least of three medians of replays of a graph of 100 launches (fewer where they are long), which the GPU
begins when the host has handed over all of it, so that neighbours overlap as they may; buffers are the same for all launches of a row: small ones stay in the L2, for all alike.
Stream: the same launches one by one from Python, host time included, the least of 6 to 60 rounds; in each of them ours and the others take turns. `best by ours` compares with the fastest of eager and compiled; the driver's copy
moves as many bytes as the movement reads and writes, by 2. What ours gives is compared with what eager gives, all elements. --csv writes the
rows to a file that bench/sizes_plot.py draws. Beyond --seconds nothing is compiled by torch.compile.
"""
import argparse
import csv
import math
import statistics
import sys
import time

import torch

import library
from library import bits, indices, memcpy, numbers, same, shuffled
from tilecc import std

KB, MB, GB = 1 << 10, 1 << 20, 1 << 30
SIZES = [4 * KB << 2 * i for i in range(10)] + [2 * GB]
COLUMNS = ("movement", "shape", "bytes", "ours", "eager", "compiled", "memcpy", "ours_stream", "eager_stream", "compiled_stream", "memcpy_stream")
bf16, f32 = torch.bfloat16, torch.float32
SPIN = 1 << 19  # cycles
TABLE = []
MOVEMENTS = []


def movement(name, moved=2.0):
    """make(n) gives ours, eager, their arguments and the shape for n bytes; moved: bytes read and written for each of them."""

    def add(make):
        MOVEMENTS.append((name, make, moved))
        return make

    return add


def matrix_of(n, dtype, least=64):
    """Rows and columns of a matrix of n bytes, about square, at most 8192 columns."""
    elements = n // torch.empty((), dtype=dtype).element_size()
    columns = max(least, min(8192, 1 << int(math.log2(elements)) // 2))
    return elements // columns, columns


@movement("copy")
def copy(n):
    x = bits(matrix_of(n, bf16), bf16)
    y, z = torch.empty_like(x), torch.empty_like(x)
    return lambda x, y, z: std.copy(x, y), lambda x, y, z: z.copy_(x), (x, y, z), x.shape


@movement("strided slice")
def slices(n):
    m, k = matrix_of(n, bf16)
    x = bits((m, 2 * k), bf16)[:, k // 2 : k // 2 + k]
    return lambda x: std.copy(x), lambda x: x.clone(memory_format=torch.contiguous_format), (x,), x.shape


@movement("transpose")
def transpose(n):
    x = bits(matrix_of(n, bf16), bf16)
    return lambda x: std.transpose(x), lambda x: x.t().contiguous(), (x,), x.shape


@movement("batched transpose")
def batched(n):
    m, k = (32, 64) if n < 64 * KB else (256, 128)
    x = bits((n // (2 * m * k), m, k), bf16)
    return lambda x: std.transpose(x), lambda x: x.mT.contiguous(), (x,), x.shape


@movement("NCHW to NHWC")
def nhwc(n):
    c, h, w = (32, 8, 8) if n < 64 * KB else (64, 16, 32) if n < 16 * MB else (256, 64, 64)
    x = bits((n // (2 * c * h * w), c, h, w), bf16)
    return lambda x: std.permute(x, (0, 2, 3, 1)), lambda x: x.permute(0, 2, 3, 1).contiguous(), (x,), x.shape


@movement("heads (B, S, H, D) to (B, H, S, D)")
def heads(n):
    h, d = (4, 64) if n < 32 * KB else (32, 128)
    x = bits((1, n // (2 * h * d), h, d), bf16)
    return lambda x: std.split_heads(x), lambda x: x.transpose(1, 2).contiguous(), (x,), x.shape


@movement("convert bf16 to f32", 3.0)
def convert(n):
    x = bits(matrix_of(n, bf16), bf16)
    return lambda x: std.convert(x, f32), lambda x: x.float(), (x,), x.shape


@movement("gather rows")
def gather(n):
    d = 512 if n < 32 * KB else 4096
    if not TABLE:
        TABLE.append(bits((1 << 28,), bf16))
    table, rows = TABLE[0].view(-1, d), n // (2 * d)
    idx = indices(rows, table.shape[0])
    return lambda t, i: std.gather(t, i), lambda t, i: torch.index_select(t, 0, i), (table, idx), (rows, d)


@movement("scatter-add of rows", 3.0)
def scatter_add(n):
    rows = n // 4096
    x, idx = numbers((rows, 1024)), indices(rows, max(rows, 64))
    a, b = torch.zeros((max(rows, 64), 1024), device="cuda"), torch.zeros((max(rows, 64), 1024), device="cuda")
    return lambda x, i, a, b: std.scatter_add(x, i, a), lambda x, i, a, b: b.index_add_(0, i, x), (x, idx, a, b), x.shape


@movement("concat of two, columns")
def concat(n):
    m, k = matrix_of(n, bf16, 128)
    a, b = bits((m, k // 2), bf16), bits((m, k // 2), bf16)
    return lambda a, b: std.concat([a, b], 1), lambda a, b: torch.cat([a, b], 1), (a, b), (m, k)


@movement("pad by zeros, NHWC")
def pad(n):
    h, w, c = (8, 8, 32) if n < 64 * KB else (16, 16, 64) if n < 16 * MB else (64, 64, 128)
    x = bits((n // (2 * c * h * w), h, w, c), bf16)
    F = torch.nn.functional
    return lambda x: std.pad_nhwc(x, 1, 1, 1, 1, "constant"), lambda x: F.pad(x, (0, 0, 1, 1, 1, 1)), (x,), x.shape


@movement("roll of rows")
def roll(n):
    x = bits(matrix_of(n, bf16), bf16)
    return lambda x: std.roll(x, 5), lambda x: x.roll(5, 0), (x,), x.shape


@movement("de-interleave by 2")
def deinterleave(n):
    x = bits(matrix_of(n, f32), f32)
    m, k = x.shape
    return lambda x: std.deinterleave(x, 2), lambda x: x.view(m, k // 2, 2).permute(2, 0, 1).contiguous(), (x,), x.shape


@movement("pages of 32 KB")
def pages(n):
    p = 1024 if n >= 64 * KB else 64
    cache = bits((max(2, 2 * n // (32 * p)), 16, p), bf16)
    table = shuffled(cache.shape[0])[: max(1, n // (32 * p))].contiguous()
    rows = table.shape[0] * 16
    return lambda c, t: std.pages_gather(c, t, rows), lambda c, t: torch.index_select(c, 0, t).view(rows, -1), (cache, table), (rows, p)


# ---- measuring ----


def graph_us(run, launches):
    """Of a replay counts what the GPU takes: it spins until all is in its queue, however long the host is about launching a graph."""
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        run()
        run()
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph, stream=side):
        for _ in range(launches):
            run()
    graph.replay()
    medians, spin = [], SPIN
    for _ in range(3):
        times = []
        while len(times) < (9 if launches > 4 else 3):
            start, stop = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
            torch.cuda._sleep(spin)
            start.record()
            graph.replay()
            stop.record()
            if start.query():  # the host was late
                spin = min(2 * spin, 1000 * SPIN)
                continue
            stop.synchronize()
            times.append(start.elapsed_time(stop) * 1e3 / launches)
        medians.append(statistics.median(times))
    del graph
    return min(medians)


def stream_us(runs, launches, rounds):
    """Of each of the runs; they take turns, so that a host that is slow for a while is slow for all of them."""
    best = [math.inf] * len(runs)
    for _ in range(rounds):
        for i, run in enumerate(runs):
            torch.cuda.synchronize()
            began = time.perf_counter()
            for _ in range(launches):
                run()
            torch.cuda.synchronize()
            best[i] = min(best[i], (time.perf_counter() - began) * 1e6 / launches)
    return best


def in_both(runs, n):
    """In graphs, and in a stream: before them and behind them, so that a slow while of the host's is not all there is."""
    launches, rounds = (100, 30) if n <= MB else (100, 8) if n <= 4 * MB else (20, 5) if n <= 16 * MB else (8, 3) if n <= 256 * MB else (3, 3)
    replayed = 100 if n <= 4 * MB else 40 if n <= 16 * MB else 10 if n <= 256 * MB else 3
    before, graphs = stream_us(runs, launches, rounds), [graph_us(run, replayed) for run in runs]
    return graphs, list(map(min, before, stream_us(runs, launches, rounds)))


def measure(make, n, moved, compile_too):
    ours, eager, args, shape = make(n)
    wrong = same(ours(*args), eager(*args))
    if wrong:
        return None, wrong
    runs = [lambda: ours(*args), lambda: eager(*args), memcpy(int(n * moved) // 2)]
    compiled = torch.compile(eager, dynamic=False) if compile_too else None
    if compiled:
        try:
            compiled(*args)
            runs.append(lambda: compiled(*args))
        except Exception as e:  # what torch.compile can't do is its own affair
            print("sizes.py: torch.compile:", str(e).splitlines()[0], file=sys.stderr)
    graphs, stream = in_both(runs, n)
    torch.compiler.reset()
    columns = lambda of: [*of[:2], of[3] if len(of) > 3 else math.nan, of[2]]
    return columns(graphs) + columns(stream), "x".join(map(str, shape))


def short(n):
    return f"{n // GB} GB" if n >= GB else f"{n // MB} MB" if n >= MB else f"{n // KB} KB"


def best(eager, compiled):
    return min(eager, compiled) if compiled == compiled else eager


def summary(ratios):
    """Of best by ours, in graphs and in a stream: the least, and geometric means."""
    geometric = lambda r: f"{math.exp(statistics.mean(map(math.log, r))):.3f}" if r else "-"
    print(f"\n{len(ratios)} rows, best by ours | least | < 1 MB | < 64 MB | above | geometric mean of all")
    for name, columns in ("graphs", (1,)), ("a stream", (2,)), ("both", (1, 2)):
        values = [(r[0], r[c]) for r in ratios for c in columns]
        parts = [geometric([v for n, v in values if low <= n < high]) for low, high in ((0, MB), (MB, 64 * MB), (64 * MB, 1 << 60), (0, 1 << 60))]
        print(name, "|", f"{min(v for n, v in values):.3f}", "|", " | ".join(parts))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("words", nargs="*")
    parser.add_argument("--csv")
    parser.add_argument("--seconds", type=float, default=400)
    args = parser.parse_args()
    if not torch.cuda.is_available():
        sys.exit("sizes.py: PyTorch finds no GPU")
    library.device = "cuda"
    torch.manual_seed(1)
    began, failed, ratios = time.monotonic(), 0, []
    print(f"{torch.cuda.get_device_name()}, PyTorch {torch.__version__}, us per launch\n")
    print("| movement | shape | bytes | ours | eager | compiled | memcpy | best by ours | ours in a stream | best there |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |")
    out = csv.writer(open(args.csv, "w", newline="")) if args.csv else None
    if out:
        out.writerow(["gpu", *COLUMNS])
    for name, make, moved in MOVEMENTS:
        if args.words and not any(w in name for w in args.words):
            continue
        for n in SIZES:
            try:
                t, shape = measure(make, n, moved, time.monotonic() - began < args.seconds)
            except Exception as e:
                t, shape = None, f"{type(e).__name__}: {str(e).splitlines()[0][:300]}"
            torch.cuda.empty_cache()
            if t is None:
                failed += 1
                print(f"sizes.py: {name} of {short(n)}: {shape}", file=sys.stderr, flush=True)
                continue
            ratio = best(t[1], t[2]) / t[0]
            ratios.append((n, ratio, best(t[5], t[6]) / t[4]))
            print(f"| {name} | {shape} | {short(n)} | {t[0]:.2f} | {t[1]:.2f} | {t[2]:.2f} | {t[3]:.2f} | {ratio:.2f} | {t[4]:.1f} | {best(t[5], t[6]):.1f} |", flush=True)
            if out:
                out.writerow([torch.cuda.get_device_name(), name, shape, n, *(f"{x:.3f}" for x in t)])
        TABLE.clear()
    if ratios:
        summary(ratios)
    print(f"{time.monotonic() - began:.0f} s, {failed} wrong", file=sys.stderr)
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
