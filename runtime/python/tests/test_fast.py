"""The extension tilecc._fast by itself: which calls it takes for the same, what it does of one, and that it keeps and loses nothing. Its torch is made
here, and read by attributes and by DLPack's functions in C. Run with pytest, or as a program."""

import ctypes
import gc
import sys
import threading
import types
import weakref
from ctypes import c_int, c_int32, c_int64, c_size_t, c_uint32, c_void_p, py_object

import all_tests
from all_tests import raises
from tilecc import _native as native
from tilecc import _remember
from tilecc._arrays import _DLTensor

fast = native.fast


class Tensor:
    """Of a shape, at an address; says what it is asked for."""

    def __init__(self, address=4096, shape=(2, 3), strides=None, dtype="f32", device=0, neg=False, requires_grad=False):
        self.at, self.shape, self.strides, self.dtype, self.device = address, tuple(shape), tuple(strides or [1] * len(shape)), types_[dtype], device
        self.neg, self.requires_grad = neg, requires_grad
        self.numbers = (c_int64 * (2 * len(shape)))(*self.shape, *self.strides)

    def is_neg(self):
        return self.neg

    def stride(self):
        return self.strides

    def get_device(self):
        return self.device

    def data_ptr(self):
        if self.at is None:
            raise RuntimeError("no memory")
        return self.at


class Other(Tensor):
    pass


class DType:
    def __init__(self, code, bits):
        self.code, self.bits = code, bits


types_ = {"f32": DType(2, 32), "bf16": DType(4, 16), "f16": DType(2, 16), "s32": DType(0, 32), "u8": DType(1, 8), "u4": DType(1, 8)}
grad, streams, current = [True], {0: 70, 1: 71}, [0]


def empty():
    pass


def zeros():
    pass


@ctypes.CFUNCTYPE(c_int, py_object, ctypes.POINTER(_DLTensor))
def read(x, out):
    if x.at is None:
        return -1
    t, n = out.contents, len(x.shape)
    t.data, t.device.type, t.device.id, t.ndim, t.byte_offset = x.at - 16, 2, x.device, n, 16
    t.code, t.bits, t.lanes = x.dtype.code, x.dtype.bits, 1
    where = ctypes.addressof(x.numbers)
    t.shape, t.strides = ctypes.cast(where, ctypes.POINTER(c_int64)), ctypes.cast(where + 8 * n, ctypes.POINTER(c_int64))
    return 0


@ctypes.CFUNCTYPE(c_int, c_int32, c_int32, ctypes.POINTER(c_void_p))
def work_stream(device_type, device, out):
    out[0] = streams[device]
    return 0


class Exchange(ctypes.Structure):
    _fields_ = [("major", c_uint32), ("minor", c_uint32), ("older", c_void_p), *[(n, c_void_p) for n in ("a", "b", "c", "read", "stream")]]


old = Exchange(1, 3, None, None, None, None, ctypes.cast(read, c_void_p), ctypes.cast(work_stream, c_void_p))
new = Exchange(2, 0, ctypes.addressof(old), None, None, None, 1, 1)  # of a version to come
capsule = ctypes.pythonapi.PyCapsule_New
capsule.restype, capsule.argtypes = py_object, (c_void_p, ctypes.c_char_p, c_void_p)
Tensor.__dlpack_c_exchange_api__ = capsule(ctypes.addressof(new), b"dlpack_exchange_api", None)
torch = types.SimpleNamespace(
    Tensor=Tensor, dtype=DType, empty=empty, zeros=zeros, is_grad_enabled=lambda: grad[0],
    _C=types.SimpleNamespace(_cuda_getCurrentRawStream=lambda device: streams[device]),
)


class Ready:
    """What is launched: at_places() as _Ready has it."""

    def __init__(self, status=0):
        self.status, self.launched, self.entry = status, [], ctypes.CFUNCTYPE(c_int, c_void_p, ctypes.POINTER(c_int64), c_size_t, c_void_p, c_void_p)(self.launch)

    def launch(self, args, where, n, stream, error):
        self.launched.append((args, where[:n], stream, error))
        return self.status

    def fail(self):
        raise ValueError("it fails")

    def at_places(self, places):
        return self, ctypes.cast(self.entry, c_void_p).value, 11, 12, places


def both(f):
    """f(whether tensors are read in C), for both ways."""

    def run():
        for exchange in (False, True):
            assert fast.use(torch, exchange) is exchange
            f()

    return run


def remember(calls, arguments, keywords={}, ready=None, places=(), makers=(), results=(), several=None, device=0, name="f"):
    ready = ready or Ready()
    calls.remember(name, arguments, keywords, (device, [ready.at_places(list(places))], list(makers), list(results), several))
    return ready


def knows(calls, *arguments, name="f", stream=None, **keywords):
    return calls.again(name, arguments, keywords, stream) is not NotImplemented


