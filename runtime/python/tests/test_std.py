"""tilecc.std against NumPy's own results: fixed cases, and random ones (python3 test_std.py COUNT SEED). Arrays that lie anyhow: test_std_odd.py."""

import sys

import all_tests
import numpy as np
import tilecc
from tilecc import std

TYPES = (np.uint8, np.int16, np.float32, np.float64)
random = np.random.default_rng(1)


def some(shape, dtype=np.float32):
    return random.integers(0, 100, shape).astype(dtype)


def equal(a, b):
    assert a.dtype == b.dtype and a.shape == b.shape, (a.dtype, a.shape, b.dtype, b.shape)
    assert np.array_equal(a, b)


def test_movements():
    for t in TYPES:
        x = some((5, 32, 48), t)
        equal(std.copy(x), x)
        equal(std.copy(x[1:4, 3:20, 16:]), x[1:4, 3:20, 16:])
        equal(std.transpose(x), x.transpose(0, 2, 1))
        equal(std.permute(x, (1, 0, 2)), x.transpose(1, 0, 2))
        m = some((33, 64), t)
        equal(std.concat([m, m[:7]]), np.concatenate([m, m[:7]]))
        equal(std.concat([m, m[:, :16]], dim=1), np.concatenate([m, m[:, :16]], axis=1))
        equal(std.pad(m, 2, 3, 16, 32), np.pad(m, ((2, 3), (16, 32))))
        equal(std.pad(m, -2, -3, -16, 0), m[2:-3, 16:])
        equal(std.roll(m, 5), np.roll(m, 5, 0))
        equal(std.roll(m, -70), np.roll(m, -70, 0))
        equal(std.flip(m), m[::-1])
        equal(std.flip(m, 1), m[:, ::-1])
        equal(std.roll(m, 5, 1), np.roll(m, 5, 1))
        equal(std.roll(m, -70, 1), np.roll(m, -70, 1))
        equal(np.concatenate(std.split(m, (16, 0, 48), 1), 1), m)
        equal(np.concatenate(std.split(m, (30, 3))), m)
        equal(std.slide(m, 3)[:, 3:], m[:, :-3])
        equal(std.slide(m, -5, 48), m[:, 5:53])
        equal(std.fill(some((3, 32), t), 7), np.full((3, 32), 7, t))
        if t in (np.float32, np.float64):
            equal(std.fill(some((3, 32), t), -0.1), np.full((3, 32), -0.1, t))
            equal(std.fill(some((3, 32), t), np.inf), np.full((3, 32), np.inf, t))
        equal(std.broadcast(m, 6), np.stack([m] * 6))
        equal(std.broadcast(m, 4), np.stack([m] * 4))
        c = some((3, 64), t)
        equal(std.all_gather(c), np.stack([c] * 3))
        equal(std.ring(c), np.roll(c, 1, 0))
        c = some((5, 5, 96), t) // 8
        equal(std.all_to_all(c), np.ascontiguousarray(c.swapaxes(0, 1)))
        if t != np.uint8 and t != np.int16:
            equal(std.reduce_scatter(c), c.sum(0, dtype=t))
        p = some((3, 20, 48), t)
        equal(std.interleave(p), p.transpose(1, 2, 0).reshape(20, -1))
        equal(std.deinterleave(std.interleave(p), 3), p)


def test_heads():
    for t in TYPES:
        x = some((2, 40, 7, 32), t)
        h = x.transpose(0, 2, 1, 3)
        equal(std.split_heads(x), np.ascontiguousarray(h))
        equal(std.merge_heads(std.split_heads(x)), x)
        for g, at in ((2, (3, 5)), (3, (1, 4)), (0, (7, 7))):
            q, k, v = std.split_qkv(x, g)
            for part, want in zip((q, k, v), np.split(h, at, 1)):
                equal(part, np.ascontiguousarray(want))
            equal(std.merge_qkv(q, k, v), x)
        for part, want in zip(std.split_qkv(x[:, :, :6].copy()), np.split(h[:, :6], 3, 1)):
            equal(part, np.ascontiguousarray(want))


