"""Kernels and tilecc.std in torch.compile, as operators of torch.library. Run with pytest, or as a program."""

import logging
import sys

import torch

import all_tests
import tilecc
from tilecc import std

SOURCE = """
kernel copy<T = f32>(src: global T[M, N], dst: global T[M, N]) grid (ceil(N, 32), ceil(M, 16)) {
    shared t: T[16, 32];
    move src[cta.y * 16, cta.x * 32] -> t;
    move t -> dst[cta.y * 16, cta.x * 32];
}
kernel twice(src: global f32[N], dst: global f32[N], both: global f32[2 * N], steps: s32) grid (ceil(N, 256)) {
    shared t: f32[256];
    move src[cta.x * 256 + steps * 4] -> t;
    move t -> dst[cta.x * 256];
    move t -> both[cta.x * 256];
}
"""

device = "cuda" if torch.cuda.is_available() else "cpu"
k = tilecc.loads(SOURCE, name="test_compile.tile")
halves = tilecc.loads(SOURCE, name="test_compile.tile", **{"copy.T": "bf16"})


def compiled(f, dynamic=None):
    torch._dynamo.reset()
    return torch.compile(f, fullgraph=True, backend="aot_eager", dynamic=dynamic)


def check_kernels(compile):
    def f(x, steps):
        y = k.copy(x * 2, dst=torch.empty) + 1
        z = torch.zeros_like(y)
        k.copy(y, z)  # z is changed in place, and the graph knows it
        a, both = k.twice(z.view(-1), dst=torch.empty, both=torch.zeros, steps=steps)
        return y, z, a, both, halves.copy(x.to(torch.bfloat16), dst=torch.empty)

    for dynamic in (None, True):
        g = compile(f, dynamic)
        for m in (3, 5, 17):
            x = torch.randn(m, 32, device=device)
            want = x * 2 + 1
            y, z, a, both, h = g(x, 2)
            assert torch.equal(y, want) and torch.equal(z, want) and torch.equal(h, x.to(torch.bfloat16))
            want = torch.cat([want.view(-1)[8:], torch.zeros(8, device=device)])
            assert torch.equal(a, want) and both.shape == (2 * m * 32,) and torch.equal(both[: m * 32], want)


def test_kernels():
    check_kernels(compiled)


def test_first_call_in_a_graph():
    own = tilecc.loads(SOURCE, name="another.tile")
    x = torch.randn(20, 32, device=device)
    f = compiled(lambda x: own.copy(src=x, dst=torch.empty))
    assert torch.equal(f(x), x) and torch.equal(own.copy(x, dst=torch.empty), x) and torch.equal(f(x), x)


def test_operators():
    x = torch.randn(20, 32, device=device)
    op = k.copy.register("tilecc_test::copy")
    assert op is torch.ops.tilecc_test.copy.default and str(op._schema).startswith("tilecc_test::copy(Tensor src, Tensor(")
    torch.library.opcheck(op, (x, torch.empty_like(x)))
    torch.library.opcheck(k.twice.register("tilecc_test::twice"), (x.view(-1), x.new_empty(640), x.new_empty(1280), 3))
    graph = []
    torch._dynamo.reset()
    torch.compile(lambda x: k.copy(x, dst=torch.empty), fullgraph=True, backend=lambda g, _: graph.append(g) or g.forward)(x)
    assert "torch.ops.tilecc_test.copy" in graph[0].code, graph[0].code
    program = torch.export.export(OfKernel(), (x,))
    assert torch.equal(program.module()(x), x + 1) and "tilecc_test.copy" in str(program.graph)
    all_tests.raises(ValueError, "namespace::name", lambda: k.copy.register("copy"))
    all_tests.raises(ValueError, "already", lambda: k.copy.register("tilecc_test::copy"))


class OfKernel(torch.nn.Module):
    def forward(self, x):
        return k.copy(x, dst=torch.empty) + 1


def test_gradients():
    """A kernel is differentiated by an autograd.Function around it, eagerly and in a graph."""

    class Copy(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return k.copy(x, dst=torch.empty)

        @staticmethod
        def backward(ctx, gradient):
            return k.copy(gradient.contiguous(), dst=torch.empty)

    for f in (Copy.apply, compiled(lambda x: Copy.apply(x))):
        x = torch.randn(20, 32, device=device, requires_grad=True)
        (f(x) * x).sum().backward()
        assert torch.allclose(x.grad, 2 * x.detach())


def test_errors():
    logging.disable(logging.ERROR)  # torch writes what is raised below, too
    x = torch.randn(20, 32, device=device)
    for words, f in {
        "no parameter 'dest'": lambda: k.copy(x, dest=x),
        "argument 'dst' is missing": lambda: k.copy(x),
        "argument 'dst' has elements of bf16": lambda: k.copy(x, x.to(torch.bfloat16)),
        "argument 'src' has 1 dimensions": lambda: k.copy(x[0], x),
        "no kernel 'nothing'": lambda: k.nothing(x),
        "requires grad": lambda: k.copy(torch.nn.Parameter(x), x),
    }.items():
        all_tests.raises(Exception, words, compiled(f))
    logging.disable(logging.NOTSET)


def check_std(compile):
    def f(x, i, sums, cache):
        std.scatter_add(std.gather(x[0], i), i, sums)
        std.pages_append(x[0], i, cache)
        y = torch.zeros_like(x)
        return (
            std.permute(x * 2, (1, 0, 2)) + 1, std.transpose(x), std.concat([x, x], dim=1), std.convert(x[0], torch.float16),
            std.pad(x[0], 1, 2, left=16), std.copy(x, out=y), std.copy(y + 1, y), sums, cache,
        )

    for dynamic in (None, True):
        g = compile(f, dynamic)
        for m in (4, 16, 32):
            x = torch.randn(m, 8, 32, device=device)
            i = torch.tensor([3, 0, 5, 1, 7, 2, 4, 6], device=device, dtype=torch.int32)
            sums, cache = torch.zeros(8, 32, device=device), torch.zeros(2, 4, 32, device=device)
            y = g(x, i, sums, cache)
            want = torch.zeros_like(sums)
            want[i.long()] = x[0]
            whole = (
                (x * 2).permute(1, 0, 2) + 1, x.transpose(1, 2), torch.cat([x, x], 1), x[0].half(), torch.nn.functional.pad(x[0], (16, 0, 1, 2)), x + 1, x + 1,
                torch.zeros_like(sums).index_add(0, i.long(), x[0][i.long()]), want.view(2, 4, 32),
            )
            for n, (a, b) in enumerate(zip(y, whole)):
                assert a.dtype == b.dtype and a.shape == b.shape and torch.equal(a, b), (dynamic, m, n)
            assert torch.equal(sums, y[-2]) and torch.equal(cache, y[-1])


def test_std():
    check_std(compiled)
    x = torch.randn(4, 8, 16, device=device)
    torch.library.opcheck(torch.ops.tilecc.permute_tno.default, (x, [1, 0, 2]))
    torch.library.opcheck(torch.ops.tilecc.copy_tt.default, (x, torch.empty_like(x)))


if __name__ == "__main__":
    failed = all_tests.run(globals())
    if "--inductor" in sys.argv:  # wants a C++ compiler, or Triton

        def inductor(f, dynamic):
            torch._dynamo.reset()
            return torch.compile(f, fullgraph=True, dynamic=dynamic)

        failed += all_tests.run({"test_inductor_kernels": lambda: check_kernels(inductor), "test_inductor_std": lambda: check_std(inductor)})
    sys.exit(failed > 0)
