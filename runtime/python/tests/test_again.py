"""Calls that come again, with tensors that lie elsewhere: what they remember, and what they must not. On a GPU, and else on the simulator, whose tensors
pass for those of one. Run with pytest, or as a program; "500 7": 500 calls of
test_std_torch.py from seed 7. TILECC_FAST=off: without the extension."""

import contextlib
import sys
import threading
import weakref
from ctypes import CFUNCTYPE, POINTER, byref, c_int, c_int64, c_size_t, c_uint64, c_void_p, cast

import torch

import all_tests
import test_std_torch as std_torch
import tilecc
from all_tests import raises
from tilecc import _native as native
from tilecc import _remember, std

device = "cuda" if torch.cuda.is_available() else "cpu"
_remember.exchange = device == "cuda"  # else a PyTorch for CUDA would be asked for a stream of a GPU that there is none of
SOURCE = """
kernel shifted(src: global f32[N], dst: global f32[N], steps: s32) grid (ceil(N, 256)) {
    shared t: f32[256];
    move src[cta.x * 256 + steps * 4] -> t;
    move t -> dst[cta.x * 256];
}
"""
_Ready = tilecc._Ready
times = interpreted = 0  # that something was launched again; and without tilecc._fast, though no call was looked at that runs for the first time


class Counted(_Ready):
    """What tilecc._fast launches comes here, too."""

    def __init__(self, torch, bound, order):
        super().__init__(torch, bound, order)
        here = weakref.ref(self)

        @CFUNCTYPE(c_int, c_void_p, POINTER(c_int64), c_size_t, c_void_p, c_void_p)
        def entry(args, where, n, stream, error):
            global interpreted
            try:
                here().launch(where[:n], stream)
            except tilecc.Error:
                return here().error.status
            interpreted -= _remember.state.log is None
            return 0

        self.called, self.entry = entry, cast(entry, c_void_p).value

    def launch(self, at, stream):
        global times, interpreted
        super().launch(at, stream)
        times += 1
        interpreted += _remember.state.log is None


class OnSimulator(Counted):
    """Tensors in memory of the CPU are copied to places of the same alignment, and back."""

    where = 256  # what an address is a multiple of, and more, stays so

    def __init__(self, torch, bound, order):
        super().__init__(torch, bound, order)
        self.device, self.simulator, self.parameters = 0, bound.device, bound.parameters
        self.sizes = [None if p.scalar else bound.binds[p.key][1] for p in bound.parameters]

    def launch(self, at, stream):
        places, error, blocks = [], native.TileError(), []
        for address, size in zip(at, self.sizes):
            block = c_uint64()
            if size is not None:
                assert native.alloc(self.simulator, size + 256, byref(block), byref(error)) == 0
                blocks.append(block.value)
                place = block.value + (address % self.where if self.where else 0)
                assert not size or native.write(self.simulator, place, address, size, byref(error)) == 0
                places.append(place)
            else:
                places.append(address)
        try:
            super().launch(places, stream)
            for p, address, place, size in zip(self.parameters, at, places, self.sizes):
                if p.written and size:
                    assert native.read(self.simulator, address, place, size, byref(error)) == 0
        finally:
            for block in blocks:
                native.release(self.simulator, block, None)


@contextlib.contextmanager
def remembering():
    """Tensors are those of a GPU, as far as calls can tell."""
    tilecc._Ready = Counted if device == "cuda" else OnSimulator
    if device == "cpu":
        torch.Tensor.is_cuda = property(lambda x: True)
        real, torch._C._cuda_getCurrentRawStream = getattr(torch._C, "_cuda_getCurrentRawStream", None), lambda number: 0
    try:
        yield
    finally:
        tilecc._Ready = _Ready
        if device == "cpu":
            del torch.Tensor.is_cuda
            torch._C._cuda_getCurrentRawStream = real
            _remember.state.clear()


def again(f):
    """How often something was launched again by f, and what f gives."""
    before, before_interpreted = times, interpreted
    with remembering():
        got = f()
    assert native.fast is None or interpreted == before_interpreted
    return times - before, got


