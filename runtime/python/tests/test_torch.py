"""The package with PyTorch: on a GPU where there is one, else on the simulator. Run with pytest, or as a program."""

import sys

import torch

import all_tests
import tilecc
from all_tests import raises
from tilecc import std

SOURCE = """
kernel copy(src: global bf16[M, N], dst: global bf16[M, N]) {
    pipeline (i, j) in (ceil(M, 64), ceil(N, 256)) across grid {
        shared tile: bf16[64, 256];
        move src[i * 64, j * 256] -> tile;
        move tile -> dst[i * 64, j * 256];
    }
}
kernel rows<D = 64>(src: global f32[M, D], idx: global s32[K], out: global f32[K, D]) {
    pipeline i in K across grid {
        shared t: f32[1, D];
        move src[idx[i], 0] -> t;
        move t -> out[i, 0];
    }
}
kernel shifted(src: global f32[N], dst: global f32[N], steps: s32) grid (ceil(N, 256)) {
    shared t: f32[256];
    move src[cta.x * 256 + steps * 4] -> t;
    move t -> dst[cta.x * 256];
}
"""

device = "cuda" if torch.cuda.is_available() else "cpu"


def module(**defines):
    return tilecc.loads(SOURCE, name="test_torch.tile", **defines)


def test_copy():
    k = module()
    for m, n in ((64, 256), (100, 264), (1, 8), (0, 8)):
        x = torch.randn(m, n, device=device).to(torch.bfloat16)
        y = torch.empty_like(x)
        assert k.copy(x, y) is None
        assert torch.equal(x, y)
        assert torch.equal(k.copy(x, dst=torch.empty), x)
        assert torch.equal(k.copy(x.view(torch.int16), dst=torch.empty), x)  # the same bits


def test_rows():
    x = torch.randn(50, 64, device=device)
    i = torch.randint(50, (33,), device=device, dtype=torch.int32)
    out = module().rows(x, i, out=torch.empty)
    assert out.shape == (33, 64) and out.dtype == torch.float32 and out.device.type == device
    assert torch.equal(out, x[i.long()])
    x = torch.randn(50, 128, device=device)
    assert torch.equal(module(**{"rows.D": 128}).rows(x, i, out=torch.empty), x[i.long()])


def test_scalar():
    x = torch.arange(1024, device=device, dtype=torch.float32)
    y = module().shifted(x, steps=3, dst=torch.empty)
    assert torch.equal(y[:1012], x[12:]) and not y[1012:].any()


def test_errors():
    k, x = module(), torch.zeros(64, 256, device=device, dtype=torch.bfloat16)
    raises(TypeError, "argument 'dst' is missing", lambda: k.copy(x))
    raises(TypeError, "argument 'dst' has elements of f32", lambda: k.copy(x, x.float()))
    raises(TypeError, "argument 'dst' has 1 dimensions", lambda: k.copy(x, x[0]))
    raises(TypeError, "no parameter 'dest'", lambda: k.copy(x, dest=x))
    raises(TypeError, "given twice", lambda: k.copy(x, src=x))
    raises(TypeError, "argument 'src' is an array", lambda: k.copy(1, x))
    raises(TypeError, "argument 'src': it requires grad", lambda: k.copy(torch.zeros(64, 256, device=device, requires_grad=True), x))
    raises(AttributeError, "no kernel 'nothing'", lambda: k.nothing(x))
    e = raises(tilecc.LaunchError, "E1", lambda: k.copy(x, x[:, :255].contiguous()))
    assert e.code.startswith("E1")
    raises(tilecc.LaunchError, "E1105", lambda: k.copy(x.t().contiguous().t(), x))
    e = raises(tilecc.CompileError, "E0201", lambda: tilecc.loads("kernel k(x: global f32[N]) { fill zz = 1; }").k(x))
    assert e.code == "E0201"


def test_plan():
    k = module()
    assert "pipeline" in k.ptx() or ".visible .entry copy" in k.ptx()
    assert k.copy.plan().startswith("kernel copy") and "rows" not in k.copy.plan().split("\n")[0]
    many = 65536 if device == "cuda" else 8192  # rows of which a launch moves more than 8 times the L2
    for rows, columns, schedule, deal in ((64, 256, 1, None), (many, 2560, 0, "ticket")):
        x = torch.zeros(rows, columns, device=device, dtype=torch.bfloat16)
        info = k.copy.launch_info(x, torch.empty_like(x))
        n = rows // 64 * (columns // 256)
        assert (info["schedule"], info["schedules"], info["deal"]) == (schedule, 2, deal), info
        assert info["iterations"] == n if deal else info["grid"] == (n, 1, 1), info


def test_streams_and_graphs():
    if device != "cuda":
        return
    k = module()
    x = torch.randn(512, 1024, device=device).to(torch.bfloat16)
    y = torch.empty_like(x)
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        k.copy(x, y)
        z = y.clone()
    side.synchronize()
    assert torch.equal(z, x)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        k.copy(x, y)
    for _ in range(3):
        x.copy_(torch.randn(512, 1024, device=device))
        y.zero_()
        graph.replay()
        torch.cuda.synchronize()
        assert torch.equal(x, y)


def test_numbers_of_the_launch_before():
    """A gather begins while the copy that writes its numbers, as the last of much, still runs."""
    if device != "cuda":
        return
    numbers = [torch.randint(0, 4096, (1 << 24,), dtype=torch.int32, device=device) for _ in range(2)]
    written = torch.zeros_like(numbers[0])
    rows = torch.arange(4096, dtype=torch.int32, device=device).view(-1, 1).repeat(1, 256).contiguous()
    index = written[-64:]
    out = [torch.empty((64, 256), dtype=torch.int32, device=device) for _ in range(20)]

    def launches():
        for i, o in enumerate(out):
            std.copy(numbers[i % 2].view(-1, 256), written.view(-1, 256))
            std.gather(rows, index, o)

    launches()
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        launches()
    for again in (launches, graph.replay):
        for o in out:
            o.zero_()
        again()
        torch.cuda.synchronize()
        for i, o in enumerate(out):
            assert torch.equal(o[:, 0], numbers[i % 2][-64:]), (again, i)


def host_time():
    """Microseconds of host time a call, beside a bare operation of PyTorch."""
    import time

    k = module()
    x = torch.zeros(64, 256, device=device, dtype=torch.bfloat16)
    y = torch.empty_like(x)

    def measure(f, n=2000):
        for _ in range(100):
            f()
        torch.cuda.synchronize()
        best = 1e9
        for _ in range(5):
            t = time.perf_counter()
            for _ in range(n):
                f()
            best = min(best, (time.perf_counter() - t) / n)
            torch.cuda.synchronize()
        return best * 1e6

    return measure(lambda: k.copy(x, y), 200), measure(lambda: y.copy_(x), 200), k.copy.time(x, y) * 1e3


if __name__ == "__main__":
    failed = all_tests.run(globals())
    if device == "cuda":
        print("host time of a call, of torch's copy_, and time on the GPU: %.2f, %.2f, %.2f us" % host_time())
    sys.exit(failed > 0)