# What differs from what stands in front of it or behind it in anything differs from all others.
DIFFERENT = (
    (), (None,), (0,), (1,), (-1,), (2**62,), (True,), (False,), (0.0,), (-0.0,), (1.0,), (float("nan"),), (float("inf"),), ("",), ("a",), ("a\0",),
    ("abcdefgh",), ("abcdefghi",), ([],), ((),), ([1],), ((1,),), ([1], 2), ([1, 2],), (1, 2), ((1, 2),), ((1, (2,)),), (([1], 2),), ([[]],), ([], []),
    (types_["f32"],), (types_["s32"],), (Tensor(),), (Tensor(), Tensor()), ([Tensor()],), ((Tensor(),),), ([Tensor(), Tensor()],),
    (Tensor(shape=(3, 2)),), (Tensor(shape=(6,)),), (Tensor(shape=(2, 3, 1)),), (Tensor(shape=()),), (Tensor(strides=(3, 1)),), (Tensor(strides=(1, 2)),),
    (Tensor(dtype="bf16"),), (Tensor(dtype="f16"),), (Tensor(dtype="s32"),), (Tensor(dtype="u8"),), (Tensor(dtype="u4"),), (Tensor(device=1),),
    (Tensor(shape=(2,)), Tensor(shape=(3, 4))), (Tensor(shape=(2, 3)), Tensor(shape=(4,))), (Tensor(shape=(1, 1), strides=(2, 3)),),
)  # fmt: skip


@both
def test_different():
    for i, one in enumerate(DIFFERENT):
        calls = fast.Calls(True, 8)
        remember(calls, one)
        known = [j for j, other in enumerate(DIFFERENT) if knows(calls, *other)]
        assert known == [i], (one, [DIFFERENT[j] for j in known])


@both
def test_names():
    calls = fast.Calls(True, 8)
    remember(calls, (1,), {"a": 2})
    assert knows(calls, 1, a=2)
    assert not knows(calls, 1, b=2) and not knows(calls, 1, 2) and not knows(calls, a=1, b=2) and not knows(calls, 1) and not knows(calls, 1, a=2, b=3)
    assert not knows(calls, 1, a=2, name="g") and not knows(calls, 1, a=2.0)
    remember(calls, (), {"a": 1, "b": 2})
    assert knows(calls, a=1, b=2) and not knows(calls, b=2, a=1)


@both
def test_not_remembered():
    calls = fast.Calls(True, 8)
    remember(calls, (Tensor(),))
    grad[0] = True
    for x in (Tensor(requires_grad=True), Tensor(neg=True), Other(), object(), 2**64, 1j, b"a", {}, Tensor(None)):
        remember(calls, (x,))
        assert not knows(calls, x), x
    assert len(calls) == 1
    grad[0] = False
    assert knows(calls, Tensor(requires_grad=True))
    grad[0] = True
    assert not knows(calls, "\ud800") and not knows(calls, *range(300)) and not knows(calls, "a" * 3000) and not knows(calls, *[Tensor()] * 65)
    nested = []
    for _ in range(1000):
        nested = [nested]
    assert not knows(calls, nested)
    remember(calls, (nested,))
    assert len(calls) == 1
    raises(TypeError, "a name", lambda: calls.again("f", [], {}, None))
    raises(TypeError, "4 arguments", lambda: calls.again("f", ()))
    raises(ValueError, "slot", lambda: remember(calls, (1,), places=[(0, 0)]))
    raises(ValueError, "slot", lambda: remember(calls, (Tensor(),), results=[1]))


@both
def test_kernels():
    """Integers are given to the launch; what makes tensors has a slot."""
    calls, made = fast.Calls(False, 8), []

    def make(shape, dtype):
        made.append(Tensor(8192 + 64 * len(made), shape))
        return made[-1]

    how = (lambda: make((9,), None), make, ((7,), None), lambda: current[0], 0)
    ready = remember(calls, (Tensor(), 5, empty), places=[(2, 0), (0, 0), (1, 0), (-1, 44), (0, 16)], makers=[(2, *how)], results=[2])
    for n, device in ((6, 0), (-7, 1), (2**63 - 1, 0), (-(2**63), 1)):
        current[0] = device
        y = calls.again("f", (Tensor(1024 * (n & 3)), n, empty), {}, None)
        assert y is made[-1] and y.shape == ((9,) if device else (7,))
        assert ready.launched.pop() == (11, [y.at, 1024 * (n & 3), n, 44, 1024 * (n & 3) + 16], 70, 12)
    assert not knows(calls, Tensor(), 5, zeros) and not knows(calls, Tensor(), 5, make) and not knows(calls, Tensor(), 2**63, empty)
    assert not knows(calls, Tensor(), True, empty) and not knows(calls, Tensor(), 5.0, empty)
    current[0] = 0


@both
def test_streams():
    calls = fast.Calls(True, 8)
    ready = remember(calls, (Tensor(device=1),), places=[(0, 0)], device=1)
    for given, stream in ((None, 71), (5, 5), (0, None)):
        assert calls.again("f", (Tensor(device=1),), {}, given) is None
        assert ready.launched.pop()[2] == stream
    assert not knows(calls, Tensor(device=1), stream=c_void_p(3)) and not ready.launched


