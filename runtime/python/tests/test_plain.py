"""The package with nothing but the standard library: an array is whatever has an array interface."""

import ast
import ctypes
import inspect
import os
import pickle
import re
import sys
import tempfile
import threading

import all_tests
import tilecc

SOURCE = """
kernel copy<BM = 8>(src: global s32[M, N], dst: global s32[M, N]) grid (ceil(N, 32), ceil(M, BM)) {
    shared t: s32[BM, 32];
    move src[cta.y * BM, cta.x * 32] -> t;
    move t -> dst[cta.y * BM, cta.x * 32];
}
"""


class Ints:
    def __init__(self, rows, columns, values=None):
        self.data = (ctypes.c_int32 * (rows * columns))(*(values or ()))
        self.shape = (rows, columns)

    @property
    def __array_interface__(self):
        return {"version": 3, "shape": self.shape, "typestr": "<i4", "data": (ctypes.addressof(self.data), False), "strides": None}


class Part:
    """Rows and columns of whole, from element `first` on."""

    def __init__(self, whole, first, rows, columns, pitch=None):
        self.whole, self.shape = whole, (rows, columns)
        self.__array_interface__ = {
            "version": 3, "shape": self.shape, "typestr": "<i4", "data": (ctypes.addressof(whole.data) + 4 * first, False),
            "strides": (4 * pitch, 4) if pitch else None,
        }


def test_copy():
    k = tilecc.loads(SOURCE, BM=4)
    x, y = Ints(20, 36, range(720)), Ints(20, 36)
    k.copy(x, y)
    assert list(y.data) == list(range(720))
    made = k.copy(src=x, dst=lambda shape, dtype: Ints(*shape))
    assert list(made.data) == list(range(720))
    assert "copy" in dir(k) and "move src" in k.copy.plan() and ".visible .entry copy" in k.ptx("sm_100a")


def test_errors():
    x = Ints(20, 36)
    for kind, words, f in (
        (TypeError, "argument 'dst' is missing", lambda: tilecc.loads(SOURCE).copy(x)),
        (tilecc.LaunchError, "N is 36 from `src`", lambda: tilecc.loads(SOURCE).copy(x, Ints(20, 32))),
        (tilecc.LaunchError, "E1", lambda: tilecc.loads(SOURCE).copy(Ints(20, 3), Ints(20, 3))),
        (tilecc.CompileError, "E0", lambda: tilecc.loads(SOURCE, BM="none").copy(x, x)),
        (tilecc.CompileError, "E0201", lambda: tilecc.loads("kernel k(x: global s32[N]) { fill zz = 1; }").plan()),
        (AttributeError, "has no kernel 'cop'", lambda: tilecc.loads(SOURCE).cop(x, x)),
        (AttributeError, "has no kernel 'cop'", lambda: tilecc.loads(SOURCE).cop.plan()),
        (KeyError, "has no kernel 'cop'", lambda: tilecc.loads(SOURCE)["cop"]),
        (TypeError, "argument 'text' is the source as a str, not bytes", lambda: tilecc.loads(SOURCE.encode())),
        (TypeError, "argument 'simulator' is a str, not 5", lambda: tilecc.loads(SOURCE, simulator=5)),
        (TypeError, "argument 'dst', as it was made: a NoneType is no array", lambda: tilecc.loads(SOURCE).copy(x, dst=lambda shape, dtype: None)),
    ):
        all_tests.raises(kind, words, f)


class Offsets(Ints):
    def __init__(self, values):
        super().__init__(1, len(values), values)
        self.shape = (len(values),)


