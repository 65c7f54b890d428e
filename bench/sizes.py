#!/usr/bin/env python3
"""What a movement costs by its size: microseconds per kernel in a CUDA graph of 20 launches, and in a stream.

    python3 bench/sizes.py BIN LIB [movement..]

BIN: the folder of `tilecc`, LIB: that of libtile. Needs a GPU and PyTorch. A row is a movement of a size; the columns are schedules of ours (launched one
after the other, and dependent: `--dependent-launch`), PyTorch's own operation, and the driver's copy of as many bytes. Buffers are the same for all
launches of a row, so small ones stay in the L2, for all alike. Each number is the median of 30 graphs of 20 launches.
"""
import ctypes
import os
import statistics
import subprocess
import sys
import tempfile

import torch

LAUNCHES, GRAPHS = 20, 30
TYPES = {torch.bfloat16: b"bf16", torch.float32: b"f32", torch.int32: b"s32"}

COPY = """
kernel both<BM = 64 | 8>(src: global bf16[M, N], dst: global bf16[M, N]) {
    pipeline (i, j) in (ceil(M, BM), ceil(N, 256)) across grid { shared t: bf16[BM, 256]; move src[i * BM, j * 256] -> t; move t -> dst[i * BM, j * 256]; }
}
kernel tickets(src: global bf16[M, N], dst: global bf16[M, N]) {
    pipeline (i, j) in (ceil(M, 64), ceil(N, 256)) across grid { shared t: bf16[64, 256]; move src[i * 64, j * 256] -> t; move t -> dst[i * 64, j * 256]; }
}
kernel static(src: global bf16[M, N], dst: global bf16[M, N]) {
    pipeline (i, j) in (ceil(M, 64), ceil(N, 256)) across grid by static { shared t: bf16[64, 256]; move src[i * 64, j * 256] -> t; move t -> dst[i * 64, j * 256]; }
}
kernel rows8(src: global bf16[M, N], dst: global bf16[M, N]) grid (ceil(N, 256), ceil(M, 8)) {
    shared t: bf16[8, 256]; move src[cta.y * 8, cta.x * 256] -> t; move t -> dst[cta.y * 8, cta.x * 256];
}
kernel row1(src: global bf16[M, N], dst: global bf16[M, N]) grid (ceil(N, 2048), M) {
    shared t: bf16[2048]; move src[cta.y, cta.x * 2048 +: 2048] -> t via bulk; move t -> dst[cta.y, cta.x * 2048 +: 2048] via bulk;
}
"""
TRANSPOSE = """
kernel both<B = 128 | 64>(src: global bf16[M, N], dst: global bf16[N, M]) {
    pipeline (i, j) in (ceil(M, B), ceil(N, B)) across grid { shared a: bf16[B, B] swizzle 128; shared b: bf16[B, B] swizzle 128;
        move src[i * B, j * B] -> a; move a -> b transpose via threads; move b -> dst[j * B, i * B]; }
}
kernel tickets<B = 128>(src: global bf16[M, N], dst: global bf16[N, M]) {
    pipeline (i, j) in (ceil(M, B), ceil(N, B)) across grid { shared a: bf16[B, B] swizzle 128; shared b: bf16[B, B] swizzle 128;
        move src[i * B, j * B] -> a; move a -> b transpose via threads; move b -> dst[j * B, i * B]; }
}
kernel tile64(src: global bf16[M, N], dst: global bf16[N, M]) grid (ceil(N, 64), ceil(M, 64)) {
    shared a: bf16[64, 64] swizzle 128; shared b: bf16[64, 64] swizzle 128;
    move src[cta.y * 64, cta.x * 64] -> a; move a -> b transpose via threads; move b -> dst[cta.x * 64, cta.y * 64];
}
"""
GATHER = """
kernel both<P = 1 | 2>(src: global bf16[V, D], idx: global s32[R], dst: global bf16[R, D]) where D == 4096 {
    pipeline r in R across grid { shared row: bf16[4096]; move src[idx[r], :] -> row via bulk; move row -> dst[r, :] via bulk; }
}
kernel tickets(src: global bf16[V, D], idx: global s32[R], dst: global bf16[R, D]) where D == 4096 {
    pipeline r in R across grid { shared row: bf16[4096]; move src[idx[r], :] -> row via bulk; move row -> dst[r, :] via bulk; }
}
kernel one(src: global bf16[V, D], idx: global s32[R], dst: global bf16[R, D]) grid (R) where D == 4096 {
    shared row: bf16[4096]; move src[idx[cta.x], :] -> row via bulk; move row -> dst[cta.x, :] via bulk;
}
"""


class Facts(ctypes.Structure):
    _fields_ = [("status", ctypes.c_int), ("text", ctypes.c_char * 4096)]


