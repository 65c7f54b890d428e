#!/usr/bin/env python3
"""PyTorch's own operations for the movements of moves.c, with its shapes.

    python3 bench/peers.py OUT [--repeats N]

Writes to OUT a line for each: its name, median milliseconds, bytes read and written (which moves.c compares with its
own). Launches stand in a row with an event between any two, after three others; the data are several times the L2.
"""
import argparse
import statistics
import sys

import torch
import torch.nn.functional as F

WARM_UP = 3


def random_bits(shape, dtype):
    """Finite numbers of all kinds: data that are all alike would be moved at less power."""
    bits = {torch.bfloat16: torch.int16, torch.float32: torch.int32}[dtype]
    info = torch.iinfo(bits)
    x = torch.randint(info.min, info.max, shape, dtype=bits, device="cuda")
    finite = -1 - (1 << (info.bits - 2))  # the highest bit of the exponent is 0
    return x.bitwise_and_(finite).view(dtype)


def indices(n, limit):
    return torch.randint(0, limit, (n,), dtype=torch.int32, device="cuda")


def copy():
    src = random_bits((65536, 16384), torch.bfloat16)
    dst = torch.empty_like(src)
    return lambda: dst.copy_(src), 2 * src.nbytes


def transpose(dtype):
    def make():
        src = random_bits((16384, 16384), dtype)
        dst = torch.empty_like(src)
        return lambda: dst.copy_(src.t()), 2 * src.nbytes

    return make


def gather(rows, width):
    def make():
        table = random_bits((rows, width), torch.bfloat16)
        idx = indices(rows, rows)
        out = torch.empty_like(table)
        return lambda: torch.index_select(table, 0, idx, out=out), 2 * out.nbytes + idx.nbytes

    return make


def scatter_add():
    x = torch.randint(-64, 65, (65536, 1024), device="cuda").float() / 8
    idx = indices(65536, 65536)
    acc = torch.zeros_like(x)
    return lambda: acc.index_add_(0, idx, x), 3 * x.nbytes + idx.nbytes


def permute_heads():
    x = random_bits((8, 4096, 32, 128), torch.bfloat16)
    out = torch.empty((8, 32, 4096, 128), dtype=x.dtype, device="cuda")
    return lambda: out.copy_(x.permute(0, 2, 1, 3)), 2 * x.nbytes


def halo():
    height, width, rows, columns = 16384, 16384, 32, 64
    x = random_bits((height, width), torch.float32)
    shape = (height // rows, width // columns, rows + 2, columns + 8)
    pitch = width + 8

    def run():
        padded = F.pad(x, (4, 4, 1, 1))
        return padded.as_strided(shape, (rows * pitch, columns, pitch, 1)).contiguous()

    return run, x.nbytes + run().nbytes


def convert():
    x = random_bits((32768, 16384), torch.bfloat16)
    return x.float, 3 * x.nbytes


def concat():
    a = random_bits((65536, 8192), torch.bfloat16)
    b = random_bits((65536, 8192), torch.bfloat16)
    out = torch.empty((65536, 16384), dtype=a.dtype, device="cuda")
    return lambda: torch.cat((a, b), dim=1, out=out), 2 * out.nbytes


def unfold(images):
    def make():
        x = random_bits((images, 128, 64, 64), torch.bfloat16)
        run = lambda: F.unfold(x, 3, padding=1)
        return run, x.nbytes + run().nbytes

    return make


PEERS = {
    "copy": copy,
    "transpose_bf16": transpose(torch.bfloat16),
    "transpose_f32": transpose(torch.float32),
    "gather_8k": gather(65536, 4096),
    "gather_4k": gather(131072, 2048),
    "gather_2k": gather(262144, 1024),
    "gather_1k": gather(524288, 512),
    "scatter_add": scatter_add,
    "permute_heads": permute_heads,
    "halo": halo,
    "convert": convert,
    "concat": concat,
    "unfold_32": unfold(32),
    "unfold_256": unfold(256),
}


def median_ms(run, repeats):
    for _ in range(WARM_UP):
        run()
    events = [torch.cuda.Event(enable_timing=True) for _ in range(repeats + 1)]
    events[0].record()
    for event in events[1:]:
        run()
        event.record()
    torch.cuda.synchronize()
    return statistics.median(a.elapsed_time(b) for a, b in zip(events, events[1:]))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("out")
    parser.add_argument("--repeats", type=int, default=21)
    args = parser.parse_args()
    if not torch.cuda.is_available():
        sys.exit("peers.py: PyTorch finds no GPU")
    with open(args.out, "w", encoding="ascii") as out:
        for name, make in PEERS.items():
            run, nbytes = make()
            print(name, f"{median_ms(run, args.repeats):.6f}", nbytes, file=out, flush=True)
            del run
            torch.cuda.empty_cache()
    print(f"PyTorch {torch.__version__}, CUDA {torch.version.cuda}")


if __name__ == "__main__":
    main()
