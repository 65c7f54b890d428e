"""The package with nothing but the standard library: an array is whatever has an array interface."""

import ast
import ctypes
import inspect
import os
import sys
import tempfile

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
    ):
        all_tests.raises(kind, words, f)


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
        for other in ("copy", "none"):
            with open(path, "w") as f:
                f.write(f"// run: copy src=s32[8,32]~1 dst=s32[M,N] == {other}\n{SOURCE}")
            if other == "copy":
                testing.check(path, "--device=sim")
            else:
                all_tests.raises(AssertionError, "no kernel 'none'", lambda: testing.check(path, "--device=sim"))


if __name__ == "__main__":
    sys.exit(all_tests.run(globals()) > 0)
