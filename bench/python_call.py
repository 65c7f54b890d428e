"""Host time of a call from Python on a GPU, beside PyTorch's own operation and an operator of torch.library of the same kernel.

    PYTHONPATH=runtime/python TILECC_LIBRARY_PATH=build/release/lib python3 bench/python_call.py

Prints microseconds: the best of 15 runs of 200 calls each, on tensors so small that the queue to the GPU does not fill. Those of a line are measured in
turns. "interpreted": without the extension tilecc._fast.
"""

import sys
import time

import tilecc
import torch
from tilecc import _native as native
from tilecc._remember import state

SOURCE = """
kernel copy(src: global bf16[M, N], dst: global bf16[M, N]) grid (ceil(N, 256), ceil(M, 64)) {
    shared tile: bf16[64, 256];
    move src[cta.y * 64, cta.x * 256] -> tile;
    move tile -> dst[cta.y * 64, cta.x * 256];
}
"""


def host_times(functions, n=200):
    best = [float("inf")] * len(functions)
    for round in range(16):
        for i, f in enumerate(functions):
            torch.cuda.synchronize()
            start = time.perf_counter()
            for _ in range(n):
                f()
            if round > 0:
                best[i] = min(best[i], (time.perf_counter() - start) / n * 1e6)
    torch.cuda.synchronize()
    return best


def interpreted(f, calls):
    """f without the extension; calls: what remembers those of f."""

    def call():
        again, calls.again = calls.again, None
        try:
            return f()
        finally:
            calls.again = again

    return call


def cost_of_interpreted(calls):
    """What interpreted() takes itself."""
    bare, wrapped = host_times([lambda: None, interpreted(lambda: None, calls)])
    return wrapped - bare


def main():
    if not torch.cuda.is_available():
        sys.exit("a GPU is wanted")
    k = tilecc.loads(SOURCE, name="python_call.tile")
    x = torch.zeros(64, 256, device="cuda", dtype=torch.bfloat16)
    y = torch.empty_like(x)
    operator = k.copy.register("tilecc_bench::copy")
    q, table, idx = torch.zeros(4, 8, 16, 64, device="cuda"), torch.zeros(64, 256, device="cuda"), torch.arange(16, device="cuda", dtype=torch.int32)
    long, std = idx.long(), tilecc.std
    copy_ = lambda: y.copy_(x)
    rows = (
        ("k.copy(x, y)", k._ready, lambda: k.copy(x, y), copy_),
        ("k.copy(src=x, dst=y)", k._ready, lambda: k.copy(src=x, dst=y), copy_),
        ("k.copy(x, y), other tensors each time", k._ready, iter_pairs(k, x, y), copy_),
        ("k.copy(x, dst=torch.empty)", k._ready, lambda: k.copy(x, dst=torch.empty), lambda: x.clone()),
        ("torch.ops: copy(x, y)", k._ready, lambda: operator(x, y), copy_),
        ("std.copy(x)", state, lambda: std.copy(x), lambda: x.clone()),
        ("std.permute(q, (0, 2, 1, 3))", state, lambda: std.permute(q, (0, 2, 1, 3)), lambda: q.permute(0, 2, 1, 3).contiguous()),
        ("std.gather(table, idx)", state, lambda: std.gather(table, idx), lambda: table.index_select(0, long)),
        ("std.concat([x, y], dim=1)", state, lambda: std.concat([x, y], dim=1), lambda: torch.cat([x, y], 1)),
        ("std.convert(x, float32)", state, lambda: std.convert(x, torch.float32), lambda: x.float()),
        ("std.roll(table, 3)", state, lambda: std.roll(table, 3), lambda: table.roll(3, 0)),
        ("std.pad(table, 1, 1)", state, lambda: std.pad(table, 1, 1), lambda: torch.nn.functional.pad(table, (0, 0, 1, 1))),
        ("std.split(table, (128, 128), dim=1)", state, lambda: std.split(table, (128, 128), dim=1), lambda: [t.clone() for t in table.split(128, 1)]),
    )
    print(f"{torch.cuda.get_device_name()}, PyTorch {torch.__version__}{'' if native.fast else ', no extension'}")
    print("  tilecc  interpreted    torch")
    for name, calls, f, g in rows:
        own, slow, other = host_times([f, interpreted(f, calls), g])
        print(f"{own:8.2f} {slow - cost_of_interpreted(calls):12.2f} {other:8.2f}  {name}")


def iter_pairs(k, x, y):
    pairs = [(x.clone(), y.clone()) for _ in range(8)]
    at = [0]

    def call():
        at[0] = (at[0] + 1) % 8
        k.copy(*pairs[at[0]])

    return call


if __name__ == "__main__":
    main()
