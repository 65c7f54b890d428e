"""tilecc.std against PyTorch's own results: random calls, over element types, shapes, views (parts, transposed, unaligned, with steps, expanded)
and empty tensors, on a GPU where there is one and on the simulator else. Each equals what PyTorch does, to the byte, or is refused with a text that
says which argument or size is at fault.

    python3 test_std_torch.py 500 7        # 500 calls from seed 7; what fails prints the call
    python3 test_std_torch.py 500 7 roll   # of one function; -v shows the refusals
    python3 test_std_torch.py 80 7 --compile    # the second call of each in torch.compile; else, on a GPU, every other one in a CUDA graph

A new function of tilecc.std wants a row in CASES: a function of a Random that returns the arguments by name, and what PyTorch makes of them.
"""

import inspect
import random
import sys

import torch

import all_tests
import tilecc
from tilecc import std

device = "cuda" if torch.cuda.is_available() else "cpu"

INTEGERS = (torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64)
FLOATS = (torch.float16, torch.bfloat16, torch.float32, torch.float64)
EIGHTHS = (torch.float8_e4m3fn, torch.float8_e5m2)
ANY = (*INTEGERS, *FLOATS, *EIGHTHS, torch.bool)
ADDED = (torch.int64, torch.int32, torch.float16, torch.bfloat16, torch.float32, torch.float64)  # by the copy engine

# ---- random tensors ----


def filled(r, shape, dtype):
    """Whole numbers that every type holds, so that sums are exact."""
    x = torch.randint(0, 2 if dtype is torch.bool else 8, shape, generator=torch.Generator().manual_seed(r.getrandbits(40)))
    return x.to(torch.float32).to(dtype).to(device)


def unit(r, dtype):
    """What rows are a multiple of: mostly 16 bytes."""
    return 16 // dtype.itemsize if r.random() < 0.85 else 1


def extent(r, most=12):
    return 0 if r.random() < 0.03 else r.randint(1, most)


def view(r, shape, dtype):
    """A tensor of this shape that lies in memory in some way."""
    shape, rank = list(shape), len(shape)
    kind = r.choice(["plain"] * 5 + ["part"] * 3 + ["turned", "step", "unaligned", "expanded"])
    if kind == "part":
        at = [r.randint(0, 3) for _ in range(rank - 1)] + [r.randint(0, 3) * unit(r, dtype)]
        behind = [r.randint(0, 3) for _ in range(rank - 1)] + [r.randint(0, 3) * unit(r, dtype)]
        whole = filled(r, [a + n + b for a, n, b in zip(at, shape, behind)], dtype)
        return whole[tuple(slice(a, a + n) for a, n in zip(at, shape))]
    if kind == "turned":
        dims = r.sample(range(rank), rank)
        return filled(r, [shape[d] for d in dims], dtype).permute([dims.index(d) for d in range(rank)])
    if kind == "step":
        d = r.randrange(rank)
        return filled(r, [*shape[:d], 2 * shape[d], *shape[d + 1 :]], dtype)[(slice(None),) * d + (slice(None, None, 2),)]
    if kind == "unaligned":
        n = 1
        for e in shape:
            n *= e
        return filled(r, [n + 1], dtype)[1:].view(shape)
    if kind == "expanded":
        d = r.randrange(rank)
        return filled(r, [*shape[:d], 1, *shape[d + 1 :]], dtype).expand(shape)
    return filled(r, shape, dtype)


def matrix(r, dtype, rows=None):
    return view(r, (extent(r, 40) if rows is None else rows, unit(r, dtype) * extent(r, 9)), dtype)


def of_rank(r, dtype, rank):
    return view(r, [extent(r) for _ in range(rank - 1)] + [unit(r, dtype) * extent(r, 6)], dtype)


def numbers(r, n, below, outside=True):
    """Which rows: some of them outside."""
    low, high = (-1, below + 1) if outside else (0, max(below, 1))
    i = [r.randint(low, high - 1) for _ in range(n)]
    return torch.tensor(i, dtype=r.choice((torch.int32, torch.int64)), device=device)