def columns_of(x, size, stride, padding, dilation):
    x = np.pad(x, [(0, 0), *((p, p) for p in padding), (0, 0)])
    made = [(n - d * (k - 1) - 1) // s + 1 for n, k, s, d in zip(x.shape[1:], size, stride, dilation)]
    taps = []
    for tap in np.ndindex(*size):
        taps.append(x[(slice(None), *(slice(t * d, t * d + (n - 1) * s + 1, s) for t, d, n, s in zip(tap, dilation, made, stride)))])
    return np.concatenate(taps, -1)


def images_of(cols, shape, size, stride, padding, dilation):
    n, h, w, c = shape
    y = np.zeros((n, h + 2 * padding[0] + 20, w + 2 * padding[1] + 20, c), cols.dtype)
    p, q = cols.shape[1:3]
    for i, (r, s) in enumerate(np.ndindex(*size)):
        r, s = r * dilation[0], s * dilation[1]
        y[:, r : r + (p - 1) * stride[0] + 1 : stride[0], s : s + (q - 1) * stride[1] + 1 : stride[1]] += cols[..., i * c : i * c + c]
    return y[:, padding[0] : padding[0] + h, padding[1] : padding[1] + w]


def test_images():
    for t in TYPES:
        x = some((2, 13, 11, 24 if t != np.uint8 else 48), t)
        f = ((3, 2), (2, 1), (1, 2), (1, 2))
        cols = columns_of(x, *f)
        equal(std.im2col(x, *f), cols)
        if t != np.int16:
            cols //= 4
            equal(std.col2im(cols, x.shape, *f), images_of(cols, x.shape, *f))
        for mode in ("constant", "edge", "reflect", "wrap"):
            equal(std.pad_nhwc(x, 2, 1, 3, 4, mode), np.pad(x, ((0, 0), (2, 1), (3, 4), (0, 0)), mode=mode))
        equal(std.pad_nhwc(x, -2, 1, 3, -4), np.pad(x, ((0, 0), (0, 1), (3, 0), (0, 0)))[:, 2:, :-4])
    x = some((2, 19, 8))
    equal(std.im2col(x, 4, 3, 2), columns_of(x, (4,), (3,), (2,), (1,)))
    x = some((2, 5, 7, 6, 8))
    equal(std.im2col(x, 2, 1, (0, 1, 1)), columns_of(x, (2, 2, 2), (1, 1, 1), (0, 1, 1), (1, 1, 1)))
    x = some((2, 3, 5, 6, 16), np.float32)
    equal(std.im2col(x, 3, 1, 1), columns_of(x, (3, 3, 3), (1, 1, 1), (1, 1, 1), (1, 1, 1)))
    x = np.pad(m := some((50, 72)), ((1, 65), (4, 65)))
    equal(std.halo(m, (16, 32), (1, 4)), np.stack([np.stack([x[i : i + 18, j : j + 40] for j in (0, 32, 64)]) for i in (0, 16, 32, 48)]))
    x = np.pad(m := some((9, 10, 40)), ((1, 65), (2, 65), (4, 65)))
    want = [x[k : k + 10, i : i + 12, j : j + 40] for k in (0, 8) for i in (0, 8) for j in (0, 32)]
    equal(std.halo(m, (8, 8, 32), (1, 2, 4)), np.stack(want))
    x = np.pad(m := some((2, 9, 17, 8)), ((0, 0), (1, 65), (2, 65), (0, 0)))
    want = [x[n, i : i + 10, j : j + 12] for n in range(2) for i in (0, 8) for j in (0, 8, 16)]
    equal(std.halo_nhwc(m, 8, (1, 2)), np.stack(want))


def test_sums():
    for t in (np.float32, np.float64, np.float16, np.int32):
        x = some((5, 20, 48), t)
        equal(std.split_k(x), x.sum(0, dtype=t))
    equal(std.split_k(x.astype(np.float16), np.float32), x.sum(0).astype(np.float32))
    for n in (1, 8, 9):
        for t, u in ((np.uint8, np.int32), (np.int8, np.int16), (np.int16, np.float32), (np.uint16, np.uint8)):
            y = random.integers(np.iinfo(t).min, np.iinfo(t).max + 1, (n, 6, 32)).astype(t)
            equal(std.split_k(y, u), y.sum(0, dtype=np.int64).astype(u))
    equal(std.accumulate(x, x[0] + 0), x.sum(0, dtype=np.int32) + x[0])
    y = some((30, 64), np.float16)
    row = random.integers(-1, 31, (21, 3)).astype(np.int32)
    want = np.where(((row >= 0) & (row < 30))[..., None], y[row % 30], 0).astype(np.float32).sum(1)
    equal(std.unpermute(y, row, np.float32), want)
    equal(std.unpermute(y, row), want.astype(np.float16))
    idx = np.array([3, 0, 3, 8, -1], np.int64)
    for t in (np.float16, np.float32):
        g = some((5, 64), t)
        equal(std.embedding_gradient(g, idx, 5), np.stack([g[1], 0 * g[0], 0 * g[0], g[0] + g[2], 0 * g[0]]).astype(np.float32))


def test_rows():
    for t in (np.int32, np.int64):
        x = some((20, 64))
        i = np.array([3, 0, 19, 3, -1, 20], t)
        want = np.where(((i >= 0) & (i < 20))[:, None], x[i % 20], 0).astype(np.float32)
        equal(std.gather(x, i), want)
        out = some((20, 64))
        want = out.copy()
        i = np.array([5, 2, -1, 19], t)
        want[[5, 2, 19]] = x[[0, 1, 3]]
        equal(std.scatter(x[:4], i, out), want)
        row = np.array([[3, 0, 11], [1, 2, 6], [4, 10, 5], [9, 8, 7]], t)
        equal(std.dispatch(x[:4], row), x[np.argsort(row.ravel()) // 3])
        i = np.array([5, 2, 5, 20], t)
        for r in range(3):
            want[i[r]] += x[r]
        equal(std.scatter_add(x[:4], i, out), want)
        o = np.array([0, 3, 3, 10], t)
        to = np.array([0, 2, 2, 9], t)
        out, want = np.zeros((12, x.shape[1]), x.dtype), np.zeros((12, x.shape[1]), x.dtype)
        for a, b, first, room in zip(o, o[1:], to, np.diff(to)):
            want[first : first + min(b - a, room)] = x[a : a + min(b - a, room)]
        equal(std.ragged_copy(x, o, out, to), want)
        y = std.unpack(x, o, 4)
        for g in range(3):
            n = min(4, o[g + 1] - o[g])
            equal(y[g, :n], x[o[g] : o[g] + n])
            assert not y[g, n:].any()
        z = std.pack(some((3, 7, 64)), o, 12)
        assert z.shape == (12, 64) and not z[10:].any()
        z = std.pack(some((2, 7, 64)), np.array([2, 5, 9], t), 70)
        assert z.shape == (70, 64) and not z[:2].any() and not z[9:].any() and z[2:9].any(1).all()
        cache = some((4, 8, 64))
        table = np.array([3, -1, 0], t)
        y = std.pages_gather(cache, table, 21)
        equal(y[:8], cache[3])
        assert not y[8:16].any()
        equal(y[16:], cache[0, :5])
        y = std.pages_gather(cache, table, 24)
        equal(y[:8], cache[3])
        assert not y[8:16].any()
        equal(y[16:], cache[0])
        new = some((3, 64))
        std.pages_append(new, np.array([31, -1, 8], t), cache)
        equal(cache[3, 7], new[0])
        equal(cache[1, 0], new[2])


def test_convert():
    x = some((40, 64))
    for t in (np.float16, np.float64, np.int32, np.uint8):
        equal(std.convert(x, t), x.astype(t))
    equal(std.convert(np.array([300.0, -5.0, 7.0, 0.0] * 4, np.float32), np.uint8, saturate=True), np.array([255, 0, 7, 0] * 4, np.uint8))
    y = np.zeros((3, 64), np.float32)
    equal(std.combine(x[:5].astype(np.float16), np.array([0, 2, 0, 3, -1], np.int32), y), np.stack([x[0] + x[2], 0 * x[0], x[1]]))


def test_empty():
    x = np.empty((0, 64), np.float32)
    for y, shape in (
        (std.copy(x), (0, 64)), (std.transpose(x), (64, 0)), (std.concat([x, x]), (0, 64)), (std.roll(x, 1), (0, 64)), (std.flip(x), (0, 64)),
        (std.pad_nhwc(np.empty((0, 3, 3, 8), np.float32), 1, 1), (0, 5, 3, 8)), (std.im2col(np.empty((0, 3, 3, 8), np.float32), 3), (0, 1, 1, 72)),
        (std.im2col(np.empty((2, 3, 3, 0), np.float32), 3), (2, 1, 1, 0)),
        (std.split_heads(np.empty((0, 3, 2, 8), np.float32)), (0, 2, 3, 8)), (std.slide(x, 3), (0, 64)), (std.roll(x, 3, 1), (0, 64)),
        (std.gather(some((3, 64)), np.empty(0, np.int32)), (0, 64)), (std.convert(x, np.float16), (0, 64)), (std.pad(x, 1, 1), (2, 64)),
    ):
        assert y.shape == shape, (y.shape, shape)


def test_bool():
    m = some((20, 64), np.uint8) % 2 == 0
    equal(std.fill(np.zeros(64, bool), 2).view(np.uint8), np.ones(64, np.uint8))  # as NumPy
    equal(std.convert(m, np.float32), m.astype(np.float32))
    equal(std.flip(m), m[::-1])


def test_odd():
    """Rows of any length, odd addresses, strides of the innermost dimension: what threads move."""
    for t in TYPES:
        flat, m = some(1000, t), some((37, 131), t)
        for a in (flat[:1], flat[3:], flat[1:514], flat[::3], m, m[:, 1:], m[1:, 3:100], m[::2, ::5], some((3, 5, 7, 9), t), some((3, 5, 7, 9), t)[:, 1:, ::2, 2:7]):
            equal(std.copy(a), np.ascontiguousarray(a))
            if a.ndim > 1:
                equal(std.transpose(a), np.ascontiguousarray(a.swapaxes(-1, -2)))
                equal(std.concat([a, a[..., :2], a], -1), np.concatenate([a, a[..., :2], a], -1))
        p = some((3, 5, 7, 9), t)
        equal(std.permute(p, (3, 1, 0, 2)), np.ascontiguousarray(p.transpose(3, 1, 0, 2)))
        for part, want in zip(std.split(m, (1, 30, 100), 1), np.split(m, (1, 31), 1)):
            equal(part, np.ascontiguousarray(want))
        idx = random.integers(-1, 38, 20).astype(np.int32)
        for table in (m, m[:, :128], m[:, 1:32]):
            equal(std.gather(table, idx), np.where((idx >= 0)[:, None] & (idx < 37)[:, None], table[idx.clip(0, 36)], t(0)))
        equal(std.convert(m, np.float32), m.astype(np.float32))
        out = np.zeros((40, 140), t)
        std.copy(m, out=out[1:38, 3:134])
        assert np.array_equal(out[1:38, 3:134], m) and out[:, :3].sum() + out[:, 134:].sum() + out[:1].sum() + out[38:].sum() == 0


def test_as_numpy():
    """What users of NumPy have at hand: odd addresses, tables and numbers with strides, no dimensions, numbers of any type, small parts."""
    for t in TYPES:
        flat = some(2000, t)
        a, b = flat[1:1025].reshape(16, 64), some((16, 64), t)
        equal(std.concat([a, b], 1), np.concatenate([a, b], 1))
        equal(std.concat([b, b], 1, out=some(2049, t)[1:].reshape(16, 128)), np.concatenate([b, b], 1))
        equal(std.convert(flat[7:8].reshape(()), np.float32), flat[7:8].reshape(()).astype(np.float32))
        equal(std.convert(a[:, ::3], np.float64), a[:, ::3].astype(np.float64))
        equal(std.convert(flat[1:, None], np.float64), flat[1:, None].astype(np.float64))
        i = np.array([3, 5, 0, 5, 9, 5], np.uint8)[::2]
        for table in (a[:, ::3], a.T[::2]):
            equal(std.gather(table, i), table[i])
        for n in (3, 128):
            equal(std.gather(np.empty((0, n), t), np.zeros(4, np.int16), out=some((4, n + 1), t)[:, :n]), np.zeros((4, n), t))
            equal(std.gather(np.empty((0, n), t), np.zeros(4, np.int16)), np.zeros((4, n), t))
        for p in (some((50, 5, 2), t), some((50, 2, 33), t)):
            equal(std.transpose(p), np.ascontiguousarray(p.swapaxes(1, 2)))
        for c in (17, 35):
            x = some((2, 5, 6, c), t)
            f = ((3, 2), (2, 1), (1, 0), (1, 2))
            equal(std.im2col(x, *f), columns_of(x, *f))
            x = some((1, 3, 4, 5, c), t)
            equal(std.im2col(x, np.int64(2), 1, 1), columns_of(x, (2, 2, 2), (1, 1, 1), (1, 1, 1), (1, 1, 1)))
        p = some((1, 6, 32), t)
        equal(std.interleave(p), p[0])
        equal(std.deinterleave(p[0], 1), p)
    parts = std.split(flat, (n for n in (10, 1990)))
    equal(np.concatenate(parts), flat)


class Own(np.ndarray):
    """What a user derives."""


def test_derived():
    x = some((20, 64))
    own = x.view(Own)
    assert np.array_equal(std.copy(own), x) and np.array_equal(std.transpose(own), x.T) and np.array_equal(std.concat([own, x]), np.concatenate([x, x]))
    assert np.array_equal(std.fill(own.copy(), 3), np.full_like(x, 3))


def test_fill_ends():
    for t in (np.uint8, np.int16, np.uint32, np.int64, np.uint64):
        low, high = np.iinfo(t).min, np.iinfo(t).max
        for value in (low, high):
            for out in (np.ones(5, t), np.ones((4, 64), t), np.ones((4, 9), t)[:, ::2]):
                assert (std.fill(out, value) == value).all(), (t, value)
        for value in (low - 1, high + 1):
            all_tests.raises(ValueError, f"{low} to {high}, not {value}", lambda: std.fill(np.ones(5, t), value))
    half, smallest = np.zeros(5, np.float16), 2.0**-24
    for value, wanted in ((65519.9, 65504), (smallest / 2, 0), (smallest * 1.5, smallest * 2), (1 + 2**-11, 1), (1 + 2**-11 + 2**-40, 1 + 2**-10)):
        assert (std.fill(half, value) == np.float16(wanted)).all(), value
    assert np.isnan(std.fill(half, np.nan)).all() and np.signbit(std.fill(half, -0.0)).all() and (std.fill(half, -np.inf) == -np.inf).all()


def test_errors():
    x = some((20, 63))
    for kind, words, f in (
        (TypeError, "std.copy(x=[1, 2]): argument 'x': a list is no array", lambda: std.copy([1, 2])),
        (TypeError, "out=5): argument 'out': a int is no array", lambda: std.copy(x, out=5)),
        (TypeError, "argument 'xs': a int is no array", lambda: std.concat([x, 3])),
        (tilecc.LaunchError, "does not hold: L >= ceil(R, P)", lambda: std.pages_gather(x[None], np.zeros(3, np.int32), 100)),
        (ValueError, "no permutation", lambda: std.permute(x, (0, 0))),
        (ValueError, "no dimension 2 of 2", lambda: std.concat([x], 2)),
        (ValueError, "no dimension -3 of 2", lambda: std.split(x, (0, 64), -3)),
        (ValueError, "no dimension 3 of 2", lambda: std.flip(x, 3)),
        (ValueError, "no dimension 2 of 2", lambda: std.roll(x, 1, 2)),
        (TypeError, "dim is an integer, not (0, 1)", lambda: std.flip(x, (0, 1))),
        (TypeError, "shift=1.5): shift is an integer, not 1.5", lambda: std.roll(x, 1.5)),
        (TypeError, "shift is an integer, not 'a'", lambda: std.roll(x, "a")),
        (TypeError, "shift is an integer, not int64[2]", lambda: std.roll(x, np.array([1, 2]))),
        (TypeError, "shift is an integer, not None", lambda: std.roll(x[:0], None)),
        (TypeError, "left is an integer, not 0.5", lambda: std.slide(x, 0.5)),
        (TypeError, "columns is an integer, not 2.5", lambda: std.slide(x, 1, 2.5)),
        (TypeError, "bottom is an integer, not '1'", lambda: std.pad(x, 1, "1")),
        (TypeError, "copies is an integer, not 1.5", lambda: std.broadcast(x, 1.5)),
        (TypeError, "k is an integer, not 3.0", lambda: std.deinterleave(x, 3.0)),
        (TypeError, "dim is an integer, not float32[20, 63]", lambda: std.concat(x, x)),
        (TypeError, "dims are integers in a sequence, not 1", lambda: std.permute(x, 1)),
        (TypeError, "sizes are integers in a sequence, not 10", lambda: std.split(x, 10)),
        (TypeError, "sizes are integers in a sequence, not [10, 10.0]", lambda: std.split(x, [10, 10.0])),
        (TypeError, "rows is an integer, not 2.5", lambda: std.unpack(x, np.zeros(3, np.int32), 2.5)),
        (TypeError, "kv_heads is an integer, not 1.0", lambda: std.split_qkv(some((1, 3, 6, 8)), 1.0)),
        (TypeError, "top is an integer, not 1.0", lambda: std.pad_nhwc(some((1, 3, 3, 8)), 1.0)),
        (TypeError, "size is an integer, or one for each dimension, not 2.5", lambda: std.im2col(some((1, 3, 3, 8)), 2.5)),
        (TypeError, "tile is an integer, or one for each dimension, not (4, 4.5)", lambda: std.halo(x, (4, 4.5), 1)),
        (ValueError, "images [N, H, W, C], not (3, 3, 8)", lambda: std.col2im(some((1, 3, 3, 8)), (3, 3, 8), 1)),
        (ValueError, "row has shape (3,)", lambda: std.unpermute(x, np.zeros(3, np.int32))),
        (ValueError, "out has shape (), wanted are rows of 63", lambda: std.scatter(x, np.zeros(20, np.int32), np.array(1.0, np.float32))),
        (ValueError, "differ elsewhere", lambda: std.concat([x, x[:, :3]])),
        (ValueError, "a matrix is wanted", lambda: std.gather(some(64), np.zeros(3, np.int32))),
        (ValueError, "a matrix is wanted", lambda: std.pad(some(64))),
        (ValueError, "cut off", lambda: std.pad(x, -30)),
        (ValueError, "out has shape", lambda: std.gather(x, np.zeros(3, np.int32), out=np.zeros((4, 63), np.float32))),
        (ValueError, "out has shape", lambda: std.scatter(x, np.zeros(20, np.int32), np.zeros((4, 64), np.float32))),
        (TypeError, "x has elements of s16: copy engines add u32", lambda: std.scatter_add(np.zeros((4, 16), np.int16), np.arange(4), np.zeros((4, 16), np.int16))),
        (TypeError, "out has elements of f32, wanted are f16", lambda: std.scatter_add(np.zeros((4, 16), np.float16), np.arange(4), np.zeros((4, 16), np.float32))),
        (TypeError, "out has elements of f16, wanted are f32", lambda: std.combine(np.zeros((4, 16), np.float16), np.arange(4), np.zeros((4, 16), np.float16))),
        (ValueError, "idx has shape", lambda: std.scatter_add(x, np.zeros(19, np.int32), np.zeros((4, 63), np.float32))),
        (ValueError, "are not the 20", lambda: std.split(x, (3, 4))),
        (ValueError, "does not fit", lambda: std.im2col(some((1, 3, 3, 8)), 5)),
        (ValueError, "size has 2 numbers", lambda: std.im2col(some((1, 3, 8)), (3, 3))),
        (ValueError, "are not those of images", lambda: std.col2im(some((1, 3, 3, 8)), (1, 3, 3, 8), 3)),
        (ValueError, "is none of", lambda: std.pad_nhwc(some((1, 3, 3, 8)), 1, mode="mirror")),
        (ValueError, "smaller than what is reflected", lambda: std.pad_nhwc(some((1, 3, 3, 8)), 3, mode="reflect")),
        (ValueError, "are not those of queries", lambda: std.split_qkv(some((1, 3, 4, 8)))),
        (ValueError, "do not go with", lambda: std.merge_qkv(*(some((1, h, 4, 8)) for h in (2, 1, 2)))),
        (ValueError, "at most 64 rows", lambda: std.unpermute(some((3, 64)), np.zeros((2, 65), np.int32))),
        (ValueError, "row has shape (3, 2), wanted is (4, 2)", lambda: std.dispatch(some((4, 64)), np.zeros((3, 2), np.int32))),
        (ValueError, "row has shape (4,)", lambda: std.dispatch(some((4, 64)), np.zeros(4, np.int32))),
        (TypeError, "wanted are integers", lambda: std.dispatch(some((4, 64)), np.zeros((4, 2), np.float32))),
        (TypeError, "bool is no number type", lambda: std.convert(x, bool)),
        (TypeError, "std.gather(table=float32[20, 63], idx=[0, 1]): argument 'idx': a list is no array", lambda: std.gather(x, [0, 1])),
        (ValueError, "std.deinterleave(x=float32[20, 63], k=0): 0 planes; 1 to 8", lambda: std.deinterleave(x, 0)),
        (ValueError, "9 planes; 1 to 8", lambda: std.interleave(some((9, 3, 4)))),
        (ValueError, "stride (9, 9) is above 8", lambda: std.im2col(some((1, 20, 20, 8)), 3, 9)),
        (ValueError, "no dimension 5 of 2", lambda: std.permute(x, (0, 5))),
        (ValueError, "out overlaps", lambda: std.concat([x[10:], x[:10]], out=x)),
        (ValueError, "what is read has a negative stride", lambda: std.copy(x[::-1])),
        (ValueError, "out has a negative stride", lambda: std.copy(x, out=some((20, 63))[:, ::-1])),
        (ValueError, "idx has shape (), wanted is (1,)", lambda: std.gather(x, np.array(1))),
        (TypeError, "idx has elements of float32, wanted are integers", lambda: std.gather(x, np.zeros(2, np.float32))),
        (TypeError, "idx has elements of bool, wanted are integers", lambda: std.gather(x, np.zeros(20, bool))),
        (TypeError, "a float32 of NumPy is a number", lambda: std.copy(np.float32(3))),
        (TypeError, "big-endian", lambda: std.copy(x.astype(">f4"))),
        (TypeError, f"elements of type <f{np.dtype('g').itemsize}, as NumPy writes it, have no type", lambda: std.copy(np.zeros(4, "g"))),
        (TypeError, "elements of type |V3, as NumPy writes it, have no type", lambda: std.copy(np.zeros(4, "V3"))),
        (TypeError, "elements of type <M8[s], as NumPy writes it, have no type", lambda: std.copy(np.zeros(4, "M8[s]"))),
        (TypeError, "dtype=<class 'numpy.complex64'>", lambda: std.convert(x, np.complex64)),
        (TypeError, "x=float32[20, 63], dtype=dtype('bool')", lambda: std.convert(x, np.dtype(bool))),
        (TypeError, "value is a number, not '1'", lambda: std.fill(x, "1")),
        (TypeError, "value is a number, not None", lambda: std.fill(np.zeros(4, np.int8), None)),
        (ValueError, "65520.0 is beyond the largest number of f16", lambda: std.fill(np.zeros(4, np.float16), 65520)),
        (ValueError, "1e+300 is beyond the largest number of f32", lambda: std.fill(x, 1e300)),
        (TypeError, "argument 'x': it is a masked array", lambda: std.copy(np.ma.array(x, mask=x > 0))),
        (TypeError, "argument 'out': it is a masked array", lambda: std.copy(x, out=np.ma.array(x))),
        (TypeError, "argument 'idx': it is a masked array", lambda: std.gather(x, np.ma.array([0, 1], mask=[0, 1], dtype=np.int32))),
        (TypeError, "argument 'xs': it is a masked array", lambda: std.concat([x, np.ma.array(x)])),
        (TypeError, "): roll() missing", lambda: std.roll(np.ma.array(x))),
        (TypeError, "convert does that", lambda: std.copy(x, out=np.empty((20, 63), np.int32))),
    ):
        all_tests.raises(kind, words, f)


def one_random():
    """A random movement of a random part of a random array, and NumPy's result."""
    t = TYPES[random.integers(len(TYPES))]
    size = np.dtype(t).itemsize
    rank = int(random.integers(1, 6))
    unit = 16 // size if random.random() < 0.8 else 1
    shape = [int(random.integers(0 if random.random() < 0.05 else 1, 12)) for _ in range(rank - 1)] + [unit * int(random.integers(1, 9))]
    x = some(shape, t)
    if random.random() < 0.4:  # a part of it
        cut = []
        for n, step in zip(shape, [1] * (rank - 1) + [unit]):
            a, b = sorted(int(v) for v in random.integers(0, n // step + 1, 2))
            cut.append(slice(a * step, b * step))
        x = x[tuple(cut)]
    if random.random() < 0.1:
        x = x[..., int(random.integers(0, 3)) :: int(random.integers(1, 4))]
    dims = tuple(int(d) for d in random.permutation(rank))
    what = str(random.choice(["copy", "permute", "concat", "gather", "roll", "pad", "flip", "split", "slide", "interleave", "heads", "pad_nhwc", "im2col", "col2im",
                              "halo_nhwc", "split_k"]))
    if what == "copy":
        return lambda: std.copy(x), np.ascontiguousarray(x)
    if what == "permute":
        return lambda: std.permute(x, dims), np.ascontiguousarray(x.transpose(dims))
    if what == "concat":
        d = int(random.integers(rank))
        return lambda: std.concat([x, x, x], d), np.concatenate([x, x, x], d)
    m = np.ascontiguousarray(x).reshape(int(np.prod(x.shape[:-1])), x.shape[-1])
    if what == "gather":
        i = random.integers(-1, m.shape[0] + 1, int(random.integers(0, 40))).astype(random.choice([np.int32, np.int64]))
        inside = (i >= 0) & (i < m.shape[0])
        want = np.zeros((len(i), m.shape[1]), t)
        want[inside] = m[i[inside]]
        return lambda: std.gather(m, i), want
    if what == "roll":
        by, d = int(random.integers(-30, 30)), int(random.integers(2))
        return lambda: std.roll(m, by, d), np.roll(m, by, d)
    if what == "split":
        at = unit * int(random.integers(0, x.shape[-1] // unit + 1))
        return lambda: np.concatenate(std.split(x, (at, x.shape[-1] - at), -1), -1), np.ascontiguousarray(x)
    if what == "slide":
        by, n = int(random.integers(-30, 30)), unit * int(random.integers(1, 9))
        want = np.pad(m, ((0, 0), (40, 40 + n)))[:, 40 - by : 40 - by + n]
        return lambda: std.slide(m, by, n), want
    if what == "interleave":
        k = int(random.integers(2, 9))
        planes = some((k, *m.shape), t)
        return lambda: std.interleave(planes), planes.transpose(1, 2, 0).reshape(m.shape[0], m.shape[1] * k)
    if what == "split_k":
        parts = some((int(random.integers(1, 6)), *m.shape), t) // 8
        if t == np.uint8:
            parts = parts.astype(np.int32).repeat(4, -1)
        if t == np.int16:
            parts = parts.astype(np.float16)
        return lambda: std.split_k(parts), parts.sum(0, dtype=parts.dtype)
    i = some([int(random.integers(1, 12)) for _ in range(3)] + [unit * int(random.integers(1, 9))], t)
    if what == "heads":
        return lambda: std.split_heads(i), np.ascontiguousarray(i.transpose(0, 2, 1, 3))
    if what == "pad_nhwc":
        mode = str(random.choice(["constant", "edge", "reflect", "wrap"]))
        most = [n if mode == "reflect" else 15 for n in i.shape[1:3]]
        b = [int(random.integers(0, n)) for n in (most[0], most[0], most[1], most[1])]
        if mode == "wrap":  # numpy.pad does borders wider than the array from 1.25 on
            want = i.take(range(-b[0], i.shape[1] + b[1]), 1, mode="wrap").take(range(-b[2], i.shape[2] + b[3]), 2, mode="wrap")
            return lambda: std.pad_nhwc(i, *b, mode), want
        return lambda: std.pad_nhwc(i, *b, mode), np.pad(i, ((0, 0), b[:2], b[2:], (0, 0)), mode=mode)
    if what in ("im2col", "col2im"):
        f = [[int(v) for v in random.integers(a, b, 2)] for a, b in ((1, 4), (1, 4), (0, 3), (1, 3))]
        if any(n + 2 * p < d * (k - 1) + 1 for n, k, p, d in zip(i.shape[1:3], f[0], f[2], f[3])):
            return lambda: std.copy(i), i
        cols = columns_of(i, *f)
        if what == "im2col":
            return lambda: std.im2col(i, *f), cols
        cols = (cols // 16).astype(np.float32 if t in (np.uint8, np.int16) else t)
        if cols.shape[-1] % 4:
            return lambda: std.copy(i), i
        return lambda: std.col2im(cols, i.shape, *f), images_of(cols, i.shape, *f)
    if what == "halo_nhwc":
        (bh, bw), (hh, hw) = (int(v) for v in random.integers(1, 9, 2)), (int(v) for v in random.integers(0, 3, 2))
        n, h, w, _ = i.shape
        padded = np.pad(i, ((0, 0), (hh, hh + 16), (hw, hw + 16), (0, 0)))
        want = [padded[a, r : r + bh + 2 * hh, c : c + bw + 2 * hw] for a in range(n) for r in range(0, h, bh) for c in range(0, w, bw)]
        return lambda: std.halo_nhwc(i, (bh, bw), (hh, hw)), np.stack(want)
    if what == "flip":
        d = int(random.integers(2))
        return lambda: std.flip(m, d), np.flip(m, d)
    p = [int(v) for v in random.integers(0, 9, 4)]
    p[2] *= unit
    p[3] *= unit
    return lambda: std.pad(m, *p), np.pad(m, ((p[0], p[1]), (p[2], p[3])))


def random_calls(count):
    for _ in range(count):
        f, want = one_random()
        equal(f(), np.ascontiguousarray(want))


def test_random():
    random_calls(40)


if __name__ == "__main__":
    if len(sys.argv) > 1:
        random = np.random.default_rng(int(sys.argv[2]) if len(sys.argv) > 2 else 1)
        count = int(sys.argv[1])
        random_calls(count)
        print(count, "random calls as NumPy does them")
        sys.exit(0)
    sys.exit(all_tests.run(globals()) > 0)