def test_trusts():
    """Offsets that are trusted to be sorted are looked at where they lie, on the simulator, each time."""
    k = tilecc.loads("""
        kernel groups(x: global s32[T, D], offs: global s32[G], y: global s32[T, D]) where G >= 1 trust sorted(offs) {
            pipeline g in G - 1 across grid {
                view from = x[offs[g] +: offs[g + 1] - offs[g], :];
                view to = y[offs[g] +: offs[g + 1] - offs[g], :];
                pipeline i in ceil(offs[g + 1] - offs[g], 4) { shared t: s32[4, 4]; move from[i * 4, 0] -> t; move t -> to[i * 4, 0]; }
            }
        }""").groups
    x, y, offs = Ints(9, 4, range(36)), Ints(9, 4), Offsets([0, 0, 4, 4, 9])
    k(x, offs, y)
    assert list(y.data) == list(range(36))
    offs.data[3] = 3  # the call is the same
    all_tests.raises(tilecc.LaunchError, "E1162: the kernel trusts sorted(offs), but offs[2] is 4 and offs[3] is 3", lambda: k(x, offs, y))
    offs.data[3] = 5
    k(x, offs, y)
    all_tests.raises(tilecc.LaunchError, "offs[0] is 0 and offs[1] is -1", lambda: k(x, Offsets([0, -1, 9]), y))


def test_names():
    """Kernels, parameters, sizes and files by names that are words of Python, of the package, or no text."""
    source = SOURCE
    for name, word in {"copy": "plan", "src": "self", "M": "lambda", "N": "class"}.items():
        source = re.sub(rf"\b{name}\b", word, source)
    here = os.getcwd()
    with tempfile.TemporaryDirectory() as folder: # whose name is another each time, and part of what a cache goes by
        os.chdir(folder)
        path = b"\xc3\xbc\xff.tile"
        with open(path, "w") as f:
            f.write(source)
        k, x = tilecc.load(path), Ints(20, 36, range(720))
        os.chdir(here)
    assert list(k["plan"](self=x, dst=lambda shape, dtype: Ints(*shape)).data) == list(range(720))


def test_kernels():
    """Which there are."""
    k = tilecc.loads(SOURCE + SOURCE.replace("copy", "again"))
    assert list(k) == ["copy", "again"] and {"copy", "again"} <= set(dir(k)) and "again" in k and "nope" not in k
    all_tests.raises(FileNotFoundError, "nor module of the library", lambda: tilecc.load("std.nope"))
    assert "gather" in dir(tilecc.std) and "public" not in dir(tilecc.std)


def test_pickle():
    k, x, y = tilecc.loads(SOURCE, BM=4), Ints(20, 36, range(720)), Ints(20, 36)
    pickle.loads(pickle.dumps(k.copy))(x, y)
    assert list(y.data) == list(range(720)) and pickle.loads(pickle.dumps(k))._defines == {"BM": 4}


def test_fork():
    """A child that is made while another thread launches finds nothing locked. AddressSanitizer's allocator may be (of gcc 12: it knows no forks)."""
    if "libasan" in os.environ.get("LD_PRELOAD", ""):
        return
    k, x, done = tilecc.loads(SOURCE), Ints(20, 36, range(720)), threading.Event()

    def work():
        while not done.is_set():
            k.copy(x, Ints(20, 36))

    thread = threading.Thread(target=work)
    thread.start()
    for _ in range(5):
        child = os.fork()
        if child == 0:
            y = Ints(20, 36)
            k.copy(x, y)
            os._exit(list(y.data) != list(range(720)))
        assert os.waitpid(child, 0)[1] == 0
    done.set()
    thread.join()


def test_packed():
    class Bytes:
        def __init__(self, *shape):
            self.data = ctypes.create_string_buffer(shape[0] * shape[1])
            self.__array_interface__ = {"version": 3, "shape": shape, "typestr": "|u1", "data": (ctypes.addressof(self.data), False), "strides": None}

    k = tilecc.loads("""
target sm_100a;
kernel k(x: global b6a16[M, N]) where N % 128 == 0 grid (1) {
    shared t: b6a16[8, 128];
    barrier full;
    move x[0, 0] -> t commit full;
    wait full;
}
""")
    all_tests.raises(TypeError, "has rows of 97 bytes, which are not whole b6a16 values", lambda: k.k(Bytes(8, 97)))


HALVES = """
kernel halves(src: global s32[M, N] stride [S, 1], a: global s32[M, N] stride [A, 1], b: global s32[M, N] stride [B, 1]) grid (ceil(N, 32), ceil(M, 8)) {
    shared t: s32[8, 32];
    move src[cta.y * 8, cta.x * 32] -> t;
    move t -> a[cta.y * 8, cta.x * 32];
    move t -> b[cta.y * 8, cta.x * 32];
}
"""


