"""tilecc.std against NumPy's own results: fixed cases, and random ones (python3 test_std.py COUNT SEED)."""

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
        i = np.array([5, 2, 5, 20], t)
        for r in range(3):
            want[i[r]] += x[r]
        equal(std.scatter_add(x[:4], i, out), want)
        o = np.array([0, 3, 3, 10], t)
        y = std.unpack(x, o, 4)
        for g in range(3):
            n = min(4, o[g + 1] - o[g])
            equal(y[g, :n], x[o[g] : o[g] + n])
            assert not y[g, n:].any()
        z = std.pack(some((3, 7, 64)), o, 12)
        assert z.shape == (12, 64) and not z[10:].any()
        cache = some((4, 8, 64))
        table = np.array([3, -1, 0], t)
        y = std.pages_gather(cache, table, 21)
        equal(y[:8], cache[3])
        assert not y[8:16].any()
        equal(y[16:], cache[0, :5])
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
        (std.gather(some((3, 64)), np.empty(0, np.int32)), (0, 64)), (std.convert(x, np.float16), (0, 64)), (std.pad(x, 1, 1), (2, 64)),
    ):
        assert y.shape == shape, (y.shape, shape)


def test_errors():
    x = some((20, 63))
    for kind, words, f in (
        (tilecc.LaunchError, "multiple of 16", lambda: std.roll(x, 3)),
        (ValueError, "no permutation", lambda: std.permute(x, (0, 0))),
        (ValueError, "innermost stride", lambda: std.copy(some((20, 64))[:, ::2])),
        (ValueError, "differ elsewhere", lambda: std.concat([x, x[:, :3]])),
        (ValueError, "a matrix is wanted", lambda: std.gather(some(64), np.zeros(3, np.int32))),
        (TypeError, "convert does that", lambda: std.copy(x, out=np.empty((20, 63), np.int32))),
    ):
        all_tests.raises(kind, words, f)


def one_random():
    """A random movement of a random part of a random array; equal to NumPy's result, or refused with a text that says why."""
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
    dims = tuple(int(d) for d in random.permutation(rank))
    what = str(random.choice(["copy", "permute", "concat", "gather", "roll", "pad", "flip"]))
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
        by = int(random.integers(-30, 30))
        return lambda: std.roll(m, by), np.roll(m, by, 0)
    if what == "flip":
        return lambda: std.flip(m), m[::-1]
    p = [int(v) for v in random.integers(0, 9, 4)]
    p[2] *= unit
    p[3] *= unit
    return lambda: std.pad(m, *p), np.pad(m, ((p[0], p[1]), (p[2], p[3])))


def random_calls(count):
    refused = 0
    for n in range(count):
        f, want = one_random()
        try:
            got = f()
        except (tilecc.LaunchError, ValueError) as e:
            refused += 1
            assert "multiple of 16" in str(e) or "innermost stride" in str(e) or "dimensions" in str(e), (n, str(e))
            continue
        equal(got, np.ascontiguousarray(want))
    return refused


def test_random():
    assert random_calls(40) < 25


if __name__ == "__main__":
    if len(sys.argv) > 1:
        random = np.random.default_rng(int(sys.argv[2]) if len(sys.argv) > 2 else 1)
        count = int(sys.argv[1])
        print(count, "random calls,", random_calls(count), "refused with a reason, the others as NumPy does them")
        sys.exit(0)
    sys.exit(all_tests.run(globals()) > 0)
