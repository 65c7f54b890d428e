"""Host time of a call from Python on a GPU, beside PyTorch's own copy_ and an operator of torch.library of the same kernel.

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
        "tilecc.std.copy(x)": lambda: tilecc.std.copy(x),
        "torch: x.clone()": lambda: x.clone(),
    }
    for name, f in rows.items():
        print(f"{host_time(f):8.2f} us  {name}")


def iter_pairs(k, x, y):
    pairs = [(x.clone(), y.clone()) for _ in range(8)]
    at = [0]

    def call():
        at[0] = (at[0] + 1) % 8
        k.copy(*pairs[at[0]])

    return call


if __name__ == "__main__":
    main()