def distinct(r, n, below):
    """n of them, all different but for those that are left out."""
    i = r.sample(range(below), min(n, below)) + [-1] * max(n - below, 0)
    r.shuffle(i)
    return torch.tensor(i, dtype=r.choice((torch.int32, torch.int64)), device=device)


def bits(x):
    """The same elements as integers, which all of PyTorch's functions take."""
    return x.view({1: torch.uint8, 2: torch.int16, 4: torch.int32, 8: torch.int64}[x.dtype.itemsize])


def row_or_column(r, f):
    """A dimension, of functions that take one."""
    return r.randint(0, 1) if "dim" in inspect.signature(f).parameters else 0


def inside(i, below):
    return ((i >= 0) & (i < below)).nonzero().flatten()


# ---- what PyTorch makes of the same arguments ----

CASES = {}


def case(f):
    if hasattr(std, f.__name__):
        CASES[f.__name__] = f
    return f


@case
def copy(r):
    x = of_rank(r, r.choice(ANY), r.randint(1, 5))
    return {"x": x}, x.clone(memory_format=torch.contiguous_format)


@case
def permute(r):
    rank = r.randint(1, 5)
    x, dims = of_rank(r, r.choice(ANY), rank), r.sample(range(rank), rank)
    return {"x": x, "dims": dims}, x.permute(dims).contiguous()


@case
def transpose(r):
    x = of_rank(r, r.choice(ANY), r.randint(2, 4))
    return {"x": x}, x.transpose(-1, -2).contiguous()


@case
def concat(r):
    x, n = of_rank(r, r.choice(ANY), r.randint(1, 4)), r.randint(1, 3)
    dim = r.randrange(-x.dim(), x.dim())
    xs = [x]
    for _ in range(n - 1):
        shape = list(x.shape)
        shape[dim] = extent(r) * (unit(r, x.dtype) if dim in (-1, x.dim() - 1) else 1)
        xs.append(view(r, shape, x.dtype))
    return {"xs": xs, "dim": dim}, torch.cat([bits(y.contiguous()) for y in xs], dim).view(x.dtype)


@case
def pad(r):
    x = matrix(r, r.choice(ANY))
    u = unit(r, x.dtype)
    by = {"top": r.randint(-3, 5), "bottom": r.randint(-3, 5), "left": r.randint(-1, 3) * u, "right": r.randint(-1, 3) * u}
    for a, b, n in (("top", "bottom", x.shape[0]), ("left", "right", x.shape[1])):
        if n + by[a] + by[b] < 0 or -min(by[a], by[b], 0) > n:
            by[a] = by[b] = 0
    want = torch.nn.functional.pad(bits(x.contiguous()), (by["left"], by["right"], by["top"], by["bottom"]))
    return {"x": x, **by}, want.view(x.dtype)


@case
def convert(r):
    a, b = r.choice((*INTEGERS, *FLOATS, *EIGHTHS)), r.choice((*INTEGERS, *FLOATS, *EIGHTHS))
    x = matrix(r, a) if r.random() < 0.8 else view(r, (unit(r, a) * extent(r),), a)
    return {"x": x, "dtype": b, "saturate": r.random() < 0.3}, x.to(torch.float32).to(b)


@case
def gather(r):
    table = matrix(r, r.choice(ANY))
    idx = numbers(r, extent(r, 30), table.shape[0])
    want, source = torch.zeros((len(idx), table.shape[1]), dtype=table.dtype, device=device), bits(table.contiguous())
    at = inside(idx, table.shape[0])
    bits(want)[at] = source[idx[at].long()]
    return {"table": table, "idx": idx}, want


@case
def scatter(r):
    x = matrix(r, r.choice(ANY))
    out = filled(r, (extent(r, 50), x.shape[1]), x.dtype)
    idx, want = distinct(r, x.shape[0], out.shape[0]), out.clone()
    at = inside(idx, out.shape[0])
    bits(want)[idx[at].long()] = bits(x.contiguous())[at]
    return {"x": x, "idx": idx, "out": out}, want