@both
def test_results():
    calls = fast.Calls(True, 8)
    makers = [(i, lambda i=i: Tensor(64 * i), None, None, None, 0) for i in (1, 2)]
    for several in (list, tuple):
        remember(calls, (Tensor(),), makers=makers, results=[2, 0, 2], several=several)
        x = Tensor()
        y = calls.again("f", (x,), {}, None)
        assert type(y) is several and y[0] is y[2] and y[0].at == 128 and y[1] is x
    assert len(calls) == 1


@both
def test_errors():
    def no_memory():
        raise MemoryError("none")

    calls = fast.Calls(True, 8)
    remember(calls, (1,), ready=Ready(3))
    raises(ValueError, "it fails", lambda: knows(calls, 1))
    ready = remember(calls, (2,), makers=[(0, no_memory, None, None, None, 0)])
    raises(MemoryError, "none", lambda: knows(calls, 2))
    assert not ready.launched


@both
def test_bounded():
    calls, alive = fast.Calls(True, 5), []
    for n in range(23):
        ready = remember(calls, (n,))
        alive.append(weakref.ref(ready))
        del ready
        gc.collect()
        assert 0 < len(calls) <= 5 and knows(calls, n)
    assert sum(w() is not None for w in alive) == len(calls) == 3
    calls.clear()
    gc.collect()
    assert len(calls) == 0 and not knows(calls, 22) and not any(w() for w in alive)


@both
def test_cleared_within():
    """What is allocated may run code that calls others, or forgets all."""
    calls = fast.Calls(True, 4)

    def make():
        calls.clear()
        for n in range(9):
            remember(calls, (n,))
        gc.collect()
        return Tensor()

    ready = remember(calls, ("a",), makers=[(0, make, None, None, None, 0)], places=[(0, 0)], results=[0])
    assert calls.again("f", ("a",), {}, None).at == 4096 and ready.launched


@both
def test_recording():
    calls = fast.Calls(True, 4)
    remember(calls, (1,))
    other = []
    fast.record(True)
    try:
        t = threading.Thread(target=lambda: other.append(knows(calls, 1)))
        t.start()
        t.join()
        assert not knows(calls, 1)
    finally:
        fast.record(False)
    assert knows(calls, 1) and other == [True]


@both
def test_references():
    """A thousand calls leave as many references, and as much memory, as a hundred."""
    calls, x, dtype = fast.Calls(True, 4), Tensor(), types_["f32"]
    text, keywords, arguments = "name" * 3, {"to": dtype}, ([x, x], (x, 1.5), "b" * 9)
    made = Tensor()
    makers = [(4 - 1, lambda: made, None, None, None, 0)]
    ready = Ready()

    def calls_of_all_kinds():
        remember(calls, arguments, keywords, ready, [(0, 0)], makers, [3, 0], list, name=text)
        for _ in range(10):
            assert calls.again(text, arguments, keywords, None)[1] is x
            assert calls.again(text, (x,), keywords, None) is NotImplemented
            assert calls.again(text, (x, "\ud800"), {}, None) is NotImplemented
        remember(calls, (2,), ready=failing)
        raises(ValueError, "it fails", lambda: knows(calls, 2))
        remember(calls, (object(),))
        ready.launched.clear()
        failing.launched.clear()
        fast.Calls(False, 3)

    failing = Ready(1)
    watched = (x, made, dtype, ready, failing, arguments, keywords, text, Tensor, DType, fast.Calls, fast, torch)
    calls_of_all_kinds()
    gc.collect()
    before = [sys.getrefcount(w) for w in watched]
    for _ in range(50):
        calls_of_all_kinds()
    gc.collect()
    assert [sys.getrefcount(w) for w in watched] == before


@both
def test_threads():
    """Ten threads at once, each with calls of its own."""
    wrong = []

    def work(k):
        calls = fast.Calls(True, 4)
        for n in range(300):
            ready = remember(calls, (k, n, Tensor(64 * k)), places=[(0, n)], results=[0])
            for at in range(3):
                x = Tensor(1024 * at + 64 * k)
                if calls.again("f", (k, n, x), {}, None) is not x or ready.launched.pop()[1] != [x.at + n]:
                    wrong.append((k, n))

    threads = [threading.Thread(target=work, args=(k,)) for k in range(10)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not wrong


def test_numbers_in_memory():
    """A tensor without dimensions may be given for an integer, which is not where it lies."""
    for values in (False, True):
        assert _remember.kinds(torch, [], (Tensor(shape=(1,)),), [], values) and not _remember.kinds(torch, [], (Tensor(shape=()),), [], values)


if __name__ == "__main__":
    if fast is None:
        print("no extension here")
        sys.exit(0)
    sys.exit(all_tests.run(globals()) > 0)