class Library:
    def __init__(self, bin_, lib):
        self.tilecc = os.path.join(bin_, "tilecc")
        self.tile = ctypes.CDLL(os.path.join(lib, "libtile.so.0"))
        self.error = ctypes.create_string_buffer(1 << 16)
        self.device = ctypes.c_void_p()
        self.tile.tile_kernel_find.restype = ctypes.c_void_p
        self.tile.tile_kernel_find.argtypes = [ctypes.c_void_p, ctypes.c_char_p]
        self.call("tile_device_open", b"cuda", ctypes.byref(self.device))

    def call(self, name, *arguments):
        if getattr(self.tile, name)(*arguments, self.error) != 0:
            raise SystemExit(f"{name}: {self.error.raw[:600]}")

    def module(self, text, dependent):
        with tempfile.TemporaryDirectory() as folder:
            source, cubin = os.path.join(folder, "x.tile"), os.path.join(folder, "x.cubin")
            with open(source, "w") as f:
                f.write(text)
            subprocess.run([self.tilecc, "-Wno-performance", f"--dependent-launch={dependent}", source, "-o", cubin], check=True)
            module = ctypes.c_void_p()
            self.call("tile_module_load_file", self.device, cubin.encode(), ctypes.byref(module))
        return module

    def kernel(self, module, name, tensors):
        args = ctypes.c_void_p()
        self.call("tile_args_new", ctypes.c_void_p(self.tile.tile_kernel_find(module, name)), ctypes.byref(args))
        for key, x in tensors.items():
            shape = (ctypes.c_int64 * x.dim())(*x.shape)
            kind = ctypes.c_int()
            self.tile.tile_type_find(TYPES[x.dtype], ctypes.byref(kind))
            self.call("tile_bind", args, key.encode(), ctypes.c_uint64(x.data_ptr()), ctypes.c_size_t(x.nbytes), kind, x.dim(), shape, None)

        def launch():
            self.call("tile_launch", args, ctypes.c_void_p(torch.cuda.current_stream().cuda_stream))

        return launch


def graph_us(launch):
    side = torch.cuda.Stream()
    with torch.cuda.stream(side):
        launch()
    side.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph, stream=side):
        for _ in range(LAUNCHES):
            launch()
    times = []
    for i in range(GRAPHS + 5):
        start, stop = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        start.record()
        graph.replay()
        stop.record()
        stop.synchronize()
        if i >= 5:
            times.append(start.elapsed_time(stop) * 1e3 / LAUNCHES)
    return statistics.median(times)


def matrix(*shape):
    return torch.randint(-1000, 1000, shape, device="cuda").to(torch.bfloat16)


def movements():
    for m, n in ((64, 32), (64, 256), (256, 1024), (1024, 1024), (2048, 4096), (4096, 8192), (16384, 8192)):
        src = matrix(m, n)
        dst = torch.empty_like(src)
        yield "copy", f"{m} x {n}", COPY, {"src": src, "dst": dst}, lambda s=src, d=dst: d.copy_(s), lambda s=src: s, src.nbytes
    for m, n in ((64, 256), (1024, 1024), (2048, 4096), (8192, 8192)):
        src = matrix(m, n)
        dst = torch.empty(n, m, dtype=src.dtype, device="cuda")
        yield "transpose", f"{m} x {n}", TRANSPOSE, {"src": src, "dst": dst}, lambda s=src, d=dst: d.copy_(s.t()), lambda s=src: s.t(), src.nbytes
    for rows in (32, 256, 2048, 16384):
        src, idx = matrix(16384, 4096), torch.randint(0, 16384, (rows,), dtype=torch.int32, device="cuda")
        dst = torch.empty(rows, 4096, dtype=src.dtype, device="cuda")
        yield ("gather", f"{rows} rows", GATHER, {"src": src, "idx": idx, "dst": dst},
               lambda s=src, i=idx, d=dst: torch.index_select(s, 0, i, out=d), lambda s=src, i=idx: s[i.long()], dst.nbytes)


def main():
    library, wanted = Library(sys.argv[1], sys.argv[2]), sys.argv[3:]
    modules = {}
    for name, size, text, tensors, peer, want, nbytes in movements():
        if wanted and name not in wanted:
            continue
        cells = []
        kernels = [line.split("(")[0].split("<")[0].split()[1] for line in text.splitlines() if line.startswith("kernel")]
        for kernel in kernels:
            for dependent in ("off", "on"):
                if (text, dependent) not in modules:
                    modules[text, dependent] = library.module(text, dependent)
                launch = library.kernel(modules[text, dependent], kernel.encode(), tensors)
                tensors["dst"].zero_()
                try:
                    launch()
                except SystemExit:  # it does not take this size
                    cells.append("-")
                    continue
                us = graph_us(launch)
                right = torch.equal(tensors["dst"], want())
                cells.append(f"{us:.2f}{'' if right else ' WRONG'}")
        a = torch.empty(nbytes, dtype=torch.uint8, device="cuda")
        b = torch.empty_like(a)
        cells += [f"{graph_us(peer):.2f}", f"{graph_us(lambda: b.copy_(a)):.2f}"]
        print(f"| {name} {size} | " + " | ".join(f"{k} {x}" for k, x in zip([f"{k}{d}" for k in kernels for d in ("", "+")] + ["torch", "memcpy"], cells)) + " |", flush=True)


main()
