"""The kernels of the built-in library as functions of arrays of PyTorch, NumPy or CuPy: y = tilecc.std.permute(x, (0, 2, 1)).

What is returned is made by the package of the first array, on its device, unless `out` is given. Movements take elements of any type of 1, 2, 4 or 8
bytes. Rows, strides and addresses are multiples of 16 bytes: what is not comes as tilecc.LaunchError, with the text of the launch check."""

import sys

from . import load
from ._arrays import array
from ._functions import public

__all__ = [
    "combine", "concat", "convert", "copy", "flip", "gather", "pack", "pad", "pages_append", "pages_gather", "permute", "roll", "scatter",
    "scatter_add", "transpose", "unpack",
]

_kernels = {}


def _kernel(module, name, **types):
    """The kernel with these element types; compiled once for each."""
    types = {t: v if isinstance(v, str) else int(v) for t, v in types.items()}  # sizes may be symbols of torch.compile
    key = (module, name, *types.values())
    k = _kernels.get(key)
    if k is None:
        k = _kernels[key] = getattr(load(f"std.{module}", kernel=name, **{f"{name}.{t}": v for t, v in types.items()}), name)
    return k


# ---- arrays ----


def _package(x):
    return sys.modules[type(x).__module__.partition(".")[0]]


def _is_torch(x):
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(x, torch.Tensor)


def _empty(like, shape, dtype=None, zero=False):
    make = getattr(_package(like), "zeros" if zero else "empty")
    more = {"device": like.device} if _is_torch(like) else {}
    return make(tuple(shape), dtype=dtype or like.dtype, **more)


def _view(x, shape, strides):
    """The same memory from its first element on; strides in elements."""
    if _is_torch(x):
        return x.as_strided(shape, strides)
    tricks = _package(x).lib.stride_tricks
    return tricks.as_strided(x, shape, [s * x.itemsize for s in strides])


def _strides(a):
    if a.strides is not None:
        return list(a.strides)
    strides, n = [], 1
    for extent in reversed(a.shape):
        strides.insert(0, n)
        n *= extent
    return strides


# ---- copies and permutations ----


def _dims(src, dst):
    """[extent, stride of src, stride of dst], the largest stride of dst first, dimensions that lie together on both sides as one."""
    dims = [list(d) for d in zip(src.shape, _strides(src), _strides(dst)) if d[0] != 1]
    dims.sort(key=lambda d: -d[2])
    out = []
    for d in dims:
        if out and out[-1][1] == d[0] * d[1] and out[-1][2] == d[0] * d[2]:
            out[-1] = [out[-1][0] * d[0], d[1], d[2]]
        else:
            out.append(d)
    return out or [[1, 1, 1]]


def _move(x, y):
    """y = x, of the same shape, whatever their strides: a copy, or a transpose where their innermost dimensions differ."""
    src, dst = array(x), array(y)
    if src.dtype != dst.dtype:
        raise TypeError(f"elements of {src.dtype} do not become {dst.dtype}: tilecc.std.convert does that")
    if 0 in src.shape:
        return y
    dims = _dims(src, dst)
    rows = [i for i, d in enumerate(dims) if d[1] == 1]
    columns = [i for i, d in enumerate(dims) if d[2] == 1]
    if not rows or not columns:
        raise ValueError("an array without an innermost stride of 1, which no copy engine takes")
    j, k = rows[-1], columns[-1]
    dims = [d for i, d in enumerate(dims) if i not in (j, k)] + ([dims[k]] if j != k else []) + [dims[j]]
    if len(dims) > 5:
        raise ValueError(f"{len(dims)} dimensions that do not lie together; at most 5 do")
    from_ = _view(x, [d[0] for d in dims], [d[1] for d in dims])
    to = dims if j == k else [*dims[:-2], dims[-1], dims[-2]]
    to = _view(y, [d[0] for d in to], [d[2] for d in to])
    if j == k:
        _kernel("copy", f"copy{len(dims)}", T=src.dtype)(from_, to)
    else:
        _kernel("transpose", f"transpose{len(dims)}", T=src.dtype)(from_, to)
    return y


def copy(x, out=None):
    """A copy, contiguous unless `out` says otherwise."""
    return _move(x, _empty(x, x.shape) if out is None else _same(out, x.shape))


def _same(out, shape):
    if tuple(out.shape) != tuple(shape):
        raise ValueError(f"out has shape {tuple(out.shape)}, wanted is {tuple(shape)}")
    return out


def permute(x, dims, out=None):
    """out[i, j, ..] = x with its dimensions in the order dims, contiguous: x.permute(dims).contiguous()."""
    if sorted(d % len(x.shape) for d in dims) != list(range(len(x.shape))):
        raise ValueError(f"dims {tuple(dims)} are no permutation of {len(x.shape)} dimensions")
    turned = x.permute(*dims) if _is_torch(x) else x.transpose(dims)
    return _move(turned, _empty(x, turned.shape) if out is None else _same(out, turned.shape))


def transpose(x, out=None):
    """The last two dimensions exchanged."""
    n = len(x.shape)
    if n < 2:
        raise ValueError("a transpose takes two dimensions or more")
    return permute(x, (*range(n - 2), n - 1, n - 2), out)


