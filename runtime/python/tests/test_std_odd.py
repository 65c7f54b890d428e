"""tilecc.std against NumPy's own results, of arrays that lie in memory anyhow: parts, turned, with steps, at odd addresses, expanded, empty; rows of any
length, and what is written too. Nothing is refused but negative strides.

    python3 test_std_odd.py 500 7         # 500 calls from seed 7; what fails prints the call
    python3 test_std_odd.py 500 7 roll    # of one function
"""

import sys

import all_tests
import numpy as np
from tilecc import std
from test_std import columns_of, images_of

TYPES = (np.bool_, np.uint8, np.int16, np.float16, np.int32, np.float32, np.int64, np.float64)
ADDED = (np.uint32, np.int32, np.float16, np.float32, np.float64, np.int64)  # by the copy engine
NUMBERS = (np.int8, np.uint16, np.int32, np.int64)
random = np.random.default_rng(1)


def upto(high, low=0):
    return int(random.integers(low, high + 1))


def extent(most=12):
    return 0 if random.random() < 0.03 else upto(most, 1)


def filled(shape, t):
    """Whole numbers that every type holds, so that sums are exact."""
    return np.asarray(random.integers(0, 2 if t is np.bool_ else 8, shape)).astype(t)


def lying(shape, t, written=False):
    """An array of this shape that lies in memory in some way, by itself if it is written."""
    shape, rank = tuple(shape), len(shape)
    kind = str(random.choice(["plain", "part", "part", "turned", "steps", "unaligned", "expanded"]))
    if kind == "part":
        at, behind = ([upto(3) for _ in shape] for _ in range(2))
        return filled([a + n + b for a, n, b in zip(at, shape, behind)], t)[(..., *(slice(a, a + n) for a, n in zip(at, shape)))]
    if kind == "turned":
        dims = [int(d) for d in random.permutation(rank)]
        return filled([shape[d] for d in dims], t).transpose([dims.index(d) for d in range(rank)])
    if kind == "steps":
        by = [upto(3, 1) for _ in shape]
        return filled([n * k for n, k in zip(shape, by)], t)[(..., *(slice(upto(k - 1), None, k) for k in by))]
    if kind == "unaligned":
        return filled(int(np.prod(shape)) + 1, t)[1:].reshape(shape)
    if kind == "expanded" and not written and rank:
        d = upto(rank - 1)
        return np.broadcast_to(filled((*shape[:d], 1, *shape[d + 1 :]), t), shape)
    return filled(shape, t)


def some_type():
    return TYPES[upto(len(TYPES) - 1)]


def matrix(t=None, rows=None):
    return lying((extent(40) if rows is None else rows, extent(140 if random.random() < 0.9 else 5000)), t or some_type())


def of_rank(rank, t=None):
    return lying([extent() for _ in range(rank - 1)] + [extent(40)], t or some_type())


def numbers(shape, below):
    """Which rows: some of them outside."""
    t = NUMBERS[upto(len(NUMBERS) - 1)]
    n, low = int(np.prod(shape)), 0 if t is np.uint16 else -1
    x = lying((*shape,), t, True)
    x[...] = random.integers(low, below + 1, n).reshape(shape)
    return x


def distinct(n, below):
    """n of them, all different but for those that are left out."""
    i = np.full(n, -1)
    i[: min(n, below)] = random.permutation(below)[: min(n, below)]
    return random.permutation(i).astype(NUMBERS[upto(3, 2)])


def offsets(rows, groups):
    return np.sort(random.integers(0, rows + 1, groups + 1)).astype(NUMBERS[upto(3, 2)])


def taken(x, i):
    inside = (i >= 0) & (i < len(x))
    want = np.zeros((*i.shape, *x.shape[1:]), x.dtype)
    want[inside] = x[i[inside].astype(np.int64)]
    return want


# ---- what NumPy makes of the same arguments: the call, and what comes of it ----

CASES = {}


def case(f):
    CASES[f.__name__] = f
    return f


@case
def copy():
    x = of_rank(upto(6))
    if random.random() < 0.5:
        return {"x": x}, x
    out = lying(x.shape, x.dtype.type, True)
    return {"x": x, "out": out}, x


@case
def permute():
    x = of_rank(upto(5, 1))
    dims = tuple(int(d) for d in random.permutation(x.ndim))
    return {"x": x, "dims": dims}, x.transpose(dims)


