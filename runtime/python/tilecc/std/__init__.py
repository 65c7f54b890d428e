"""The kernels of the built-in library as functions of arrays of PyTorch, NumPy or CuPy: y = tilecc.std.permute(x, (0, 2, 1)).

What is returned is made by the package of the first array, on its device, unless `out` is given. Movements take elements of any type of 1, 2, 4 or 8
bytes, rows of any length, any addresses and strides but negative ones: by copy engines where those take them (addresses, strides and rows are multiples
of 16 bytes), else by threads (std.odd), in two or three launches where parts are moved by themselves. What sums takes rows that are no such multiples
by way of copies that are. What can't be comes as ValueError or TypeError, or as tilecc.LaunchError with the text of the launch check."""

from .._functions import public as _public
from ._conv import col2im, im2col
from ._copies import concat, convert, copy, fill, permute, split, transpose
from ._heads import merge_heads, merge_qkv, split_heads, split_qkv
from ._images import halo, halo_nhwc, pad_nhwc
from ._matrices import broadcast, deinterleave, flip, interleave, pad, roll, slide
from ._rows import combine, dispatch, embedding_gradient, gather, pack, pages_append, pages_gather, ragged_copy, scatter, scatter_add, unpack, unpermute
from ._sums import accumulate, all_gather, all_to_all, reduce_scatter, ring, split_k

__all__ = [
    "accumulate", "all_gather", "all_to_all", "broadcast", "col2im", "combine", "concat", "convert", "copy", "deinterleave", "dispatch", "embedding_gradient", "fill", "flip", "gather", "halo", "halo_nhwc",
    "im2col", "interleave", "merge_heads", "merge_qkv", "pack", "pad", "pad_nhwc", "pages_append", "pages_gather", "permute", "ragged_copy", "reduce_scatter", "ring", "roll", "scatter",
    "scatter_add", "slide", "split", "split_heads", "split_k", "split_qkv", "transpose", "unpack", "unpermute",
]

for _name in __all__:
    globals()[_name].__module__ = __name__
    globals()[_name] = _public(globals()[_name])