@case
def dispatch(r):
    x, most = matrix(r, r.choice(ANY)), r.randint(0, 4)
    out = filled(r, (extent(r, 80), x.shape[1]), x.dtype)
    row, want = distinct(r, x.shape[0] * most, out.shape[0]).view(x.shape[0], most), out.clone()
    for k in range(most):
        at = inside(row[:, k], out.shape[0])
        bits(want)[row[at, k].long()] = bits(x.contiguous())[at]
    return {"x": x, "row": row, "out": out}, want


def added(r, x, out):
    idx = numbers(r, x.shape[0], out.shape[0])
    at = inside(idx, out.shape[0])
    return {"x": x, "idx": idx, "out": out}, out.clone().index_add_(0, idx[at].long(), x[at].to(out.dtype))


@case
def scatter_add(r):
    x = matrix(r, r.choice(ADDED))
    return added(r, x, filled(r, (extent(r, 50), x.shape[1]), x.dtype))


@case
def combine(r):
    x = matrix(r, r.choice((torch.float16, torch.bfloat16)))
    return added(r, x, filled(r, (extent(r, 50), x.shape[1]), torch.float32))


@case
def roll(r):
    x, shift, dim = matrix(r, r.choice(ANY)), r.randint(-60, 60), row_or_column(r, std.roll)
    return {"x": x, "shift": shift, "dim": dim}, torch.roll(bits(x.contiguous()), shift, dim).view(x.dtype)


@case
def flip(r):
    x, dim = matrix(r, r.choice(ANY)), row_or_column(r, std.flip)
    return {"x": x, "dim": dim}, torch.flip(bits(x.contiguous()), (dim,)).view(x.dtype)


@case
def split(r):
    x = of_rank(r, r.choice(ANY), r.randint(1, 4))
    dim, sizes = r.randrange(x.dim()), []
    step = unit(r, x.dtype) if dim == x.dim() - 1 else 1
    while sum(sizes) < x.shape[dim]:
        sizes.append(min(step * r.randint(0, 5), x.shape[dim] - sum(sizes)))
    return {"x": x, "sizes": sizes, "dim": dim}, [y.contiguous() for y in torch.split(x, sizes, dim)] if sizes else []


@case
def fill(r):
    out = of_rank(r, r.choice((*INTEGERS, *FLOATS, *EIGHTHS)), r.randint(1, 4))
    value = r.choice((0, 1, r.randint(0, 100), -2.75, 0.1)) if out.dtype in FLOATS else r.randint(0, 100)
    return {"out": out, "value": value}, torch.full(out.shape, value, dtype=out.dtype, device=device)


@case
def slide(r):
    x, left, columns = matrix(r, r.choice(ANY)), r.randint(-40, 40), unit(r, torch.float32) * extent(r, 9)
    columns = columns * 4 // x.dtype.itemsize if r.random() < 0.5 else x.shape[1]
    by = (left, columns - left - x.shape[1])
    at = torch.nn.functional.pad(bits(x.contiguous()), (max(by[0], 0), max(by[1], 0), 0, 0))[:, max(-left, 0) :][:, :columns]
    want = torch.zeros((x.shape[0], columns), dtype=x.dtype, device=device)
    bits(want)[:, : at.shape[1]] = at
    return {"x": x, "left": left, "columns": columns}, want


@case
def interleave(r):
    t = r.choice(ANY)
    x = view(r, (r.randint(2, 8), extent(r), unit(r, t) * extent(r, 6)), t)
    return {"x": x}, x.permute(1, 2, 0).reshape(x.shape[1], x.shape[2] * x.shape[0]).contiguous()