def concat(xs, dim=0, out=None):
    """One behind another along dim."""
    xs = list(xs)
    if not xs:
        raise ValueError("nothing to concatenate")
    shape = list(xs[0].shape)
    dim %= len(shape)
    for x in xs[1:]:
        if len(x.shape) != len(shape) or any(a != b for i, (a, b) in enumerate(zip(x.shape, shape)) if i != dim):
            raise ValueError(f"shapes {tuple(xs[0].shape)} and {tuple(x.shape)} differ elsewhere than in dimension {dim}")
    shape[dim] = sum(x.shape[dim] for x in xs)
    out = _empty(xs[0], shape) if out is None else _same(out, shape)
    at = 0
    for x in xs:
        _move(x, out[(slice(None),) * dim + (slice(at, at + x.shape[dim]),)])
        at += x.shape[dim]
    return out


def pad(x, top=0, bottom=0, left=0, right=0):
    """A matrix with rows and columns of zeros around it; negative numbers cut them off. left is a multiple of 16 bytes."""
    m, n = x.shape
    y = _empty(x, (m + top + bottom, n + left + right))
    if 0 not in y.shape:
        _kernel("copy", "pad", T=array(x).dtype)(x, y, top, left)
    return y


def convert(x, dtype, saturate=False):
    """x in another number type of its package, rounded once, to nearest. An array of up to 2 dimensions."""
    y = _empty(x, x.shape, dtype)
    a, b = array(x), array(y)
    if len(x.shape) > 2:
        raise ValueError("an array of more than 2 dimensions: reshape it")
    flat = len(x.shape) < 2
    k = _kernel("convert", "saturate" if saturate else "convert", T=a.dtype, U=b.dtype)
    if 0 not in x.shape:
        k(x[None] if flat else x, y[None] if flat else y)
    return y


# ---- rows ----


def _rows(x):
    if len(x.shape) != 2:
        raise ValueError(f"a matrix is wanted, this has {len(x.shape)} dimensions")
    return array(x).dtype


def gather(table, idx, out=None):
    """out[r, :] = table[idx[r], :]; a number outside of the table gives zeros."""
    k = _kernel("rows", "gather", T=_rows(table), I=array(idx).dtype)
    out = _empty(table, (idx.shape[0], table.shape[1])) if out is None else out
    if 0 not in out.shape:
        k(table, idx, out)
    return out


def scatter(x, idx, out):
    """out[idx[r], :] = x[r, :]; the numbers are all different, those outside are left out. Returns out."""
    if 0 not in x.shape:
        _kernel("rows", "scatter", T=_rows(x), I=array(idx).dtype)(x, idx, out)
    return out


def scatter_add(x, idx, out):
    """out[idx[r], :] += x[r, :]; types that the copy engine adds: u32, s32, u64, f16, bf16, f32, f64. Returns out."""
    if 0 not in x.shape:
        _kernel("rows", "scatter_add", T=_rows(x), I=array(idx).dtype)(x, idx, out)
    return out


def combine(x, idx, out):
    """out[idx[r], :] += x[r, :], out of f32, x of another number type. Returns out."""
    if 0 not in x.shape:
        _kernel("rows", "combine", T=_rows(x), I=array(idx).dtype)(x, idx, out)
    return out


def roll(x, shift):
    """out[(r + shift) mod R, :] = x[r, :]."""
    y = _empty(x, x.shape)
    k = _kernel("rows", "roll", T=_rows(x))
    if 0 not in x.shape:
        k(x, y, -shift % x.shape[0])
    return y


def flip(x):
    """The rows in the opposite order."""
    y = _empty(x, x.shape)
    k = _kernel("rows", "flip", T=_rows(x))
    if 0 not in x.shape:
        k(x, y)
    return y


# ---- ragged groups, pages ----


def unpack(x, offs, rows):
    """out[g, i, :] = x[offs[g] + i, :] for i below `rows`, zeros behind a group's end; offs has a number more than there are groups."""
    y = _empty(x, (offs.shape[0] - 1, rows, x.shape[1]))
    k = _kernel("ragged", "unpack", T=_rows(x), I=array(offs).dtype)
    if 0 not in y.shape:
        k(x, offs, y)
    return y


def pack(x, offs, rows):
    """out[offs[g] + i, :] = x[g, i, :] for the rows that group g has; out has `rows` rows, those of no group are zeros."""
    y = _empty(x, (rows, x.shape[2]), zero=True)
    if 0 not in y.shape and 0 not in x.shape:
        _kernel("ragged", "pack", T=array(x).dtype, I=array(offs).dtype)(x, offs, y)
    return y


def pages_gather(cache, table, rows):
    """out[t, :] = cache[table[t // P], t % P, :] for t below `rows`; cache has pages of P rows, a page -1 gives zeros."""
    y = _empty(cache, (rows, cache.shape[2]))
    if 0 not in y.shape:
        _kernel("pages", "gather", T=array(cache).dtype, I=array(table).dtype)(cache, table, y)
    return y


def pages_append(x, slot, cache):
    """cache[slot[t] // P, slot[t] % P, :] = x[t, :]; slots are all different, -1 is left out. Returns cache."""
    if 0 not in x.shape:
        _kernel("pages", "append", T=_rows(x), I=array(slot).dtype)(x, slot, cache)
    return cache


for _name in __all__:
    globals()[_name] = public(globals()[_name])
