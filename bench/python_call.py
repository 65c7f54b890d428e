"""Host time of a call from Python on a GPU, beside PyTorch's own operation and an operator of torch.library of the same kernel.

    PYTHONPATH=runtime/python TILECC_LIBRARY_PATH=build/release/lib python3 bench/python_call.py

Prints microseconds: the best of 9 runs of 200 calls each, on tensors so small that the queue to the GPU does not fill.
"""

import sys
import time

import tilecc
import torch

SOURCE = """
kernel copy(src: global bf16[M, N], dst: global bf16[M, N]) grid (ceil(N, 256), ceil(M, 64)) {
    shared tile: bf16[64, 256];
    move src[cta.y * 64, cta.x * 256] -> tile;
    move tile -> dst[cta.y * 64, cta.x * 256];
}
"""


def host_time(f, n=200):
    for _ in range(100):
        f()
    best = float("inf")
    for _ in range(9):
        torch.cuda.synchronize()
        start = time.perf_counter()
        for _ in range(n):
            f()
        best = min(best, (time.perf_counter() - start) / n)
    torch.cuda.synchronize()
    return best * 1e6


def main():
    if not torch.cuda.is_available():
        sys.exit("a GPU is wanted")
    k = tilecc.loads(SOURCE, name="python_call.tile")
    x = torch.zeros(64, 256, device="cuda", dtype=torch.bfloat16)
    y = torch.empty_like(x)
    operator = k.copy.register("tilecc_bench::copy")
    rows = {
        "torch: y.copy_(x)": lambda: y.copy_(x),
        "k.copy(x, y)": lambda: k.copy(x, y),
        "k.copy(src=x, dst=y)": lambda: k.copy(src=x, dst=y),
        "k.copy(x, y), other tensors each time": iter_pairs(k, x, y),
        "k.copy(x, dst=torch.empty)": lambda: k.copy(x, dst=torch.empty),
        "torch.ops: copy(x, y)": lambda: operator(x, y),
    }
    for name, f in rows.items():
        print(f"{host_time(f):8.2f} us  {name}")
    q, table, idx = torch.zeros(4, 8, 16, 64, device="cuda"), torch.zeros(64, 256, device="cuda"), torch.arange(16, device="cuda", dtype=torch.int32)
    long, std = idx.long(), tilecc.std
    print("  tilecc    torch  function of tilecc.std")
    for name, f, g in (
        ("copy(x)", lambda: std.copy(x), lambda: x.clone()),
        ("permute(q, (0, 2, 1, 3))", lambda: std.permute(q, (0, 2, 1, 3)), lambda: q.permute(0, 2, 1, 3).contiguous()),
        ("gather(table, idx)", lambda: std.gather(table, idx), lambda: table.index_select(0, long)),
        ("concat([x, y], dim=1)", lambda: std.concat([x, y], dim=1), lambda: torch.cat([x, y], 1)),
        ("convert(x, float32)", lambda: std.convert(x, torch.float32), lambda: x.float()),
        ("pad(table, 1, 1)", lambda: std.pad(table, 1, 1), lambda: torch.nn.functional.pad(table, (0, 0, 1, 1))),
        ("split(table, (128, 128), dim=1)", lambda: std.split(table, (128, 128), dim=1), lambda: [t.clone() for t in table.split(128, 1)]),
    ):
        print(f"{host_time(f):8.2f} {host_time(g):8.2f}  {name}")


def iter_pairs(k, x, y):
    pairs = [(x.clone(), y.clone()) for _ in range(8)]
    at = [0]

    def call():
        at[0] = (at[0] + 1) % 8
        k.copy(*pairs[at[0]])

    return call


if __name__ == "__main__":
    main()
