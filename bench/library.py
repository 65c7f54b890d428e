#!/usr/bin/env python3
"""The library's movements, from Python, beside PyTorch's: eager, by torch.compile, and a driver copy of the same bytes.

    python3 bench/library.py [WORD ..]          cases whose name has one of the words; without words all
    python3 bench/library.py --small [WORD ..]  small shapes, on the CPU: ours on the simulator, no times

Prints a table for Markdown, a line as soon as it is there. Needs PyTorch and the package in runtime/python. Each case checks what ours gives
against what PyTorch gives before it is measured, and after (sums only before): all elements. Three launches in front, then REPEATS in a row with an event between
any two: the median counts. Data are several times the L2. TB/s count the bytes that the movement must read and write, once each; `of memcpy` is
the time of a cudaMemcpyAsync from device to device that reads and writes as many, by ours; `best by ours` that of the faster one of eager and
compiled. Beyond SECONDS nothing more is compiled by torch.compile, and the column says so. Exit code 1 if a result is wrong or a case fails.
"""
import argparse
import ctypes
import statistics
import sys
import time
import traceback
from dataclasses import dataclass

import torch
import torch.nn.functional as F

import tilecc
from tilecc import std

WARM_UP = 3
CASES = []
device = "cuda"


@dataclass
class Case:
    """ours(*args) and eager(*args) give the same; compiled: what torch.compile gets, eager if left out."""

    ours: object
    eager: object
    args: tuple
    moved: int
    compiled: object = None
    adds: bool = False  # to what is there: again is not the same


def case(name, large, small):
    def add(make):
        CASES.append((name, make, large, small))
        return make

    return add


# ---- data ----


def bits(shape, dtype):
    """Finite numbers of all kinds: data that are all alike would be moved at less power."""
    size = torch.empty((), dtype=dtype).element_size()
    info = torch.iinfo({1: torch.uint8, 2: torch.int16, 4: torch.int32, 8: torch.int64}[size])
    x = torch.randint(info.min, info.max, shape, dtype=torch.int64 if size == 8 else {1: torch.uint8, 2: torch.int16, 4: torch.int32}[size], device=device)
    if dtype.is_floating_point:
        x.bitwise_and_(-1 - (1 << (info.bits - 2)))  # the highest bit of the exponent is 0
    return x.view(dtype)


def numbers(shape, dtype=torch.float32):
    """Whole eighths, whose sums are exact in f32."""
    return (torch.randint(-64, 65, shape, device=device, dtype=torch.int32) / 8).to(dtype)


def indices(n, limit):
    return torch.randint(0, limit, (n,), dtype=torch.int32, device=device)


def shuffled(n, dtype=torch.int32):
    return torch.randperm(n, device=device).to(dtype)


def nbytes(*tensors):
    return sum(x.nbytes for x in tensors)


# ---- copies ----


@case("copy, bf16 {} x {}", (32768, 16384), (70, 256))
def copy(m, n):
    x = bits((m, n), torch.bfloat16)
    return Case(std.copy, torch.clone, (x,), 2 * x.nbytes)


@case("strided copy: a crop by 256 on all sides, bf16 {} x {}", (32768, 16384), (600, 1024))
def crop(m, n):
    x = bits((m, n), torch.bfloat16)
    y = x[256:-256, 256:-256]
    return Case(std.copy, lambda y: y.clone(memory_format=torch.contiguous_format), (y,), 2 * y.numel() * 2)


@case("crop from column 3 on, bf16 {} x {}", (32768, 16384), (70, 512))
def slide(m, n):
    x = bits((m, n), torch.bfloat16)
    return Case(lambda x: std.slide(x, -3), lambda x: F.pad(x[:, 3:], (0, 3)), (x,), 2 * x.nbytes)


@case("fill, f32 {} x {}", (32768, 16384), (70, 256))
def fill(m, n):
    x, y = torch.empty((m, n), device=device), torch.empty((m, n), device=device)
    z = torch.empty((m, n), device=device)
    return Case(lambda x, y, z: std.fill(x, 3), lambda x, y, z: y.fill_(3), (x, y, z), x.nbytes, compiled=lambda x, y, z: z.fill_(3))


