"""The package with NumPy, on the simulator. Run with pytest, or as a program."""

import os
import sys
import tempfile
import threading

import numpy as np

import all_tests
import tilecc

COPY = """
kernel copy(src: global T[M, N], dst: global T[M, N]) grid (ceil(N, 32), ceil(M, 16)) {
    shared t: T[16, 32];
    move src[cta.y * 16, cta.x * 32] -> t;
    move t -> dst[cta.y * 16, cta.x * 32];
}
"""
STRIDED = """
kernel copy(src: global f32[M, N] stride [S, 1], dst: global f32[M, N]) grid (ceil(N, 32), ceil(M, 16)) {
    shared t: f32[16, 32];
    move src[cta.y * 16, cta.x * 32] -> t;
    move t -> dst[cta.y * 16, cta.x * 32];
}
"""


def of(type_):
    return tilecc.loads(COPY.replace(" T[", f" {type_}["), name=f"{type_}.tile")


def test_types():
    for type_, dtype in {
        "u8": "u1", "u16": "u2", "u32": "u4", "u64": "u8", "s8": "i1", "s16": "i2", "s32": "i4", "s64": "i8", "f16": "f2", "f32": "f4",
        "f64": "f8", "bf16": "u2", "e4m3": "u1", "e5m2": "u1",
    }.items():
        x = np.random.randint(0, 100, (20, 48)).astype(dtype)
        y = of(type_).copy(x, dst=np.empty)
        assert y.dtype == x.dtype and np.array_equal(x, y), type_


def test_strides():
    x = np.random.rand(20, 64).astype("f4")
    y = np.zeros((20, 32), "f4")
    tilecc.loads(STRIDED).copy(x[:, :32], y)
    assert np.array_equal(y, x[:, :32])
    tilecc.loads(STRIDED).copy(x[:, 16:48], y)
    assert np.array_equal(y, x[:, 16:48])


def test_folder():
    with tempfile.TemporaryDirectory() as folder:
        with open(os.path.join(folder, "lib.tile"), "w") as f:
            f.write("fn one(x: global f32[N], y: global f32[N]) { shared t: f32[64]; move x[0] -> t; move t -> y[0]; }")
        path = os.path.join(folder, "k.tile")
        with open(path, "w") as f:
            f.write("import lib;\nkernel k<W = 64>(x: global f32[N], y: global f32[N]) { lib.one(x, y); }")
        x = np.random.rand(64).astype("f4")
        assert np.array_equal(tilecc.load(path, W=32).k(x, y=np.empty), x)
        all_tests.raises(FileNotFoundError, "none.tile", lambda: tilecc.load(os.path.join(folder, "none.tile")))


def test_tune_file():
    source = COPY.replace(" T[", " f32[").replace("copy(", "copy<B = 16>(").replace("16", "B").replace("B = B", "B = 16")
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "k.tile")
        with open(path, "w") as f:
            f.write(source)
        with open(os.path.join(folder, "k.tune"), "w") as f:
            f.write('copy on "simulator" from 0: B=16\ncopy on "simulator" from 20000: B=8\n')
        k = tilecc.load(path)
        for rows, schedule in {16: 0, 256: 1}.items():
            x = np.random.rand(rows, 32).astype("f4")
            y = np.empty_like(x)
            info = k.copy.launch_info(x, y)
            assert (info["schedule"], info["schedules"], info["pick"]) == (schedule, 2, ("bytes", 20000 * schedule, True)), info
            k.copy(x, y)
            assert np.array_equal(x, y)


class Masked:
    def __init__(self, x):
        self.x, self.__array_interface__ = x, {**x.__array_interface__, "mask": x > 0}


def test_errors():
    k, x = of("f32"), np.zeros((16, 32), "f4")
    for words, f in {
        "argument 'dst' is written, and this array is read-only": lambda: k.copy(x, np.frombuffer(bytes(2048), "f4").reshape(16, 32)),
        "elements of s32": lambda: k.copy(x.astype("i4"), x),
        "big-endian": lambda: k.copy(x.astype(">f4"), x),
        "negative stride": lambda: k.copy(x[::-1], x),
        "c8": lambda: k.copy(x.astype("c8"), x),
        "elements of type |O": lambda: k.copy(np.empty((16, 32), object), x),
        "is an array": lambda: k.copy(x, dst=[1]),
        "'src' has 0 dimensions": lambda: k.copy(np.array(1, "f4"), x),
        "what it writes is made by its own name, dst=": lambda: k.copy(x, out=np.empty),
        "at least one argument is an array": lambda: k.copy(1, 2),
        "argument 'src': it is a masked array": lambda: k.copy(np.ma.array(x, mask=x > 0), x),
        "argument 'dst': it is a masked array": lambda: k.copy(x, np.ma.array(x + 1, mask=x == 0)),
        "argument 'src': some of its elements are masked": lambda: k.copy(Masked(x), x),
    }.items():
        all_tests.raises(TypeError, words, f)


