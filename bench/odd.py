#!/usr/bin/env python3
"""Tensors that no copy engine takes (odd rows, odd addresses, strided innermost dimensions), moved by the threads of std.odd, beside PyTorch.

    python3 bench/odd.py            on a GPU: results checked against PyTorch's, a table of bandwidths
    python3 bench/odd.py --small    without one: small shapes, on the simulator, results only

Needs PyTorch and the package in runtime/python. GB/s count the bytes that must be read and written, once each, and come from the median of REPEATS launches
in a row; `best by ours` is the time of the faster one of PyTorch's eager operation and torch.compile, by ours. Exit code 1 if a result is wrong.
"""
import argparse
import sys

import torch

import library
from library import bits, indices, median_ms, same
from tilecc import std

CASES = []
bf16, f32, u8 = torch.bfloat16, torch.float32, torch.uint8


def case(name, large, small):
    def add(make):
        CASES.append((name, make, large, small))
        return make

    return add


def copied(x):
    """Ours and PyTorch's copy of a matrix, contiguous, and the bytes of it."""
    return std.copy, lambda x: x.clone(memory_format=torch.contiguous_format), (x,), 2 * x.numel() * x.element_size()


@case("rows of {1} elements, a part of wider ones", (16384, 4099), (70, 259))
def odd_rows(m, n):
    return copied(bits((m, n + 7), bf16)[:, :n])


@case("columns from 1 on: odd addresses", (16384, 4096), (70, 256))
def odd_columns(m, n):
    return copied(bits((m, n + 8), bf16)[:, 1 : n + 1])


@case("an address that is a multiple of 2 only, rows of {1}", (16384, 4095), (70, 255))
def odd_address(m, n):
    return copied(bits((m * n + 1,), bf16)[1:].view(m, n))


@case("bytes, rows of {1}, from 3 on", (32768, 4099), (70, 259))
def odd_bytes(m, n):
    return copied(bits((m, n + 5), u8)[:, 3 : n + 3])


@case("f32, rows of {1}, from 1 on", (16384, 2049), (70, 129))
def odd_floats(m, n):
    return copied(bits((m, n + 2), f32)[:, 1 : n + 1])


@case("every other column", (16384, 4096), (70, 256))
def every_other(m, n):
    return copied(bits((m, 2 * n), bf16)[:, ::2])


@case("every third column, f32", (8192, 4096), (70, 256))
def every_third(m, n):
    return copied(bits((m, 3 * n), f32)[:, 1::3])


@case("transpose of {0} x {1}", (8191, 8193), (67, 131))
def transposed(m, n):
    x = bits((m, n), bf16)
    return std.transpose, lambda x: x.t().contiguous(), (x,), 2 * x.nbytes


@case("convert bf16 to f32, rows of {1}", (16384, 4099), (70, 259))
def converted(m, n):
    x = bits((m, n), bf16)
    return lambda x: std.convert(x, f32), lambda x: x.float(), (x,), 3 * x.nbytes


@case("gather rows of {1}", (65536, 1001), (40, 101))
def gathered(m, n):
    x, i = bits((m, n), bf16), indices(m, m)
    return std.gather, lambda x, i: torch.index_select(x, 0, i), (x, i), 2 * x.nbytes + i.nbytes


@case("roll rows of {1} by 5", (16384, 4099), (70, 259))
def rolled(m, n):
    x = bits((m, n), bf16)
    return lambda x: std.roll(x, 5), lambda x: torch.roll(x, 5, 0), (x,), 2 * x.nbytes


@case("roll columns of {1} by 5", (16384, 4099), (70, 259))
def rolled_columns(m, n):
    x = bits((m, n), bf16)
    return lambda x: std.roll(x, 5, 1), lambda x: torch.roll(x, 5, 1), (x,), 2 * x.nbytes


@case("rows of {1} in the opposite order", (16384, 4099), (70, 259))
def flipped(m, n):
    x = bits((m, n), bf16)
    return std.flip, lambda x: torch.flip(x, (0,)), (x,), 2 * x.nbytes


@case("columns of {1} in the opposite order", (16384, 4099), (70, 259))
def flipped_columns(m, n):
    x = bits((m, n), bf16)
    return lambda x: std.flip(x, 1), lambda x: torch.flip(x, (1,)), (x,), 2 * x.nbytes


@case("a row and three columns of zeros around {0} x {1}", (16384, 4099), (70, 259))
def padded(m, n):
    x = bits((m, n), bf16)
    return lambda x: std.pad(x, 1, 1, 3, 3), lambda x: torch.nn.functional.pad(x, (3, 3, 1, 1)), (x,), 2 * x.nbytes


@case("three planes of {0} x {1} bytes to pixels", (8192, 8191), (70, 259))
def planes(m, n):
    x = bits((3, m, n), u8)
    return std.interleave, lambda x: x.permute(1, 2, 0).reshape(m, 3 * n), (x,), 2 * x.nbytes


@case("scatter rows of {1}", (65536, 1001), (40, 101))
def scattered(m, n):
    x, i = bits((m, n), bf16), torch.randperm(m, device=library.device)
    ours, theirs = torch.zeros_like(x), torch.zeros_like(x)
    return lambda x, i: std.scatter(x, i, ours), lambda x, i: theirs.index_copy_(0, i, x), (x, i), 2 * x.nbytes + i.nbytes


@case("heads of {1} of 8 in front", (16384, 97), (70, 33))
def heads(m, n):
    x = bits((4, m, 8, n), bf16)
    return std.split_heads, lambda x: x.transpose(1, 2).contiguous(), (x,), 2 * x.nbytes


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--small", action="store_true")
    parser.add_argument("--repeats", type=int, default=21)
    args = parser.parse_args()
    if not args.small and not torch.cuda.is_available():
        sys.exit("odd.py: PyTorch finds no GPU; --small needs none")
    library.device = "cpu" if args.small else "cuda"
    torch.manual_seed(1)
    failed = 0
    if not args.small:
        print(f"{torch.cuda.get_device_name()}, PyTorch {torch.__version__}\n\n| tensor | GB/s | eager, GB/s | compiled, GB/s | best by ours |\n| --- | --- | --- | --- | --- |")
    for name, make, large, small in CASES:
        shape = small if args.small else large
        ours, eager, inputs, moved = make(*shape)
        wrong = same(ours(*inputs), eager(*inputs))
        if wrong:
            failed += 1
            print(f"odd.py: {name.format(*shape)}: {wrong}", file=sys.stderr)
        elif args.small:
            print(f"right: {name.format(*shape)}")
        else:
            f = torch.compile(eager, dynamic=False)
            times = [median_ms(lambda: run(*inputs), args.repeats) for run in (ours, eager, f)]
            torch.compiler.reset()
            print(f"| {name.format(*shape)} | " + " | ".join(f"{moved / t / 1e6:.0f}" for t in times) + f" | {min(times[1:]) / times[0]:.2f} |", flush=True)
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