@case
def deinterleave(r):
    t, k = r.choice(ANY), r.randint(2, 8)
    x = view(r, (extent(r), k * unit(r, t) * extent(r, 6)), t)
    return {"x": x, "k": k}, x.reshape(x.shape[0], x.shape[1] // k, k).permute(2, 0, 1).contiguous()


@case
def split_k(r):
    t = r.choice((torch.int32, *FLOATS))
    parts = view(r, (extent(r, 6), extent(r), unit(r, t) * extent(r, 6)), t)
    return {"parts": parts}, parts.sum(0, dtype=t)


@case
def accumulate(r):
    t = r.choice(ADDED)
    parts = view(r, (extent(r, 6), extent(r), unit(r, t) * extent(r, 6)), t)
    out = filled(r, parts.shape[1:], t)
    return {"parts": parts, "out": out}, out + parts.sum(0, dtype=t)


@case
def embedding_gradient(r):
    gradient, rows = matrix(r, r.choice((torch.float32, torch.bfloat16, torch.float16))), extent(r, 40)
    idx = numbers(r, gradient.shape[0], rows)
    at = inside(idx, rows)
    want = torch.zeros((rows, gradient.shape[1]), device=device).index_add_(0, idx[at].long(), gradient[at].float())
    return {"gradient": gradient, "idx": idx, "rows": rows}, want


@case
def unpermute(r):
    y, most = matrix(r, r.choice((torch.float32, torch.bfloat16, torch.float16))), r.randint(1, 4)
    row = numbers(r, most * extent(r), y.shape[0] - 1).view(-1, most)
    want = torch.zeros((row.shape[0], y.shape[1]), device=device)
    for k in range(most):
        at = inside(row[:, k], y.shape[0])
        want[at] += y[row[at, k].long()].float()
    return {"y": y, "row": row}, want.to(y.dtype)


@case
def broadcast(r):
    x, copies = matrix(r, r.choice(ANY)), r.randint(0, 9)
    return {"x": x, "copies": copies}, x.expand(copies, *x.shape).contiguous()


def parts_of(r, dtypes, rank):
    t, c = r.choice(dtypes), r.randint(2, 8)
    return view(r, (*[c] * (rank - 1), unit(r, t) * extent(r, 40)), t)


@case
def all_gather(r):
    x = parts_of(r, ANY, 2)
    return {"x": x}, x.expand(x.shape[0], *x.shape).contiguous()


@case
def ring(r):
    x = parts_of(r, ANY, 2)
    return {"x": x}, torch.roll(bits(x.contiguous()), 1, 0).view(x.dtype)


@case
def all_to_all(r):
    x = parts_of(r, ANY, 3)
    return {"x": x}, x.transpose(0, 1).contiguous()


@case
def reduce_scatter(r):
    x = parts_of(r, (torch.int32, torch.int64, *FLOATS), 3)
    return {"x": x}, x.sum(0, dtype=x.dtype)


def heads(r, heads=None):
    t = r.choice(ANY)
    return view(r, (extent(r, 3), extent(r, 20), extent(r, 9) if heads is None else heads, unit(r, t) * extent(r, 6)), t)


@case
def split_heads(r):
    x = heads(r)
    return {"x": x}, x.transpose(1, 2).contiguous()


@case
def merge_heads(r):
    x = heads(r)
    return {"x": x}, x.transpose(1, 2).contiguous()


@case
def split_qkv(r):
    kv = r.randint(0, 3)
    x = heads(r, 2 * kv + r.randint(0, 4))
    return {"qkv": x, "kv_heads": kv}, [y.transpose(1, 2).contiguous() for y in x.split((x.shape[2] - 2 * kv, kv, kv), 2)]


@case
def merge_qkv(r):
    q = heads(r).transpose(1, 2)
    shape = (q.shape[0], extent(r, 4), *q.shape[2:])
    k, v = view(r, shape, q.dtype), view(r, shape, q.dtype)
    return {"q": q, "k": k, "v": v}, torch.cat([bits(y.contiguous()) for y in (q, k, v)], 1).transpose(1, 2).contiguous().view(q.dtype)


@case
def pad_nhwc(r):
    x = of_rank(r, r.choice(ANY), 4)
    by = [r.randint(0, 3) for _ in range(4)]
    return {"x": x, **dict(zip(("top", "bottom", "left", "right"), by))}, torch.nn.functional.pad(
        bits(x.contiguous()), (0, 0, by[2], by[3], by[0], by[1])
    ).view(x.dtype)


def filters(r):
    return {n: (r.randint(low, high), r.randint(low, high)) for n, low, high in (("size", 1, 3), ("stride", 1, 2), ("padding", 0, 2), ("dilation", 1, 2))}


def taps(x, size, stride, padding, dilation):
    """[N, P, Q, taps * C] of images [N, H, W, C] by unfolding; None where the filter does not fit."""
    made = [(n + 2 * p - d * (k - 1) - 1) // s + 1 for n, k, s, p, d in zip(x.shape[1:3], size, stride, padding, dilation)]
    if min(made) < 1:
        return None
    x = torch.nn.functional.pad(x, (0, 0, padding[1], padding[1], padding[0], padding[0]))
    out = []
    for i in range(size[0]):
        for j in range(size[1]):
            a, b = i * dilation[0], j * dilation[1]
            out.append(x[:, a : a + (made[0] - 1) * stride[0] + 1 : stride[0], b : b + (made[1] - 1) * stride[1] + 1 : stride[1]])
    return torch.cat(out, -1)


@case
def im2col(r):
    t = r.choice(ANY)
    x, f = view(r, (extent(r, 3), r.randint(3, 9), r.randint(3, 9), unit(r, t) * extent(r, 4)), t), filters(r)
    want = taps(bits(x.contiguous()), **f)
    return {"x": x, **f}, None if want is None else want.view(t)


@case
def col2im(r):
    t, f = r.choice((torch.float32, torch.float64, torch.int32)), filters(r)
    shape = (r.randint(1, 3), r.randint(3, 9), r.randint(3, 9), unit(r, t) * r.randint(1, 4))
    x = torch.zeros(shape, dtype=torch.float64, device=device, requires_grad=True)
    y = taps(x, **f)
    if y is None:
        return {"cols": filled(r, (1, 1, 1, 8), t), "shape": shape, **f}, None
    cols = view(r, y.shape, t)
    (want,) = torch.autograd.grad(y, x, cols.double())
    return {"cols": cols, "shape": shape, **f}, want.to(t)


@case
def halo(r):
    t = r.choice(ANY)
    u = unit(r, t)
    x = view(r, (extent(r, 20), u * extent(r, 6)), t)
    tile, border = (r.randint(1, 8), u * r.randint(1, 3)), (r.randint(0, 2), u * r.randint(0, 1))
    counts = [-(-n // k) for n, k in zip(x.shape, tile)]
    whole = torch.nn.functional.pad(
        bits(x.contiguous()), (border[1], border[1] + tile[1] * counts[1] - x.shape[1], border[0], border[0] + tile[0] * counts[0] - x.shape[0])
    )
    want = torch.zeros((*counts, *(k + 2 * b for k, b in zip(tile, border))), dtype=t, device=device)
    for i in range(counts[0]):
        for j in range(counts[1]):
            bits(want)[i, j] = whole[i * tile[0] :, j * tile[1] :][: want.shape[2], : want.shape[3]]
    return {"x": x, "tile": tile, "border": border}, want


@case
def halo_nhwc(r):
    x, tile, border = of_rank(r, r.choice(ANY), 4), (r.randint(1, 8), r.randint(1, 8)), (r.randint(0, 2), r.randint(0, 2))
    n, h, w, c = x.shape
    rows, columns = -(-h // tile[0]), -(-w // tile[1])
    whole = torch.nn.functional.pad(bits(x.contiguous()), (0, 0, border[1], border[1] + columns * tile[1] - w, border[0], border[0] + rows * tile[0] - h))
    want = torch.zeros((n * rows * columns, tile[0] + 2 * border[0], tile[1] + 2 * border[1], c), dtype=x.dtype, device=device)
    for i in range(n * rows * columns):
        a, b = i // columns % rows * tile[0], i % columns * tile[1]
        bits(want)[i] = whole[i // (rows * columns), a:, b:][: want.shape[1], : want.shape[2]]
    return {"x": x, "tile": tile, "border": border}, want


def offsets(r, rows, groups):
    at = sorted(r.randint(0, rows) for _ in range(groups + 1))
    return torch.tensor(at, dtype=r.choice((torch.int32, torch.int64)), device=device)


@case
def unpack(r):
    x, rows = matrix(r, r.choice(ANY)), r.randint(1, 9)
    offs = offsets(r, x.shape[0], extent(r, 5))
    want = torch.zeros((len(offs) - 1, rows, x.shape[1]), dtype=x.dtype, device=device)
    for g in range(len(offs) - 1):
        n = min(rows, int(offs[g + 1] - offs[g]))
        bits(want)[g, :n] = bits(x.contiguous())[int(offs[g]) :][:n]
    return {"x": x, "offs": offs, "rows": rows}, want


@case
def pack(r):
    t, rows = r.choice(ANY), r.randint(1, 40)
    offs = offsets(r, rows, extent(r, 5))
    most = max([int(b - a) for a, b in zip(offs, offs[1:])], default=0)
    x = view(r, (len(offs) - 1, most + r.randint(0, 2), unit(r, t) * extent(r, 9)), t)
    want = torch.zeros((rows, x.shape[2]), dtype=t, device=device)
    for g in range(len(offs) - 1):
        n = int(offs[g + 1] - offs[g])
        bits(want)[int(offs[g]) :][:n] = bits(x.contiguous())[g, :n]
    return {"x": x, "offs": offs, "rows": rows}, want


@case
def ragged_copy(r):
    x, rows, groups = matrix(r, r.choice(ANY)), r.randint(1, 60), extent(r, 5)
    offs = offsets(r, x.shape[0], groups)
    at = offsets(r, rows, groups).to(offs.dtype)
    out = filled(r, (rows, x.shape[1]), x.dtype)
    want = out.clone()
    for g in range(groups):
        n = min(int(offs[g + 1] - offs[g]), int(at[g + 1] - at[g]))
        bits(want)[int(at[g]) :][:n] = bits(x.contiguous())[int(offs[g]) :][:n]
    return {"x": x, "offs": offs, "out": out, "at": at}, want


@case
def pages_gather(r):
    cache = of_rank(r, r.choice(ANY), 3)
    pages, size, _ = cache.shape
    table = numbers(r, r.randint(1, 9), pages - 1) if pages else torch.full((3,), -1, dtype=torch.int32, device=device)
    rows = r.randint(0, len(table) * size)
    want = torch.zeros((rows, cache.shape[2]), dtype=cache.dtype, device=device)
    for t in range(rows):
        if table[t // size] >= 0:
            bits(want)[t] = bits(cache.contiguous())[int(table[t // size]), t % size]
    return {"cache": cache, "table": table, "rows": rows}, want


@case
def pages_append(r):
    x = matrix(r, r.choice(ANY))
    cache = filled(r, (r.randint(1, 6), r.randint(1, 8), x.shape[1]), x.dtype)
    slot, want = distinct(r, x.shape[0], cache.shape[0] * cache.shape[1]), cache.clone()
    at = inside(slot, cache.shape[0] * cache.shape[1])
    for t in at.tolist():
        bits(want)[int(slot[t]) // cache.shape[1], int(slot[t]) % cache.shape[1]] = bits(x)[t]
    return {"x": x, "slot": slot, "cache": cache}, want


# ---- calls ----


def shown(x):
    if isinstance(x, torch.Tensor):
        return f"{str(x.dtype)[6:]}{list(x.shape)} strides {list(x.stride())} from {x.storage_offset()}"
    return f"[{', '.join(map(shown, x))}]" if isinstance(x, list) else repr(x)


def equal(a, b):
    return a.dtype == b.dtype and a.shape == b.shape and torch.equal(bits(a.contiguous()), bits(b.contiguous()))


def is_even(x):
    """Does it lie as copy engines take it, whatever the kernel: contiguous, from a multiple of 16 bytes on, with rows of as many?"""
    return x.is_contiguous() and x.data_ptr() % 16 == 0 and (x.dim() == 0 or x.shape[-1] * x.dtype.itemsize % 16 == 0)


def twin(x):
    """The same elements at the same place of a memory of their own."""
    if isinstance(x, (list, tuple)):
        return type(x)(map(twin, x)) if any(isinstance(y, torch.Tensor) for y in x) else x
    if not isinstance(x, torch.Tensor):
        return x
    return torch.empty(0, dtype=x.dtype, device=x.device).set_(x.untyped_storage().clone(), x.storage_offset(), x.shape, x.stride())


def scribble(x):
    if isinstance(x, (list, tuple)):
        for y in x:
            scribble(y)
    elif isinstance(x, torch.Tensor) and x.untyped_storage().nbytes():
        torch.empty(0, dtype=torch.uint8, device=x.device).set_(x.untyped_storage()).fill_(0x5A)


def captured(f, arguments):
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        got = f(**arguments)
    graph.replay()
    torch.cuda.synchronize()
    return got


def compiled(f, arguments):
    torch._dynamo.reset()
    return torch.compile(lambda given: f(**given), fullgraph=True, backend="aot_eager")(arguments)


def again_in(r):
    """How the second call is made."""
    if "--compile" in sys.argv:
        return compiled
    return captured if device == "cuda" and r.random() < 0.5 else lambda f, arguments: f(**arguments)


def one_call(r, name):
    """The text with which the call was refused, or None; AssertionError if it is neither equal nor refused well."""
    arguments, want = CASES[name](r)
    arguments = {n: x for n, x in arguments.items() if n in inspect.signature(getattr(std, name)).parameters}
    call = f"std.{name}({', '.join(f'{n}={shown(x)}' for n, x in arguments.items())})"
    wanted = [w if w is None else w.clone() for w in (want if isinstance(want, list) else [want])]  # it may be a part of an argument
    moved = [x for n, x in arguments.items() if isinstance(x, torch.Tensor) and n not in ("idx", "offs", "at", "slot", "row") and (name, n) != ("pages_gather", "table")]
    even = want is not None and all(map(is_even, (*moved, *wanted, *arguments.get("xs", ()))))
    twins = {n: twin(x) for n, x in arguments.items()}
    try:
        got = getattr(std, name)(**arguments)
    except (tilecc.Error, ValueError, TypeError) as e:
        text = str(e)
        first = text.partition(": ")[0]
        assert text.startswith(f"std.{name}(") and all(f"{n}=" in first for n in arguments), f"{call}: the error does not name its arguments: {e}"
        assert not even, f"{call} is refused, which nothing explains: {e}"
        return text
    except Exception as e:
        raise AssertionError(f"{call}: {type(e).__name__}: {e}") from e
    got = list(got) if isinstance(got, (list, tuple)) else [got]
    assert len(got) == len(wanted) and all(map(equal, got, wanted)), f"{call} is {shown(got)}, not {shown(want)}"
    for x in (*arguments.values(), *got):  # and again, elsewhere: as a call of the same kind
        scribble(x)
    how = again_in(r)
    again = how(getattr(std, name), twins)
    again = list(again) if isinstance(again, (list, tuple)) else [again]
    assert len(again) == len(wanted) and all(map(equal, again, wanted)), f"{call} is at its second call ({how.__name__}) {shown(again)}, not {shown(want)}"
    return None


def random_calls(count, seed, names):
    refused = {}
    for n in range(count):
        r = random.Random(f"{seed} {n}")
        name = names[n % len(names)]
        try:
            text = one_call(r, name)
        except AssertionError as e:
            raise AssertionError(f"call {n} of seed {seed}: {e}") from None
        if text:
            refused.setdefault(name, []).append(text)
    return refused


def test_random():
    refused = random_calls(4 * len(CASES), 1, list(CASES))
    assert sum(map(len, refused.values())) < len(CASES) // 4


def test_all_functions():
    assert not set(std.__all__) - set(CASES), f"functions with no case: {set(std.__all__) - set(CASES)}"


if __name__ == "__main__":
    if len(sys.argv) == 1:
        sys.exit(all_tests.run(globals()) > 0)
    count, seed = int(sys.argv[1]), sys.argv[2] if len(sys.argv) > 2 else "1"
    refused = random_calls(count, seed, [n for n in sys.argv[3:] if n[0] != "-"] or list(CASES))
    print(f"{count} random calls on {device}, {sum(map(len, refused.values()))} refused with a reason, the others as PyTorch does them")
    if "-v" in sys.argv:
        for name, texts in refused.items():
            print(name, *sorted(set(texts)), sep="\n  ")