def test_makers_of_what_is_read_only():
    k, x = of("f32"), np.ones((20, 48), "f4")
    kept, held = x.copy(), bytes(4 * 20 * 48)
    kept.flags.writeable = False
    for maker in (lambda shape, dtype: kept, lambda shape, dtype: np.frombuffer(held, dtype).reshape(shape)):
        all_tests.raises(TypeError, "argument 'dst' is written, and this array is read-only", lambda: k.copy(2 * x, dst=maker))
    assert np.array_equal(kept, x) and held == bytes(4 * 20 * 48)


def test_repeats():
    k, x = of("f32"), np.ones((20, 48), "f4")
    for n in (0, -1, 1000000, 2**40):
        all_tests.raises(ValueError, f"copy: repeats is a number from 1 to 999999, not {n}", lambda: k.copy.time(x, x.copy(), repeats=n))
    for n in (1.5, "3", None):
        all_tests.raises(TypeError, "integer", lambda: k.copy.time(x, x.copy(), repeats=n))


def test_zero_in_a_define():
    all_tests.raises(ValueError, "copy.BM='8\\x00': a character of value 0", lambda: tilecc.loads(COPY, **{"copy.BM": "8\0"}))


def test_numbers_of_numpy():
    k = tilecc.loads("kernel k(n: s32, y: global s32[4]) { shared t: s32[4]; fill t = 1; if n == 3 { move t -> y[0]; } }")
    y = np.zeros(4, "i4")
    for n in (np.int8(2), np.array(2), True):
        k.k(n, y)
        assert not y.any()
    k.k(np.uint64(3), y)
    assert y.all()
    for n in (np.float32(3), np.array(3.5), np.zeros(1, "i4")):
        all_tests.raises(TypeError, "argument 'n' is an integer", lambda: k.k(n, y))


def test_made_extents():
    k = tilecc.loads(
        """kernel k<D = 4>(x: global s32[M, N], y: global s32[ceil(M, 4), max(N, 8, D * 8)], z: global s32[M / 2 - 1, (N + 1) * D]) {
        shared t: s32[1, 8];
        move x[0, 0] -> t;
        move t -> y[0, 0];
        move t -> z[0, 0];
    }""",
        D=8,
    )
    x = np.arange(72, dtype=np.int32).reshape(9, 8)
    y, z = k.k(x, y=np.zeros, z=np.zeros)
    assert y.shape == (3, 64) and z.shape == (3, 72) and list(y[0, :9]) == [*range(8), 0]
    own = tilecc.loads("kernel k(x: global s32[N], y: global s32[K]) { shared t: s32[8]; move x[0] -> t; move t -> y[0]; }")
    all_tests.raises(TypeError, "the extent K of 'y' follows from no other argument", lambda: own.k(np.zeros(8, "i4"), y=np.zeros))


def test_simulator_finds():
    k = tilecc.loads(COPY.replace(" T[", " f32["), simulator="sim:fuzz,schedules=3")
    x = np.random.rand(40, 96).astype("f4")
    assert np.array_equal(k.copy(x, dst=np.empty), x)
    assert k.copy.launch_info(x, np.empty_like(x))["grid"] == (3, 3, 1)


def test_threads():
    k, wrong = of("f32"), []

    def work(seed):
        x = np.random.default_rng(seed).random((30, 40)).astype("f4")
        for _ in range(5):
            if not np.array_equal(k.copy(x, dst=np.empty), x):
                wrong.append(seed)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not wrong


def test_beside():
    """What lies between the elements of an array, and what the kernel leaves alone of it, may be another thread's meanwhile."""
    k = tilecc.loads(STRIDED.replace("dst: global f32[M, N])", "dst: global f32[M, N] stride [D, 1])"))
    row = tilecc.loads("kernel put(x: global f32[N], i: s64, y: global f32[M, N]) { shared t: f32[64]; move x[0] -> t; move t -> y[i, :]; }")
    for _ in range(10):
        x, y = np.random.rand(256, 64).astype("f4"), np.zeros((257, 64), "f4")

        def columns(at):
            k.copy(x[:, at : at + 32], y[:256, at : at + 32])

        def puts(i):
            row.put(x[0], i, y)

        threads = [threading.Thread(target=columns, args=(at,)) for at in (0, 32)] + [threading.Thread(target=puts, args=(256,))]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        assert np.array_equal(y[:256], x) and np.array_equal(y[256], x[0])
    deep, x = np.zeros((3, 40, 2, 64), "f4"), np.random.rand(40, 32).astype("f4")
    view = deep[1, :, 1, 16:48]
    k.copy(x, view)
    assert np.array_equal(view, x) and np.count_nonzero(deep) == np.count_nonzero(x)


if __name__ == "__main__":
    sys.exit(all_tests.run(globals()) > 0)
