"""Several GPUs: kernels of one module, functions of the library, streams, graphs and threads, each on the device of its tensors. Run with pytest, or as a
program; where there are fewer than two it says so and has nothing to do."""

import sys
import threading

import all_tests
import torch
from all_tests import raises

import tilecc
from tilecc import std

SOURCE = """
kernel copy(src: global f32[M, N], dst: global f32[M, N]) {
    pipeline (i, j) in (ceil(M, 16), ceil(N, 64)) across grid by ticket {
        shared tile: f32[16, 64];
        move src[i * 16, j * 64] -> tile;
        move tile -> dst[i * 16, j * 64];
    }
}
kernel rows(src: global f32[M, 64], idx: global s32[K], out: global f32[K, 64]) {
    pipeline i in K across grid {
        shared t: f32[1, 64];
        move src[idx[i], 0] -> t;
        move t -> out[i, 0];
    }
}
"""
devices = [torch.device("cuda", i) for i in range(torch.cuda.device_count())]


def each(f):
    """f of a module and of a device, in turns: what one device has loaded and remembered is not the other's."""
    k = tilecc.loads(SOURCE, name="test_devices.tile")
    for turn in range(3):
        for d in devices:
            f(k, d, turn)
    for d in devices:
        torch.cuda.synchronize(d)


def test_in_turns():
    def one(k, d, turn):
        x = torch.randn(100 + turn, 128, device=d)
        assert torch.equal(k.copy(x, dst=torch.empty), x)
        i = torch.randint(100, (33,), device=d, dtype=torch.int32)
        y = k.rows(x[:, :64].contiguous(), i, out=torch.empty)
        assert y.device == d and torch.equal(y, x[i.long(), :64])

    each(one)


def test_library():
    def one(k, d, turn):
        x = torch.randn(256, 512, device=d).to(torch.bfloat16)
        assert torch.equal(std.transpose(x), x.t())
        assert torch.equal(std.concat([x, x], 0), torch.cat([x, x]))
        assert torch.equal(std.convert(x, torch.float32), x.float())

    each(one)


def test_streams():
    def one(k, d, turn):
        with torch.cuda.device(d), torch.cuda.stream(torch.cuda.Stream(d)):
            x = torch.randn(4096, 1024, device=d)
            y = k.copy(x, dst=torch.empty)
            assert torch.equal(k.copy(y, dst=torch.empty), x)

    each(one)


def test_graphs():
    def one(k, d, turn):
        with torch.cuda.device(d):
            x, y = torch.randn(512, 256, device=d), torch.zeros(512, 256, device=d)
            k.copy(x, y)
            graph = torch.cuda.CUDAGraph()
            with torch.cuda.graph(graph, stream=torch.cuda.Stream(d)):  # the default one is of the first device
                k.copy(x, y)
            x.normal_()
            graph.replay()
            torch.cuda.synchronize(d)
            assert torch.equal(x, y)

    each(one)


def test_threads():
    """Each device by two threads at once."""
    k, wrong = tilecc.loads(SOURCE, name="test_devices.tile"), []

    def work(d, seed):
        try:
            torch.cuda.set_device(d)
            generator = torch.Generator(d).manual_seed(seed)
            with torch.cuda.stream(torch.cuda.Stream(d)):
                for n in range(1, 200):
                    x = torch.randn(n, 64, device=d, generator=generator)
                    if not torch.equal(k.copy(x, dst=torch.empty), x):
                        wrong.append((d, n))
        except Exception as e:  # the thread's own
            wrong.append((d, e))

    threads = [threading.Thread(target=work, args=(d, s)) for s in range(2) for d in devices]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not wrong, wrong


def test_mixed():
    """Tensors of two devices in one call are an error that names the argument, whichever device is current."""
    k = tilecc.loads(SOURCE, name="test_devices.tile")
    x, y = torch.zeros(64, 64, device=devices[0]), torch.zeros(64, 64, device=devices[1])
    raises(TypeError, "'dst' is on another device than 'src'", lambda: k.copy(x, y))
    raises(TypeError, "'dst' is on another device than 'src'", lambda: k.copy(y, x))
    with torch.cuda.device(devices[0]):
        assert torch.equal(k.copy(y, dst=torch.empty), y)


if len(devices) < 2:
    for name in [n for n in globals() if n.startswith("test_")]:
        del globals()[name]

if __name__ == "__main__":
    if len(devices) < 2:
        print("skipped: fewer than two GPUs")
    sys.exit(all_tests.run(dict(globals())) != 0)
