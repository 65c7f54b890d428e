"""Calls the kernel `copy` of @NAME@.tile: on a GPU where PyTorch has one, else with NumPy on the simulator."""
import os

import tilecc

kernels = tilecc.load(os.path.join(os.path.dirname(os.path.abspath(__file__)), "@NAME@.tile"))
try:
    import torch
    gpu = torch.cuda.is_available()
except ImportError:
    gpu = False

if gpu:
    src = torch.arange(100 * 136, dtype=torch.float32, device="cuda").reshape(100, 136)
    dst = torch.empty_like(src)
    kernels.copy(src, dst)
    same = torch.equal(src, dst)
else:
    import numpy
    src = numpy.arange(100 * 136, dtype=numpy.float32).reshape(100, 136)
    dst = numpy.empty_like(src)
    kernels.copy(src, dst)
    same = numpy.array_equal(src, dst)
print("the same" if same else "different", "on", "a GPU" if gpu else "the simulator")
raise SystemExit(not same)