@case("pad by zeros, NHWC bf16 {} x {} x {} x {}", (128, 128, 128, 128), (2, 9, 10, 24))
def pad_zero(*shape):
    return padded(shape, "constant", "constant")


@case("pad by edges, NHWC bf16 {} x {} x {} x {}", (128, 128, 128, 128), (2, 9, 10, 24))
def pad_edge(*shape):
    return padded(shape, "edge", "replicate")


@case("pad by reflection, NHWC bf16 {} x {} x {} x {}", (128, 128, 128, 128), (2, 9, 10, 24))
def pad_reflect(*shape):
    return padded(shape, "reflect", "reflect")


def padded(shape, mode, theirs):
    x = numbers(shape, torch.bfloat16)
    n, h, w, c = shape
    return Case(
        lambda x: std.pad_nhwc(x, 1, 1, 1, 1, mode), lambda x: F.pad(x.permute(0, 3, 1, 2), (1, 1, 1, 1), mode=theirs).permute(0, 2, 3, 1), (x,),
        x.nbytes + n * (h + 2) * (w + 2) * c * 2,
    )


@case("concat of three, bf16 {} x (8192 + 4096 + 4096) / {}", (32768, 1), (70, 64))
def concat(m, by):
    xs = [bits((m, n // by), torch.bfloat16) for n in (8192, 4096, 4096)]
    return Case(lambda *xs: std.concat(xs, 1), lambda *xs: torch.cat(xs, 1), tuple(xs), 2 * nbytes(*xs))


@case("split in three, bf16 {} x (8192 + 4096 + 4096) / {}", (32768, 1), (70, 64))
def split(m, by):
    sizes = [n // by for n in (8192, 4096, 4096)]
    x = bits((m, sum(sizes)), torch.bfloat16)
    return Case(lambda x: std.split(x, sizes, 1), lambda x: [p.contiguous() for p in x.split(sizes, 1)], (x,), 2 * x.nbytes)


@case("flip of rows, bf16 {} x {}", (65536, 8192), (70, 256))
def flip(m, n):
    x = bits((m, n), torch.bfloat16)
    return Case(std.flip, lambda x: x.flip(0), (x,), 2 * x.nbytes)


@case("flip of columns, bf16 {} x {}", (65536, 8192), (70, 264))
def flip_columns(m, n):
    x = bits((m, n), torch.bfloat16)
    return Case(lambda x: std.flip(x, 1), lambda x: x.flip(1), (x,), 2 * x.nbytes)


@case("roll of rows, bf16 {} x {}", (65536, 8192), (70, 256))
def roll(m, n):
    x = bits((m, n), torch.bfloat16)
    return Case(lambda x: std.roll(x, 1000), lambda x: x.roll(1000, 0), (x,), 2 * x.nbytes)


@case("roll of columns by 3, bf16 {} x {}", (65536, 8192), (70, 512))
def roll_columns(m, n):
    x = bits((m, n), torch.bfloat16)
    return Case(lambda x: std.roll(x, 3, 1), lambda x: x.roll(3, 1), (x,), 2 * x.nbytes)


# ---- permutations ----


def transposed(dtype):
    def make(m, n):
        x = bits((m, n), dtype)
        return Case(std.transpose, lambda x: x.t().contiguous(), (x,), 2 * x.nbytes)

    return make


case("transpose, u8 {} x {}", (32768, 16384), (160, 272))(transposed(torch.uint8))
case("transpose, bf16 {} x {}", (32768, 16384), (160, 272))(transposed(torch.bfloat16))
case("transpose, f32 {} x {}", (16384, 16384), (160, 272))(transposed(torch.float32))
case("transpose, f64 {} x {}", (16384, 8192), (160, 272))(transposed(torch.float64))


@case("batched transpose, bf16 {} x {} x {}", (256, 2048, 1024), (3, 80, 144))
def batched(*shape):
    x = bits(shape, torch.bfloat16)
    return Case(std.transpose, lambda x: x.mT.contiguous(), (x,), 2 * x.nbytes)


@case("permute (2, 0, 3, 1, 4), bf16 {} x {} x {} x {} x {}", (16, 32, 16, 512, 128), (2, 3, 4, 5, 16))
def permute5(*shape):
    x = bits(shape, torch.bfloat16)
    order = (2, 0, 3, 1, 4)
    return Case(lambda x: std.permute(x, order), lambda x: x.permute(order).contiguous(), (x,), 2 * x.nbytes)


@case("NCHW to NHWC, bf16 {} x {} x {} x {}", (128, 256, 128, 128), (2, 24, 8, 16))
def nhwc(*shape):
    x = bits(shape, torch.bfloat16)
    return Case(lambda x: std.permute(x, (0, 2, 3, 1)), lambda x: x.permute(0, 2, 3, 1).contiguous(), (x,), 2 * x.nbytes)


@case("NHWC to NCHW, bf16 {} x {} x {} x {}", (128, 128, 128, 256), (2, 8, 16, 24))
def nchw(*shape):
    x = bits(shape, torch.bfloat16)
    return Case(lambda x: std.permute(x, (0, 3, 1, 2)), lambda x: x.permute(0, 3, 1, 2).contiguous(), (x,), 2 * x.nbytes)


@case("interleave, bf16 {} x {} x {}", (2, 32768, 8192), (2, 40, 144))
def interleave(*shape):
    x = bits(shape, torch.bfloat16)
    return Case(std.interleave, lambda x: x.permute(1, 2, 0).reshape(x.shape[1], -1), (x,), 2 * x.nbytes)


@case("de-interleave, f32 {} x {} by {}", (32768, 12288, 3), (40, 144, 3))
def deinterleave(m, n, k):
    x = bits((m, n), torch.float32)
    return Case(lambda x: std.deinterleave(x, k), lambda x: x.view(m, n // k, k).permute(2, 0, 1).contiguous(), (x,), 2 * x.nbytes)


@case("split of QKV heads, bf16 {} x {} x ({} + 2 * {}) x {}", (8, 8192, 32, 8, 128), (2, 70, 3, 2, 16))
def split_qkv(b, s, h, g, d):
    x = bits((b, s, h + 2 * g, d), torch.bfloat16)
    return Case(
        lambda x: std.split_qkv(x, g), lambda x: [p.transpose(1, 2).contiguous() for p in x.split((h, g, g), 2)], (x,), 2 * x.nbytes)


@case("merge of QKV heads, bf16 {} x {} x ({} + 2 * {}) x {}", (8, 8192, 32, 8, 128), (2, 70, 3, 2, 16))
def merge_qkv(b, s, h, g, d):
    parts = tuple(bits((b, n, s, d), torch.bfloat16) for n in (h, g, g))
    return Case(std.merge_qkv, lambda *p: torch.cat(p, 1).transpose(1, 2).contiguous(), parts, 2 * nbytes(*parts),
                compiled=lambda *p: torch.cat([x.transpose(1, 2) for x in p], 2))


@case("merge of heads, bf16 {} x {} x {} x {}", (8, 32, 8192, 128), (2, 3, 70, 16))
def merge_heads(*shape):
    x = bits(shape, torch.bfloat16)
    return Case(std.merge_heads, lambda x: x.transpose(1, 2).contiguous(), (x,), 2 * x.nbytes)


@case("convert bf16 to f32, {} x {}", (32768, 8192), (70, 256))
def widen(m, n):
    x = bits((m, n), torch.bfloat16)
    return Case(lambda x: std.convert(x, torch.float32), lambda x: x.float(), (x,), 3 * x.nbytes)


@case("convert f32 to bf16, {} x {}", (32768, 8192), (70, 256))
def narrow(m, n):
    x = bits((m, n), torch.float32)
    return Case(lambda x: std.convert(x, torch.bfloat16), lambda x: x.bfloat16(), (x,), x.nbytes + x.nbytes // 2)


# ---- rows ----


def gathered(rows, columns):
    table, idx = bits((rows, columns), torch.bfloat16), indices(rows, rows)
    return Case(std.gather, lambda table, idx: torch.index_select(table, 0, idx), (table, idx), 2 * table.nbytes + idx.nbytes)


case("gather rows, bf16 {} x {}", (131072, 4096), (70, 264))(gathered)
case("gather rows, bf16 {} x {}", (524288, 1024), (70, 72))(gathered)


@case("scatter rows, bf16 {} x {}", (131072, 4096), (70, 264))
def scatter(rows, columns):
    x, idx = bits((rows, columns), torch.bfloat16), shuffled(rows)
    a, b, c, long = torch.empty_like(x), torch.empty_like(x), torch.empty_like(x), idx.long()
    return Case(lambda x, idx, long, a, b, c: std.scatter(x, idx, a), lambda x, idx, long, a, b, c: b.index_copy_(0, long, x), (x, idx, long, a, b, c),
                2 * x.nbytes + idx.nbytes, compiled=lambda x, idx, long, a, b, c: c.index_copy_(0, long, x))


@case("scatter-add, f32 {} x {}", (131072, 1024), (70, 72))
def scatter_add(rows, columns):
    x, idx = numbers((rows, columns)), indices(rows, rows)
    a, b, c = (torch.zeros_like(x) for _ in range(3))
    return Case(lambda x, idx, a, b, c: std.scatter_add(x, idx, a), lambda x, idx, a, b, c: b.index_add_(0, idx, x), (x, idx, a, b, c),
                3 * x.nbytes + idx.nbytes, compiled=lambda x, idx, a, b, c: c.index_add_(0, idx, x), adds=True)


@case("gradient of an embedding, bf16 {} x {} to f32", (131072, 2048), (70, 72))
def embedding_gradient(rows, columns):
    x, idx = numbers((rows, columns), torch.bfloat16), indices(rows, rows)
    return Case(lambda x, idx: std.embedding_gradient(x, idx, rows), lambda x, idx: torch.zeros(x.shape, device=device).index_add_(0, idx, x.float()), (x, idx),
                x.nbytes + 3 * 2 * x.nbytes + idx.nbytes)


@case("MoE: permute {} tokens x {} to {} experts each", (65536, 2048, 4), (20, 72, 3))
def moe_permute(tokens, columns, k):
    x, row = bits((tokens, columns), torch.bfloat16), shuffled(tokens * k)
    token = torch.empty_like(row)  # of each row
    token[row.long()] = torch.arange(tokens * k, dtype=row.dtype, device=device) // k
    row = row.view(tokens, k)
    moved = x.nbytes + x.nbytes * k + row.nbytes
    return Case(lambda x, row, token: std.dispatch(x, row), lambda x, row, token: torch.index_select(x, 0, token), (x, row, token), moved)


@case("MoE: sums of {} tokens x {} from {} experts each", (65536, 2048, 4), (20, 72, 3))
def moe_unpermute(tokens, columns, k):
    y = numbers((tokens * k, columns), torch.bfloat16)
    row = shuffled(tokens * k).view(tokens, k)
    return Case(std.unpermute, lambda y, row: y[row].sum(1, dtype=torch.float32).bfloat16(), (y, row), y.nbytes + y.nbytes // k + row.nbytes)


@case("paged cache: append {} tokens of {}", (131072, 2048), (70, 72))
def append(tokens, columns):
    x, slot = bits((tokens, columns), torch.bfloat16), shuffled(tokens)
    caches = [torch.zeros((-(-tokens // 16), 16, columns), dtype=x.dtype, device=device) for _ in range(3)]
    long = slot.long()

    def theirs(n):
        return lambda x, slot, long, *caches: caches[n].view(-1, columns).index_copy_(0, long, x).view(caches[n].shape)

    return Case(lambda x, slot, long, *caches: std.pages_append(x, slot, caches[0]), theirs(1), (x, slot, long, *caches), 2 * x.nbytes, compiled=theirs(2))


@case("paged cache: gather {} pages of 16 x {}", (16384, 2048), (5, 72))
def pages(n, columns):
    cache, table = bits((n, 16, columns), torch.bfloat16), shuffled(n)
    return Case(lambda cache, table: std.pages_gather(cache, table, n * 16), lambda cache, table: torch.index_select(cache, 0, table).view(-1, columns),
                (cache, table), 2 * cache.nbytes)


def groups(n, rows):
    """Offsets of n groups of at most `rows` rows, and of each row of the padded batch where it comes from (-1: nowhere)."""
    sizes = torch.randint(rows // 2, rows + 1, (n,))
    offs = torch.cat((torch.zeros(1, dtype=torch.int64), sizes.cumsum(0)))
    at = torch.arange(rows)
    place = torch.where(at < sizes[:, None], offs[:-1, None] + at, -1)
    return offs.int().to(device), place.to(device), int(offs[-1])


@case("varlen: {} sequences of at most {} tokens of {} to a batch", (256, 1024, 2048), (5, 20, 72))
def unpack(n, rows, columns):
    offs, place, total = groups(n, rows)
    x = bits((total, columns), torch.bfloat16)
    return Case(lambda x, offs, place: std.unpack(x, offs, rows),
                lambda x, offs, place: torch.where((place >= 0)[..., None], x[place.clamp(min=0)], torch.zeros((), dtype=x.dtype, device=device)),
                (x, offs, place), x.nbytes + n * rows * columns * 2)


@case("varlen: a batch of {} x {} tokens of {} to rows", (256, 1024, 2048), (5, 20, 72))
def pack(n, rows, columns):
    offs, place, total = groups(n, rows)
    x = bits((n, rows, columns), torch.bfloat16)
    back = torch.nonzero(place.flatten() >= 0).flatten()
    return Case(lambda x, offs, back: std.pack(x, offs, total), lambda x, offs, back: x.view(-1, columns)[back], (x, offs, back), 2 * total * columns * 2)


# ---- convolutions ----


def columns_of(x, size, padding):
    """By PyTorch's views, in our order: taps, then channels."""
    n = x.dim() - 2
    x = F.pad(x, (0, 0) + (padding, padding) * n)
    for d in range(n):
        x = x.unfold(1 + d, size, 1)
    x = x.movedim(1 + n, -1)
    return x.reshape(*x.shape[: 1 + n], -1).contiguous()  # of one dimension it is a view


def im2col(*shape):
    x = bits(shape, torch.bfloat16)
    taps = 3 ** (len(shape) - 2)
    return Case(lambda x: std.im2col(x, 3, 1, 1), lambda x: columns_of(x, 3, 1), (x,), x.nbytes * (1 + taps))


case("im2col, taps 3, bf16 {} x {} x {}", (1024, 1024, 128), (2, 19, 24))(im2col)
case("im2col, taps 3 x 3, bf16 {} x {} x {} x {}", (128, 64, 64, 128), (2, 9, 10, 24))(im2col)
case("im2col, taps 3 x 3, bf16 {} x {} x {} x {}", (32, 128, 128, 64), (2, 9, 10, 8))(im2col)
case("im2col, taps 3 x 3 x 3, bf16 {} x {} x {} x {} x {}", (4, 16, 64, 64, 64), (1, 3, 4, 5, 8))(im2col)


def col2im(dtype):
    def make(n, h, w, c):
        cols = numbers((n, h, w, 9 * c), dtype)
        theirs = cols.view(n, h * w, 9, c).permute(0, 3, 2, 1).reshape(n, c * 9, h * w) if dtype == torch.float32 else None

        def slices(cols, theirs):
            y = 0
            for i in range(9):
                r, s = i // 3 - 1, i % 3 - 1
                y = y + F.pad(cols[..., i * c : i * c + c], (0, 0, s + 1, 1 - s, r + 1, 1 - r)).float()
            return y[:, 1:-1, 1:-1].to(dtype)

        eager = slices if theirs is None else lambda cols, theirs: F.fold(theirs, (h, w), 3, padding=1).permute(0, 2, 3, 1)
        return Case(lambda cols, theirs: std.col2im(cols, (n, h, w, c), 3, 1, 1), eager, (cols, theirs), cols.nbytes + cols.nbytes // 9, compiled=slices)

    return make


case("col2im, taps 3 x 3, f32 {} x {} x {} x {}", (64, 64, 64, 128), (2, 9, 10, 24))(col2im(torch.float32))
case("col2im, taps 3 x 3, bf16 {} x {} x {} x {}", (128, 64, 64, 128), (2, 9, 10, 24))(col2im(torch.bfloat16))


@case("halo, f32 {} x {} in tiles 32 x 64", (16384, 16384), (96, 128))
def halo2(h, w):
    x = bits((h, w), torch.float32)

    def theirs(x):
        return F.pad(x, (4, 4, 1, 1)).unfold(0, 34, 32).unfold(1, 72, 64).contiguous()

    return Case(lambda x: std.halo(x, (32, 64), (1, 4)), theirs, (x,), x.nbytes + (h // 32) * (w // 64) * 34 * 72 * 4)


@case("halo, f32 {} x {} x {} in tiles 8 x 8 x 64", (512, 512, 512), (16, 16, 128))
def halo3(d, h, w):
    x = bits((d, h, w), torch.float32)

    def theirs(x):
        y = F.pad(x, (4, 4, 1, 1, 1, 1)).unfold(0, 10, 8).unfold(1, 10, 8).unfold(2, 72, 64)
        return y.reshape(-1, 10, 10, 72)

    return Case(lambda x: std.halo(x, (8, 8, 64), (1, 1, 4)), theirs, (x,), x.nbytes + x.numel() // 4096 * 7200 * 4)


@case("halo, NHWC bf16 {} x {} x {} x {} in tiles 8 x 8", (64, 128, 128, 128), (2, 16, 24, 24))
def halo_nhwc(n, h, w, c):
    x = bits((n, h, w, c), torch.bfloat16)

    def theirs(x):
        y = F.pad(x, (0, 0, 1, 1, 1, 1)).unfold(1, 10, 8).unfold(2, 10, 8)
        return y.permute(0, 1, 2, 4, 5, 3).reshape(-1, 10, 10, c)

    return Case(lambda x: std.halo_nhwc(x, 8, 1), theirs, (x,), x.nbytes + x.nbytes * 100 // 64)


# ---- sums, parts ----


@case("sum of {} parts, f32 {} x {}", (8, 8192, 4096), (5, 40, 144))
def split_k(s, m, n):
    x = numbers((s, m, n))
    return Case(std.split_k, lambda x: x.sum(0), (x,), x.nbytes + x.nbytes // s)


@case("sum of {} parts, bf16 {} x {}", (8, 8192, 8192), (5, 40, 144))
def split_k_bf16(s, m, n):
    x = numbers((s, m, n), torch.bfloat16)
    return Case(std.split_k, lambda x: x.sum(0, dtype=torch.float32).bfloat16(), (x,), x.nbytes + x.nbytes // s)


@case("broadcast, bf16 {} x {} to {}", (8192, 8192, 8), (50, 80, 4))
def broadcast(m, n, times):
    x = bits((m, n), torch.bfloat16)
    return Case(lambda x: std.broadcast(x, times), lambda x: x.expand(times, m, n).contiguous(), (x,), x.nbytes * (1 + times))


@case("all-gather of {} x {} bf16", (4, 64 << 20), (4, 72))
def all_gather(parts, n):
    x = bits((parts, n), torch.bfloat16)
    return Case(std.all_gather, lambda x: x.expand(parts, parts, n).contiguous(), (x,), (1 + parts) * x.nbytes)


@case("ring of {} x {} bf16", (4, 256 << 20), (4, 72))
def ring(parts, n):
    x = bits((parts, n), torch.bfloat16)
    return Case(std.ring, lambda x: torch.roll(x, 1, 0), (x,), 2 * x.nbytes)


@case("all-to-all of {}, bf16 {}", (4, 1 << 25), (4, 1040))
def all_to_all(c, n):
    x = bits((c, c, n), torch.bfloat16)
    return Case(std.all_to_all, lambda x: x.transpose(0, 1).contiguous(), (x,), 2 * x.nbytes)


@case("reduce-scatter of {}, f32 {}", (4, 1 << 24), (4, 1040))
def reduce_scatter(c, n):
    x = numbers((c, c, n))
    return Case(std.reduce_scatter, lambda x: x.sum(0), (x,), x.nbytes + x.nbytes // c)


# ---- measuring ----


def median_ms(run, repeats):
    for _ in range(WARM_UP):
        run()
    events = [torch.cuda.Event(enable_timing=True) for _ in range(repeats + 1)]
    events[0].record()
    for event in events[1:]:
        run()
        event.record()
    torch.cuda.synchronize()
    return statistics.median(a.elapsed_time(b) for a, b in zip(events, events[1:]))


def memcpy(nbytes):
    driver = ctypes.CDLL("libcuda.so.1")
    copy = driver.cuMemcpyDtoDAsync_v2
    copy.argtypes = [ctypes.c_uint64, ctypes.c_uint64, ctypes.c_size_t, ctypes.c_void_p]
    a = torch.randint(0, 255, (nbytes,), dtype=torch.uint8, device=device)
    b = torch.empty_like(a)

    def run():
        if copy(b.data_ptr(), a.data_ptr(), nbytes, torch.cuda.current_stream().cuda_stream) != 0:
            raise RuntimeError("cuMemcpyDtoDAsync")

    return run


def same(got, want):
    """None, or what is wrong."""
    if isinstance(got, (list, tuple)):
        if len(got) != len(want):
            return f"{len(got)} results for {len(want)}"
        return next((w for w in map(same, got, want) if w), None)
    if got.shape != want.shape or got.dtype != want.dtype:
        return f"{got.dtype} {tuple(got.shape)} for {want.dtype} {tuple(want.shape)}"
    return None if torch.equal(got, want) else f"{int((got != want).sum())} of {got.numel()} elements differ"


def measure(c, repeats, compile_too):
    """Milliseconds of ours, eager, compiled (None: it does not), the copy."""
    wrong = same(c.ours(*c.args), c.eager(*c.args))
    if wrong or device == "cpu":
        return wrong, None
    times = [median_ms(lambda: c.ours(*c.args), repeats), median_ms(lambda: c.eager(*c.args), repeats), None]
    if compile_too:
        try:
            f = torch.compile(c.compiled or c.eager, dynamic=False)
            times[2] = median_ms(lambda: f(*c.args), repeats)
        except Exception as e:  # what torch.compile can't do is its own affair
            print("library.py: torch.compile:", str(e).splitlines()[0], file=sys.stderr)
        torch.compiler.reset()
    wrong = None if c.adds else same(c.ours(*c.args), c.eager(*c.args))
    torch.cuda.empty_cache()
    times.append(median_ms(memcpy(c.moved // 2), repeats))
    return wrong, times


def line(name, moved, times):
    ours, eager, compiled, copied = times
    best = min(t for t in (eager, compiled) if t is not None)
    return (f"| {name} | {ours:.4f} | {moved / ours / 1e9:.3f} | {copied / ours:.3f} | {best / ours:.2f} | {eager:.4f} | "
            f"{'-' if compiled is None else f'{compiled:.4f}'} | {copied:.4f} |")


def main():
    global device
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("words", nargs="*")
    parser.add_argument("--small", action="store_true")
    parser.add_argument("--repeats", type=int, default=21)
    parser.add_argument("--seconds", type=float, default=270)
    args = parser.parse_args()
    if not args.small and not torch.cuda.is_available():
        sys.exit("library.py: PyTorch finds no GPU; --small needs none")
    device = "cpu" if args.small else "cuda"
    torch.manual_seed(1)
    began, failed = time.monotonic(), 0
    if not args.small:
        print(f"{torch.cuda.get_device_name()}, PyTorch {torch.__version__}, medians of {args.repeats} launches\n")
        print("| movement | ms | TB/s | of memcpy | best by ours | eager, ms | compiled, ms | memcpy, ms |")
        print("| --- | --- | --- | --- | --- | --- | --- | --- |")
    for name, make, large, small in CASES:
        name = name.format(*(small if args.small else large))
        if args.words and not any(w in name for w in args.words):
            continue
        try:
            c = make(*(small if args.small else large))
            wrong, times = measure(c, args.repeats, time.monotonic() - began < args.seconds)
        except Exception:
            traceback.print_exc()
            wrong, times = "it failed", None
        if wrong:
            failed += 1
            print(f"library.py: {name}: {wrong}", file=sys.stderr)
        elif times:
            print(line(name, c.moved, times), flush=True)
        else:
            print(f"right: {name}", flush=True)
        c = None
        if not args.small:
            torch.cuda.empty_cache()
    print(f"{time.monotonic() - began:.0f} s, {failed} wrong", file=sys.stderr)
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