@case
def concat():
    x = of_rank(upto(4, 1))
    dim, xs = upto(x.ndim - 1), [x]
    for _ in range(upto(2)):
        xs.append(lying((*x.shape[:dim], extent(), *x.shape[dim + 1 :]), x.dtype.type))
    want = np.concatenate(xs, dim)
    return {"xs": xs, "dim": dim, **({} if upto(1) else {"out": lying(want.shape, x.dtype.type, True)})}, want


@case
def split():
    x = of_rank(upto(4, 1))
    dim, sizes = upto(x.ndim - 1), []
    while sum(sizes) < x.shape[dim]:
        sizes.append(min(upto(9), x.shape[dim] - sum(sizes)))
    return {"x": x, "sizes": sizes, "dim": dim}, np.split(x, np.cumsum(sizes)[:-1], dim) if sizes else []


@case
def fill():
    t = some_type()
    out, value = lying([extent() for _ in range(upto(5))], t, True), upto(1) if t is np.bool_ else upto(3)
    return {"out": out, "value": value}, np.full(out.shape, value, t)


@case
def convert():
    x, t = lying([extent(70 >> rank) for rank in range(upto(4))], some_type()), TYPES[upto(len(TYPES) - 1, 1)]
    return {"x": x, "dtype": t}, x.astype(t)


@case
def roll():
    x = of_rank(upto(4, 1)) if upto(1) else matrix()
    shift, dim = upto(150, -150), upto(x.ndim - 1)
    return {"x": x, "shift": shift, "dim": dim}, np.roll(x, shift, dim)


@case
def flip():
    x = of_rank(upto(5, 1)) if upto(1) else matrix()
    dim = upto(x.ndim - 1)
    return {"x": x, "dim": dim}, np.flip(x, dim)


@case
def pad():
    x = matrix()
    by = [upto(9, -9) for _ in range(4)]
    for i, n in ((0, x.shape[0]), (2, x.shape[1])):
        if -min(by[i], 0) - min(by[i + 1], 0) > n:
            by[i : i + 2] = 0, 0
    m, n = x.shape
    want = np.pad(x, [(max(by[0], 0), max(by[1], 0)), (max(by[2], 0), max(by[3], 0))])
    want = want[max(-by[0], 0) :, max(-by[2], 0) :][: m + by[0] + by[1], : n + by[2] + by[3]]
    return dict(zip(("x", "top", "bottom", "left", "right"), (x, *by))), want


@case
def slide():
    x, left, columns = matrix(), upto(50, -50), upto(150)
    want = np.pad(x, ((0, 0), (60, 260)))[:, 60 - left :][:, :columns]
    return {"x": x, "left": left, "columns": columns}, want


@case
def interleave():
    x = lying((upto(8, 1), extent(), extent(70)), some_type())
    return {"x": x}, x.transpose(1, 2, 0).reshape(x.shape[1], -1) if x.size else np.empty((x.shape[1], x.shape[2] * x.shape[0]), x.dtype)