def test_places():
    """What overlaps in memory does so on the simulator, and what lies askew does there: as on a GPU."""
    k, halves = tilecc.loads(SOURCE), tilecc.loads(HALVES)
    x = Ints(40, 36, range(1440))
    top, bottom, middle = Part(x, 0, 20, 36), Part(x, 20 * 36, 20, 36), Part(x, 10 * 36, 20, 36)
    for src, dst in ((x, x), (top, middle), (middle, bottom), (Part(x, 0, 39, 36), Part(x, 4, 39, 36))):
        all_tests.raises(tilecc.LaunchError, "E1107: `dst` is written and overlaps `src`", lambda: k.copy(src, dst))
        all_tests.raises(tilecc.LaunchError, "E1107", lambda: k.copy.launch_info(src, dst))
    assert list(x.data) == list(range(1440))
    all_tests.raises(tilecc.LaunchError, "E1107", lambda: k.copy(top, dst=lambda shape, dtype: Part(x, 36, *shape)))
    all_tests.raises(tilecc.LaunchError, "is not a multiple of 16", lambda: k.copy(Part(x, 1, 20, 36), Ints(20, 36)))
    k.copy(top, bottom)
    assert list(x.data) == 2 * list(range(720))
    k.copy(top, Ints(20, 36))

    y = Ints(20, 72)
    left, right = Part(y, 0, 20, 36, 72), Part(y, 36, 20, 36, 72)
    halves.halves(top, left, right)
    assert all(y.data[i * 72 + j] == y.data[i * 72 + 36 + j] == i * 36 + j for i in range(20) for j in range(36))
    all_tests.raises(tilecc.LaunchError, "E1107: `a` is written and overlaps `b`", lambda: halves.halves(top, left, left))
    all_tests.raises(tilecc.LaunchError, "E1107: `a` is written and overlaps `b`", lambda: halves.halves(top, left, Part(y, 32, 20, 36, 72)))


def signatures(path):
    """Of a stub: each function's parameters, and its defaults as text."""
    with open(path) as f:
        tree = ast.parse(f.read())
    for f in ast.walk(tree):
        if isinstance(f, ast.FunctionDef):
            names = [a.arg for a in f.args.args]
            defaults = [None] * (len(names) - len(f.args.defaults)) + [ast.literal_eval(d) for d in f.args.defaults]
            yield f.name, list(zip(names, defaults))


def test_stubs():
    """The signatures for type checkers are those of the functions."""
    from tilecc import std

    stubs = dict(signatures(std.__file__ + "i"))
    assert sorted(stubs) == sorted(std.__all__), set(stubs) ^ set(std.__all__)
    for name, parameters in stubs.items():
        real = inspect.signature(getattr(std, name)).parameters.values()
        assert parameters == [(p.name, None if p.default is p.empty else p.default) for p in real], name


def test_testing():
    """What `tilecc test` finds comes as an AssertionError; needs the compiler's program."""
    from tilecc import testing

    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "copy.tile")
        for other in ("again", "none"):
            with open(path, "w") as f:
                f.write(f"// run: copy src=s32[8,32]~1 dst=s32[M,N] == {other}\n{SOURCE}{SOURCE.replace('kernel copy', 'kernel again')}")
            if other == "again":
                testing.check(path, "--device=sim")
            else:
                all_tests.raises(AssertionError, "no kernel 'none'", lambda: testing.check(path, "--device=sim"))
        library = os.path.join(folder, "of", "lib.tile")
        for name in (library, os.path.join(folder, ".of", "lib.tile"), os.path.join(folder, ".copy.tile")):
            os.makedirs(os.path.dirname(name), exist_ok=True)
            with open(name, "w") as f:
                f.write(SOURCE)
        assert sorted(testing._files(folder)) == [path, library]
        try:
            import pytest
        except ImportError:
            return
        all_tests.raises(pytest.skip.Exception, "expects nothing", lambda: testing.kernels(folder)(library))


if __name__ == "__main__":
    sys.exit(all_tests.run(globals()) > 0)
