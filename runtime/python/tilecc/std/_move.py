"""y = x for arrays of any strides, by the kernel that is best for how they lie: by copy engines (std.copy, std.transpose) where those take them, else by threads (std.odd)."""

import math

from .. import _row_major
from .._arrays import array
from . import _views
from ._views import empty, kernel, part, strides_of, view


def _dims(src, dst):
    """[extent, stride of src, stride of dst], the largest stride of dst first, dimensions that lie together on both sides as one."""
    dims = [list(d) for d in zip(src.shape, strides_of(src), strides_of(dst)) if d[0] != 1]
    dims.sort(key=lambda d: -d[2])
    out = []
    for d in dims:
        if out and out[-1][1] == d[0] * d[1] and out[-1][2] == d[0] * d[2]:
            out[-1] = [out[-1][0] * d[0], d[1], d[2]]
        else:
            out.append(d)
    return out or [[1, 1, 1]]


def _in_lines(dims, size):
    """Few long rows as matrices of their own, so that a tile is a part of one of them."""
    n = _views.columns(dims[-1][0], size)
    few = len(dims) in (2, 3, 4) and dims[-2][0] * n * size < 32768 and dims[-1][0] > n and dims[-1][0] % n == 0
    return [*dims[:-1], [dims[-1][0] // n, n, n], [n, 1, 1]] if few else dims


def even(a, size, row, *strides):
    """Do copy engines take it: an array of elements of that size whose rows have so many, other dimensions these strides."""
    return a.address % 16 == 0 and row * size % 16 == 0 and all(s >= 0 and s * size % 16 == 0 for s in strides)


def whole(x):
    """Is x contiguous, from a multiple of 16 bytes on, and are its rows multiples of 16 bytes: what any kernel takes."""
    a = array(x)
    return len(a.shape) > 0 and _views.is_contiguous(a) and even(a, _views.size_of(x), a.shape[-1])


def even_rows(*xs):
    """Are these matrices what copy engines take, strides and all?"""
    arrays = [array(x) for x in xs]
    return all(strides_of(a)[1] == 1 and even(a, _views.size_of(x), a.shape[1], strides_of(a)[0]) for a, x in zip(arrays, xs))


def lines(x):
    """An array that copy engines take as a matrix of lines of 512 bytes or 256 elements; None where it is no such one."""
    n, a = min(256, 512 // _views.size_of(x)), array(x)
    total = math.prod(x.shape)
    if total % n or a.address % 16 or strides_of(a) != list(_row_major(x.shape)):
        return None
    return view(x, (total // n, n), (n, 1))


# ---- by threads ----


def _is_not_negative(a, what):
    if any(n > 1 and s < 0 for n, s in zip(a.shape, strides_of(a))):
        raise ValueError(f"{what} has a negative stride: pass a copy of it")


def _one_by_one(f, x, y, but=-1):
    """f for each part along the smallest dimension but that one: a tensor of a kernel has no more than five."""
    d = min((i for i, n in enumerate(x.shape) if n > 1 and i != but), key=lambda i: x.shape[i])
    for k in range(x.shape[d]):
        f(x[(slice(None),) * d + (k,)], y[(slice(None),) * d + (k,)], but - (d < but))
    return y


def _pick(x, y, dims):
    """y = x by threads, of which the last dimension lies side by side in y, and not in x: out of whole rows."""
    (m, *_), (n, k, _) = dims[-2:]
    shape, size = [d[0] for d in dims], _views.size_of(x)
    rows = view(x, [*shape[:-1], (n - 1) * k + 1], [*(d[1] for d in dims[:-1]), 1])
    kernel("odd", "pick", T=array(x).dtype, K=k, **_views.odd_tile(n, m, k * size))(rows, view(y, shape, [d[2] for d in dims]))
    return y


def _odd(x, y, dims, beside):
    """y = x by threads. beside: do elements of the last dimension lie side by side in both?"""
    dims, size = [[1, 0, 0]] * (4 - len(dims)) + dims, _views.size_of(x)
    n, k, to = dims[-1]
    if to == 1 and k > 1 and k * size <= 8 and n >= 32:
        return _pick(x, y, dims)
    if not beside and dims[-2][0] > n:  # any order does, and tiles are wide
        dims = [*dims[:-2], dims[-1], dims[-2]]
    tile = (_views.odd_tile if beside else _views.spread_tile)(dims[-1][0], dims[-2][0], size)
    if not beside:
        dims = [*dims, [1, 1, 1]]
    views = [view(a, [d[0] for d in dims], [d[i] for d in dims]) for i, a in ((1, x), (2, y))]
    kernel("odd", "copy" if beside else "spread", T=array(x).dtype, **tile)(*views)
    return y


def _odd_transpose(x, y, dims):
    dims = [[1, 0, 0]] * (3 - len(dims)) + dims
    a, m, n = dims
    size = _views.size_of(x)
    side = max(32 // size, _views.power(max(m[0], n[0]), min(64, 256 // size)))
    from_ = view(x, (a[0], m[0], n[0]), (a[1], m[1], n[1]))
    kernel("odd", "transpose", T=array(x).dtype, S=side)(from_, view(y, (a[0], n[0], m[0]), (a[2], n[2], m[2])))
    return y


def flip(x, y, dim):
    """y = x in the opposite order along dim, by threads."""
    src, dst = array(x), array(y)
    if 0 in src.shape:
        return y
    _is_not_negative(src, "what is read")
    n, s, d = src.shape[dim], strides_of(src)[dim], strides_of(dst)[dim]
    dims = _dims(array(part(x, dim, 0, 1)), array(part(y, dim, 0, 1)))
    if len(dims) > 3:
        return _one_by_one(flip, x, y, dim)
    dims, size = [[1, 0, 0]] * (3 - len(dims)) + dims, _views.size_of(x)
    if dims[-1][1:] == [1, 1] and dims[-1][0] * size >= 128:
        dims, name, tile = [[n, s, d], *dims], "flip", _views.odd_tile(dims[-1][0], dims[-2][0], size)
    else:
        tile = _views.odd_tile(n, dims[-1][0], size, 4)
        dims, name = [*dims, [n, s, d], [1, 1, 1]], "reverse"
    views = [view(a, [d[0] for d in dims], [d[i] for d in dims]) for i, a in ((1, x), (2, y))]
    kernel("odd", name, T=src.dtype, **tile)(*views)
    return y


# ---- any ----


def move(x, y, src=None, dst=None):
    """y = x, of the same shape, whatever their strides: a copy, or a transpose where their innermost dimensions differ; by threads where copy engines don't take them.
    src, dst: their Arrays, of who has asked before."""
    src, dst = src or array(x), dst or array(y)
    if src.dtype != dst.dtype:
        raise TypeError(f"elements of {src.dtype} do not become {dst.dtype}: tilecc.std.convert does that")
    if 0 in src.shape:
        return y
    _is_not_negative(src, "what is read")
    _is_not_negative(dst, "out")
    dims = _dims(src, dst)
    rows = [i for i, d in enumerate(dims) if d[1] == 1]
    columns = [i for i, d in enumerate(dims) if d[2] == 1]
    j, k, size = rows[-1] if rows else None, columns[-1] if columns else None, _views.size_of(x)
    by_engine = None not in (j, k)
    if by_engine:
        dims = [d for i, d in enumerate(dims) if i not in (j, k)] + ([dims[k]] if j != k else []) + [dims[j]]
        by_engine = even(src, size, dims[-1][0], *(d[1] for d in dims[:-1])) and even(dst, size, dims[-1 if j == k else -2][0], *(d[2] for d in dims if d[2] != 1))
    if len(dims) > (5 if by_engine else 4):
        return _one_by_one(lambda a, b, _: move(a, b), x, y)
    if not by_engine:
        square = None not in (j, k) and j != k and len(dims) <= 3 and min(dims[-1][0], dims[-2][0]) > 4  # of fewer little of a tile is used
        return _odd_transpose(x, y, dims) if square else _odd(x, y, dims, j is not None and j == k)
    if j == k:
        dims = _in_lines(dims, size)
    from_ = view(x, [d[0] for d in dims], [d[1] for d in dims])
    to = dims if j == k else [*dims[:-2], dims[-1], dims[-2]]
    to = view(y, [d[0] for d in to], [d[2] for d in to])
    if j == k:
        tile = {}
        if len(dims) > 1:
            n = _views.columns(dims[-1][0], size)
            m = [_views.power(dims[-2][0], min(256, b // size // n)) for b in (32768, 4096, 2048)]
            tile = {"BN": n, "BM": "|".join(map(str, m))}
        kernel("copy", f"copy{len(dims)}", T=src.dtype, **tile)(from_, to)
    else:
        kernel("transpose", f"transpose{len(dims)}", T=src.dtype)(from_, to)
    return y


# ---- what makes arrays that kernels take ----


def side_by_side(x):
    """x, or a copy of it where elements of its last dimension do not lie side by side."""
    a = array(x)
    _is_not_negative(a, "what is read")
    return x if not x.shape or strides_of(a)[-1] == 1 or x.shape[-1] == 1 else move(x, empty(x, x.shape))


def packed(x):
    """x, or a copy of it that is contiguous, from a multiple of 16 bytes on."""
    a = array(x)
    return x if _views.is_contiguous(a) and a.address % 16 == 0 else move(x, empty(x, x.shape))


def padded_row(n, *sizes):
    """The elements of a row of n or more that is a multiple of 16 bytes, of elements of all these sizes."""
    unit = max(16 // s for s in sizes)
    return -(-n // unit) * unit


def padded(x, row):
    """x as copy engines take it with rows of so many: x itself, or a copy; what lies behind its own rows is nobody's business."""
    if row == x.shape[-1] and whole(x):
        return x
    y = empty(x, (*x.shape[:-1], row))
    move(x, y[..., : x.shape[-1]])
    return y


def unwritten(out, row):
    """What a kernel writes with rows of so many, to be unpadded: out itself, or an array like it."""
    return out if row == out.shape[-1] and whole(out) else empty(out, (*out.shape[:-1], row))


def unpadded(y, out):
    """out = the rows of y as far as its own go, or y itself if it is out."""
    return out if y is out else move(y[..., : out.shape[-1]], out)