@case
def deinterleave():
    k = upto(8, 1)
    x = lying((extent(), k * extent(40)), some_type())
    return {"x": x, "k": k}, x.reshape(x.shape[0], x.shape[1] // k, k).transpose(2, 0, 1)


@case
def broadcast():
    x, n = matrix(), upto(5)
    return {"x": x, "copies": n}, np.broadcast_to(x, (n, *x.shape))


@case
def all_gather():
    n = upto(5, 1)
    x = lying((n, extent(100)), some_type())
    return {"x": x}, np.broadcast_to(x, (n, *x.shape))


@case
def ring():
    x = lying((upto(5, 1), extent(100)), some_type())
    return {"x": x}, np.roll(x, 1, 0)


@case
def all_to_all():
    n = upto(5, 1)
    x = lying((n, n, extent(100)), some_type())
    return {"x": x}, x.swapaxes(0, 1)


@case
def reduce_scatter():
    n, t = upto(10, 1), ADDED[upto(4)]
    x = lying((n, n, extent(60)), t)
    return {"x": x}, x.sum(0, dtype=t)


@case
def split_k():
    t, u = ADDED[upto(4)], ADDED[upto(4)]
    x = lying((upto(10), extent(), extent(70)), t)
    return {"parts": x, "dtype": u}, x.sum(0, dtype=np.float64).astype(u)


@case
def accumulate():
    t = ADDED[upto(5)]
    x = lying((upto(4), extent(), extent(70)), t)
    out = lying(x.shape[1:], t, True)
    return {"parts": x, "out": out}, out + x.sum(0, dtype=t)


@case
def gather():
    table = matrix()
    idx = numbers((extent(30),), len(table))
    out = {} if upto(1) else {"out": lying((len(idx), table.shape[1]), table.dtype.type, True)}
    return {"table": table, "idx": idx, **out}, taken(table, idx)


@case
def scatter():
    x = matrix()
    out = lying((extent(50), x.shape[1]), x.dtype.type, True)
    idx, want = distinct(len(x), len(out)), out.copy()
    want[idx[idx >= 0]] = x[idx >= 0]
    return {"x": x, "idx": idx, "out": out}, want


@case
def dispatch():
    x, most = matrix(), upto(4)
    out = lying((extent(80), x.shape[1]), x.dtype.type, True)
    row, want = distinct(len(x) * most, len(out)).reshape(len(x), most), out.copy()
    for k in range(most):
        want[row[:, k][row[:, k] >= 0]] = x[row[:, k] >= 0]
    return {"x": x, "row": row, "out": out}, want


def added(x, out):
    idx, want = numbers((len(x),), len(out)), out.copy()
    inside = (idx >= 0) & (idx < len(out))
    np.add.at(want, idx[inside].astype(np.int64), x[inside].astype(out.dtype))
    return {"x": x, "idx": idx, "out": out}, want


@case
def scatter_add():
    x = matrix(ADDED[upto(5)])
    return added(x, lying((extent(50), x.shape[1]), x.dtype.type, True))


@case
def combine():
    x = matrix((np.float16, np.uint8, np.float64)[upto(2)])
    return added(x, lying((extent(50), x.shape[1]), np.float32, True))


@case
def embedding_gradient():
    x, rows = matrix((np.float16, np.float32)[upto(1)]), extent(40)
    call, want = added(x, np.zeros((rows, x.shape[1]), np.float32))
    return {"gradient": x, "idx": call["idx"], "rows": rows}, want


@case
def unpermute():
    y, u = matrix((np.float16, np.float32)[upto(1)]), (np.float16, np.float32)[upto(1)]
    row = numbers((extent(), upto(5, 1)), len(y))
    return {"y": y, "row": row, "dtype": u}, taken(y.astype(np.float32), row).sum(1, dtype=np.float32).astype(u)


@case
def unpack():
    x, rows = matrix(), upto(9, 1)
    offs = offsets(len(x), upto(5))
    want = np.zeros((len(offs) - 1, rows, x.shape[1]), x.dtype)
    for g, (a, b) in enumerate(zip(offs, offs[1:])):
        want[g, : min(rows, b - a)] = x[a : min(a + rows, b)]
    return {"x": x, "offs": offs, "rows": rows}, want


@case
def pack():
    rows = upto(40, 1)
    offs = offsets(rows, upto(5, 1))
    x = lying((len(offs) - 1, int(np.diff(offs).max()) + upto(2), extent(70)), some_type())
    want = np.zeros((rows, x.shape[2]), x.dtype)
    for g, (a, b) in enumerate(zip(offs, offs[1:])):
        want[a:b] = x[g, : b - a]
    return {"x": x, "offs": offs, "rows": rows}, want


@case
def ragged_copy():
    x, groups = matrix(), upto(5, 1)
    out = lying((upto(60, 1), x.shape[1]), x.dtype.type, True)
    offs, at, want = offsets(len(x), groups), offsets(len(out), groups), out.copy()
    at = at.astype(offs.dtype)
    for a, b, first, room in zip(offs, offs[1:], at, np.diff(at)):
        n = min(b - a, room)
        want[first : first + n] = x[a : a + n]
    return {"x": x, "offs": offs, "out": out, "at": at}, want


@case
def pages_gather():
    cache = lying((extent(5), upto(6, 1), extent(70)), some_type())
    table = numbers((upto(6, 1),), len(cache))
    rows = upto(len(table) * cache.shape[1])
    want = taken(cache, table).reshape(-1, cache.shape[2]) if cache.size else np.zeros((rows, cache.shape[2]), cache.dtype)
    return {"cache": cache, "table": table, "rows": rows}, want[:rows]


@case
def pages_append():
    x = matrix(rows=extent(12))
    cache = lying((upto(5, 1), upto(6, 1), x.shape[1]), x.dtype.type, True)
    slot, want = distinct(len(x), cache.shape[0] * cache.shape[1]), cache.copy()
    want[slot[slot >= 0] // cache.shape[1], slot[slot >= 0] % cache.shape[1]] = x[slot >= 0]
    return {"x": x, "slot": slot, "cache": cache}, want


@case
def split_heads():
    x = of_rank(4)
    return {"x": x}, x.swapaxes(1, 2)


@case
def merge_heads():
    x = of_rank(4)
    return {"x": x}, x.swapaxes(1, 2)


@case
def split_qkv():
    q, g = upto(3), upto(3)
    x = lying((extent(3), extent(), q + 2 * g, extent(40)), some_type())
    return {"qkv": x, "kv_heads": g}, [p.swapaxes(1, 2) for p in np.split(x, (q, q + g), 2)]


@case
def merge_qkv():
    t, (b, s, d), g = some_type(), (extent(3), extent(), extent(40)), upto(3)
    q, k, v = (lying((b, h, s, d), t) for h in (upto(3), g, g))
    return {"q": q, "k": k, "v": v}, np.concatenate([q, k, v], 1).swapaxes(1, 2)


@case
def pad_nhwc():
    x, mode = lying((extent(3), upto(9, 1), upto(9, 1), extent(20)), some_type()), str(random.choice(["constant", "edge", "reflect", "wrap"]))
    most = [n - 1 if mode == "reflect" else 20 for n in x.shape[1:3]]
    by = [upto(most[0]), upto(most[0]), upto(most[1]), upto(most[1])]
    if mode == "wrap":  # numpy.pad does borders wider than the array from 1.25 on
        want = x.take(range(-by[0], x.shape[1] + by[1]), 1, mode="wrap").take(range(-by[2], x.shape[2] + by[3]), 2, mode="wrap")
    else:
        want = np.pad(x, ((0, 0), by[:2], by[2:], (0, 0)), mode=mode)
    return dict(zip(("x", "top", "bottom", "left", "right", "mode"), (x, *by, mode))), want


def filters(n):
    return {name: tuple(upto(high, low) for _ in range(n)) for name, low, high in (("size", 1, 3), ("stride", 1, 2), ("padding", 0, 2), ("dilation", 1, 2))}


def fitting(shape, f):
    """A shape of images into which the filter fits."""
    return [shape[0], *(max(n, d * (k - 1) + 1 - 2 * p) for n, k, p, d in zip(shape[1:-1], f["size"], f["padding"], f["dilation"])), shape[-1]]


@case
def im2col():
    n = upto(3, 1)
    f = filters(n)
    x = lying(fitting([extent(3), *(upto(6, 1) for _ in range(n)), extent(40)], f), some_type())
    return {"x": x, **f}, columns_of(x, *f.values())


@case
def col2im():
    f, t = filters(2), (np.int32, np.float32, np.float64)[upto(2)]
    shape = tuple(fitting([upto(3, 1), upto(6, 1), upto(6, 1), upto(20, 1)], f))
    cols = lying(columns_of(np.zeros(shape, t), *f.values()).shape, t)
    return {"cols": cols, "shape": shape, **f}, images_of(cols, shape, *f.values())


def tiles(x, tile, border):
    """Those of x, row-major, over all its dimensions."""
    counts = [-(-n // t) for n, t in zip(x.shape, tile)]
    x = np.pad(x, [(b, b + c * t - n) for n, c, t, b in zip(x.shape, counts, tile, border)])
    parts = [x[tuple(slice(i * t, i * t + t + 2 * b) for i, t, b in zip(at, tile, border))] for at in np.ndindex(*counts)]
    return counts, np.stack(parts)


@case
def halo():
    n = upto(3, 2)
    x, tile, border = of_rank(n), tuple(upto(20, 1) for _ in range(n)), tuple(upto(4) for _ in range(n))
    if 0 in x.shape:
        x = filled([4] * n, x.dtype.type)
    counts, want = tiles(x, tile, border)
    return {"x": x, "tile": tile, "border": border}, want.reshape(*counts, *want.shape[1:]) if n == 2 else want


@case
def halo_nhwc():
    x, tile, border = lying([upto(9, 1) for _ in range(3)] + [upto(20, 1)], some_type()), (upto(8, 1), upto(8, 1)), (upto(2), upto(2))
    return {"x": x, "tile": tile, "border": border}, tiles(x, (1, *tile, x.shape[3]), (0, *border, 0))[1].squeeze(1)


# ---- calls ----


def shown(x):
    if isinstance(x, np.ndarray):
        return f"{x.dtype}{list(x.shape)} strides {[s // x.itemsize for s in x.strides]} at {x.ctypes.data % 16}"
    return f"[{', '.join(map(shown, x))}]" if isinstance(x, list) else repr(x)


def around(x):
    """The memory that x is a part of, with x left out: what nobody else writes."""
    base = x if x.base is None else x.base
    if x.size == 0:
        return base.copy()
    before = base.copy()
    part = np.lib.stride_tricks.as_strided(before.reshape(-1)[(x.ctypes.data - base.ctypes.data) // x.itemsize :], x.shape, x.strides)
    part[...] = 0
    return before


def one_random(name):
    arguments, want = CASES[name]()
    call = f"{name}({', '.join(f'{n}={shown(x)}' for n, x in arguments.items())})"
    written = arguments.get("out", arguments.get("cache") if name == "pages_append" else None)
    before = None if written is None else around(written)
    try:
        got = getattr(std, name)(**arguments)
        if written is not None:
            assert got is written, "what is written is returned"
            assert np.array_equal(before, around(written)), "something else was written"
        for a, b in zip(got, want) if isinstance(want, list) else [(got, want)]:
            assert a.dtype == b.dtype and a.shape == b.shape, (a.dtype, a.shape, b.dtype, b.shape)
            assert np.array_equal(a, b), "other elements"
        assert not isinstance(want, list) or len(got) == len(want)
    except Exception as e:
        raise AssertionError(f"{call}: {type(e).__name__} {e}") from e


def random_calls(count, names):
    failed = 0
    for i in range(count):
        try:
            one_random(names[i % len(names)])
        except AssertionError as e:
            failed += 1
            print(e)
    return failed


def test_all():
    assert sorted(CASES) == sorted(set(std.__all__) - {"transpose"})


def test_random():
    assert random_calls(2 * len(CASES), sorted(CASES)) == 0


def test_large():
    """What has no room in a tile, or more dimensions than a tensor of a kernel."""
    x = filled((1, 400, 3), np.float32)
    assert np.array_equal(std.im2col(x, 300), columns_of(x, (300,), (1,), (0,), (1,)))
    x = filled((20, 63), np.float32)
    for tile, border in (((250, 240), (1, 4)), ((3, 300), (0, 0))):
        counts, want = tiles(x, tile, border)
        assert np.array_equal(std.halo(x, tile, border), want.reshape(*counts, *want.shape[1:]))
    x = filled((1, 3, 3, 64), np.float32)
    assert np.array_equal(std.halo_nhwc(x, 100, 1), tiles(x, (1, 100, 100, 64), (0, 1, 1, 0))[1].squeeze(1))
    x = filled((2, 3, 2, 300), np.float32)
    assert np.array_equal(std.split_heads(x), x.swapaxes(1, 2))
    x = filled((2, 5, 3, 5, 9, 4, 3), np.int16)[:, ::2, :, ::2, ::2, 1:, ::2]
    assert np.array_equal(std.copy(x), x) and np.array_equal(std.flip(x, 2), np.flip(x, 2)) and np.array_equal(std.roll(x, 1, 3), np.roll(x, 1, 3))
    for t in TYPES:
        for m in (filled((3, 5000), t), filled((3000, 7), t), filled((6001,), t)[1:].reshape(2, 3000).T):
            for d in (0, 1):
                assert np.array_equal(std.flip(m, d), np.flip(m, d)) and np.array_equal(std.roll(m, 1234, d), np.roll(m, 1234, d))
            assert np.array_equal(std.pad(m, 1, 2, 3, 4), np.pad(m, ((1, 2), (3, 4))))


def test_negative():
    x = filled((20, 63), np.float32)
    for y in (x[::-1], x[:, ::-1]):
        for f in (lambda: std.roll(y, 3), lambda: std.flip(y), lambda: std.flip(y, 1), lambda: std.interleave(y[None]), lambda: std.deinterleave(y, 3), lambda: std.broadcast(y, 2),
                  lambda: std.pad(y, 1, 1), lambda: std.slide(y, 1), lambda: std.halo(y, (3, 5), (1, 1)), lambda: std.gather(y, np.zeros(3, np.int32)), lambda: std.split_k(y[None]),
                  lambda: std.scatter(y, np.arange(20), x.copy()), lambda: std.pages_gather(y[None], np.zeros(3, np.int32), 3), lambda: std.pad_nhwc(y[None, :, :, None], 1)):
            all_tests.raises(ValueError, "what is read has a negative stride", f)


if __name__ == "__main__":
    if len(sys.argv) > 1:
        random = np.random.default_rng(int(sys.argv[2]) if len(sys.argv) > 2 else 1)
        count = int(sys.argv[1])
        failed = random_calls(count, sys.argv[3:] or sorted(CASES))
        print(count, "random calls,", failed, "of them not as NumPy does them")
        sys.exit(failed > 0)
    sys.exit(all_tests.run(globals()) > 0)