def random_calls(count, seed):
    OnSimulator.where = 0  # at their first call tensors are copied to places of any alignment
    try:
        return again(lambda: std_torch.random_calls(count, seed, list(std_torch.CASES)))[0]
    finally:
        OnSimulator.where = 256


def test_random():
    assert random_calls(4 * len(std_torch.CASES), 3) > len(std_torch.CASES)


def numbers(*shape, dtype=torch.float32):
    return torch.randint(0, 100, shape, device=device).to(dtype)


def test_elsewhere():
    def calls():
        for k in range(3):
            x = numbers(32, 64)
            assert torch.equal(std.copy(x), x)
            assert torch.equal(std.concat([x, x + k], dim=1), torch.cat([x, x + k], 1))
            assert torch.equal(std.concat([x, x], dim=1), torch.cat([x, x], 1))  # the same tensor twice
            whole = numbers(34, 64)
            assert torch.equal(std.copy(whole[2:]), whole[2:])  # behind where its storage begins
            assert torch.equal(std.split(x, (32, 32), dim=1)[1], x[:, 32:])

    assert again(calls)[0] >= 5


def test_what_counts():
    """Each call differs from the one in front in one thing."""

    def calls():
        x = numbers(16, 64)
        for _ in range(2):
            for y in (x, x.half(), x[:8], x[:, :32], x.t(), x.t().contiguous().t(), x.view(torch.int32), x.view(32, 32)):
                assert torch.equal(std.copy(y), y) and std.copy(y).dtype == y.dtype
            for value in (0.0, -0.0, 1, 1.0, True):
                assert std.fill(torch.empty_like(x), value).view(torch.int32)[0, 0] == torch.full_like(x, value).view(torch.int32)[0, 0]
            for dim in (0, 1, -1):
                assert torch.equal(std.concat([x, x], dim=dim), torch.cat([x, x], dim))
                assert torch.equal(std.concat([x, x], dim), torch.cat([x, x], dim))
            for sizes in ((32, 32), (16, 48), (16, 16, 32)):
                assert all(map(torch.equal, std.split(x, sizes, 1), torch.split(x, sizes, 1)))
            for side in ("top", "bottom", "top"):
                for n in (1, 2):
                    rows = {"top": 0, "bottom": 0, side: n}
                    assert torch.equal(std.pad(x, **{side: n}), torch.nn.functional.pad(x, (0, 0, rows["top"], rows["bottom"])))
            out = torch.empty_like(x)
            assert std.copy(x, out=out) is out and torch.equal(out, x)
            assert std.copy(x, out) is out
            assert torch.equal(std.transpose(x), x.t())

    again(calls)


def test_refused():
    def calls():
        x = numbers(16, 64)
        flat = numbers(16 * 64 + 8)
        for k in range(3):
            std.copy(x)
            std.roll(x, 3)
            odd = flat[1 : 1 + 16 * 64].view(16, 64)  # at no multiple of 16 bytes: another kernel
            assert torch.equal(std.copy(odd), odd) and torch.equal(std.roll(odd, 3), torch.roll(odd, 3, 0))
            raises(tilecc.LaunchError, "std.pages_gather(cache=float32[1, 16, 64]", lambda: std.pages_gather(x[None], torch.zeros(1, dtype=torch.int32, device=device), 17))
            raises(TypeError, "requires grad", lambda: std.copy(torch.zeros(16, 64, device=device, requires_grad=True)))
            with torch.no_grad():
                std.copy(torch.zeros(16, 64, device=device, requires_grad=True))
            raises(TypeError, "resolve_neg", lambda: std.copy(torch._neg_view(x)))
            raises(ValueError, "out has shape", lambda: std.copy(x, out=x[:3]))
        assert torch.equal(std.copy(x), x)

    again(calls)


def test_kernels():
    def calls():
        k = tilecc.loads(SOURCE, name="test_again.tile")
        for steps in (0, 3, -2, 3, 1000):
            x = numbers(1024) + 1
            want = torch.zeros_like(x)
            at = torch.arange(1024, device=device) + steps * 4
            inside = (at >= 0) & (at < 1024)
            want[inside] = x[at[inside]]
            y = torch.empty_like(x)
            k.shifted(x, y, steps)
            assert torch.equal(y, want)
            assert torch.equal(k.shifted(steps=steps, src=x, dst=torch.empty), want)
            assert torch.equal(k.shifted(x, steps=steps, dst=torch.zeros), want)
        x, y = numbers(1024), numbers(1024)
        raises(OverflowError, "64 bits", lambda: k.shifted(x, y, 2**63))
        raises(tilecc.LaunchError, "E1109", lambda: k.shifted(x, y, 2**31))
        k.shifted(x, y, True)
        assert torch.equal(y[:1020], x[4:])
        raises(TypeError, "requires grad", lambda: k.shifted(torch.zeros(1024, device=device, requires_grad=True), y, 0))
        raises(TypeError, "is an integer", lambda: k.shifted(x, y, 1.0))

    assert again(calls)[0] >= 10


def test_made():
    """Tensors of the device at hand are allocated as torch.compile's programs do, others by torch.empty; they are the same."""
    allocate, at_hand, allocated = torch._C._dynamo.guards._empty_strided_cpu, [0], []

    def bare(shape, strides, dtype):
        allocated.append(shape)
        return allocate(shape, strides, dtype) if device == "cpu" else torch.empty_strided(shape, strides, dtype=dtype, device=device)

    def calls():
        k = tilecc.loads(SOURCE, name="test_again.tile")
        for n in range(6):
            at_hand[0] = int(n > 3)
            x = numbers(1024)
            y = k.shifted(x, steps=0, dst=torch.empty)
            assert torch.equal(x, y) and y.dtype == x.dtype and y.stride() == (1,) and y.device == x.device
            x = numbers(4, 1, 64, dtype=torch.int32)
            y = std.transpose(x)
            assert torch.equal(x.transpose(1, 2), y) and y.is_contiguous() and y.dtype == x.dtype
        assert allocated.count((1024,)) == 3 and allocated.count((4, 64, 1)) == 3, allocated

    real, _remember._bare_empty = _remember._bare_empty, lambda torch, device: (bare, lambda: at_hand[0], 0)
    try:
        again(calls)
    finally:
        _remember._bare_empty = real
    assert _remember._bare_empty(torch, torch.device("cpu")) is None


def test_by_attributes():
    """A torch that has no functions in C for those who read its tensors."""
    if native.fast is None:
        return
    _remember.exchange = False
    _remember.state.clear()
    try:
        test_elsewhere()
        test_what_counts()
        test_kernels()
        test_refused()
    finally:
        _remember.exchange = device == "cuda"
        _remember.state.clear()


def test_captured():
    """In a CUDA graph, and on a stream that is current or given."""
    if device == "cpu":
        return
    x, y, z = numbers(32, 64), torch.empty(32, 64, device=device), torch.empty(1024, device=device)
    k, v = tilecc.loads(SOURCE, name="test_again.tile"), numbers(1024)
    s = torch.cuda.Stream()
    with torch.cuda.stream(s):
        for _ in range(3):
            std.copy(x, y)
            k.shifted(v, z, 0)
    s.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph, stream=s):
        std.copy(x, y)
        k.shifted(v, z, 0)
        made = std.copy(y)
    x.add_(1)
    v.add_(1)
    graph.replay()
    torch.cuda.synchronize()
    assert torch.equal(x, y) and torch.equal(v, z) and torch.equal(made, x)
    v.add_(1)
    torch.cuda.synchronize()
    k.shifted(v, z, 0, stream=s.cuda_stream)
    s.synchronize()
    assert torch.equal(v, z)


def test_threads():
    """What a thread remembers is its own."""
    wrong = []

    def work(k):
        x = numbers(8, 64) + k
        for _ in range(10):
            if not torch.equal(std.copy(x), x):
                wrong.append(k)

    def calls():
        threads = [threading.Thread(target=work, args=(k,)) for k in range(10)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()

    again(calls)
    assert not wrong


if __name__ == "__main__":
    if len(sys.argv) > 1:
        sys.exit(random_calls(int(sys.argv[1]), sys.argv[2]) == 0)
    sys.exit(all_tests.run(globals()) > 0)
