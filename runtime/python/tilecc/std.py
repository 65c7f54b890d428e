"""The kernels of the built-in library as functions of arrays of PyTorch, NumPy or CuPy: y = tilecc.std.permute(x, (0, 2, 1)).

What is returned is made by the package of the first array, on its device, unless `out` is given. Movements take elements of any type of 1, 2, 4 or 8
bytes. Copies and permutations, concatenations, splits, conversions and gathers take any rows, addresses and strides (but negative ones), by threads where copy engines don't (std.odd);
of others they are multiples of 16 bytes: what is not comes as tilecc.LaunchError, with the text of the launch check."""

import math
import struct
import sys

from . import _row_major, load
from ._arrays import array, package
from ._functions import public
from ._remember import made

__all__ = [
    "accumulate", "all_gather", "all_to_all", "broadcast", "col2im", "combine", "concat", "convert", "copy", "deinterleave", "embedding_gradient", "fill", "flip", "gather", "halo", "halo_nhwc",
    "im2col", "interleave", "merge_heads", "merge_qkv", "pack", "pad", "pad_nhwc", "pages_append", "pages_gather", "permute", "ragged_copy", "reduce_scatter", "ring", "roll", "scatter",
    "scatter_add", "slide", "split", "split_heads", "split_k", "split_qkv", "transpose", "unpack", "unpermute",
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
    name = package(x)
    if name == "jax":
        raise TypeError("an array of JAX, which has no views: tilecc.load has the kernels of the library, too")
    return sys.modules[name]


def _is_torch(x):
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(x, torch.Tensor)


def _empty(like, shape, dtype=None, zero=False):
    make, shape, more = getattr(_package(like), "zeros" if zero else "empty"), tuple(shape), {"dtype": dtype or like.dtype}
    if _is_torch(like):
        more["device"] = like.device
    x = make(shape, **more)
    made(make, shape, more, x)
    return x


def _view(x, shape, strides):
    """The same memory from its first element on; strides in elements."""
    if _is_torch(x):
        return x.as_strided(shape, strides)
    tricks = _package(x).lib.stride_tricks
    return tricks.as_strided(x, shape, [s * x.itemsize for s in strides])


def _strides(a):
    return list(a.strides or _row_major(a.shape))


def _shaped(x, rank, what):
    """The element type of x, which has this many dimensions."""
    if len(x.shape) != rank:
        raise ValueError(f"{what} is wanted, this has {len(x.shape)} dimensions")
    return array(x).dtype


def _rows(x):
    return _shaped(x, 2, "a matrix")


def _same(out, shape):
    if tuple(out.shape) != tuple(shape):
        raise ValueError(f"out has shape {tuple(out.shape)}, wanted is {tuple(shape)}")
    return out


def _size(x):
    return x.element_size() if _is_torch(x) else x.itemsize


def _row_part(x, halves=True):
    """Elements of a row that are moved at a time, in large launches | in small ones: 8 KB at most, and of shorter rows the next power of two, so that
    several rows go together. halves: whether small launches win by two teams for 8 KB."""
    part = 8192 // _size(x)
    while part // 2 >= max(x.shape[-1], 256 // _size(x)):
        part //= 2
    return f"{part}|{part // 2 if halves and part == 8192 // _size(x) else part}"


def _columns(n, size):
    """Columns of a tile: rows of 512 bytes at most and 256 elements, of shorter ones the next power of two."""
    part = min(256, 512 // size)
    while part // 2 >= max(n, 16 // size):
        part //= 2
    return part


def _fitting(n, most):
    """The side of tiles, at most that, which cover n with little beyond it and with few tiles."""
    return min(range(1, most + 1), key=lambda b: -(-n // b) * (b + 1))


def _numbers(x, shape, what):
    """The type of integers that say where rows go or come from."""
    shape = tuple(shape) or (1,)
    if tuple(x.shape) != shape:
        raise ValueError(f"{what} has shape {tuple(x.shape)}, wanted is {shape}")
    t = array(x).dtype
    if t[0] not in "us" or _is_bool(x):
        raise TypeError(f"{what} has elements of {x.dtype}, wanted are integers")
    return t


def _bits(x):
    """The same elements as integers of their size: what only moves may be of any type."""
    n = 8 * _size(x)
    name = "uint8" if n == 8 else f"int{n}"
    return x.view(getattr(_package(x), name))


def _launch(k, *arguments):
    """Nothing is moved, and nothing launched, where an array has no elements."""
    if all(0 not in x.shape for x in arguments if hasattr(x, "shape")):
        k(*arguments)


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


def _in_lines(dims, size):
    """Few long rows as matrices of their own, so that a tile is a part of one of them."""
    n = _columns(dims[-1][0], size)
    few = len(dims) in (2, 3, 4) and dims[-2][0] * n * size < 32768 and dims[-1][0] > n and dims[-1][0] % n == 0
    return [*dims[:-1], [dims[-1][0] // n, n, n], [n, 1, 1]] if few else dims


def _lines(x):
    """A contiguous array as a matrix of lines of 512 bytes or 256 elements; None where it is no such one."""
    n = min(256, 512 // _size(x))
    total = math.prod(x.shape)
    if total % n or _strides(array(x)) != list(_row_major(x.shape)):
        return None
    return _view(x, (total // n, n), (n, 1))


def _even(a, size, row, *strides):
    """Do copy engines take it: an array of elements of that size whose rows have so many, other dimensions these strides."""
    return a.address % 16 == 0 and row * size % 16 == 0 and all(s * size % 16 == 0 for s in strides)


def _tile(columns, rows, size):
    """Columns and rows of the tiles of std.odd: 8 KB at most."""
    n = 32
    while n < columns and n < 2048 // size:
        n *= 2
    return {"BN": n, "BM": min(8192 // size // n, 1 << max(int(rows) - 1, 0).bit_length())}


def _odd_move(x, y, dims, beside):
    """y = x by threads. beside: do elements of the last dimension lie side by side in both?"""
    if len(dims) > 4:
        raise ValueError(f"{len(dims)} dimensions that do not lie together and are no multiples of 16 bytes, or not side by side; at most 4 do")
    dims = [[1, 0, 0]] * (4 - len(dims)) + dims
    if not beside and dims[-2][0] > dims[-1][0]:  # any order does, and tiles are wide
        dims = [*dims[:-2], dims[-1], dims[-2]]
    part = _tile(dims[-1][0], dims[-2][0], _size(x))
    if not beside:
        dims = [*dims, [1, 1, 1]]
    views = [_view(a, [d[0] for d in dims], [d[i] for d in dims]) for i, a in ((1, x), (2, y))]
    _kernel("odd", "copy" if beside else "spread", T=array(x).dtype, **part)(*views)
    return y


def _odd_transpose(x, y, dims):
    dims = [[1, 0, 0]] * (3 - len(dims)) + dims
    a, m, n = dims
    side, size = min(64, 256 // _size(x)), _size(x)
    while side // 2 >= max(m[0], n[0], 32 // size):
        side //= 2
    from_ = _view(x, (a[0], m[0], n[0]), (a[1], m[1], n[1]))
    _kernel("odd", "transpose", T=array(x).dtype, S=side)(from_, _view(y, (a[0], n[0], m[0]), (a[2], n[2], m[2])))
    return y


def _move(x, y):
    """y = x, of the same shape, whatever their strides: a copy, or a transpose where their innermost dimensions differ; by threads where copy engines don't take them."""
    src, dst = array(x), array(y)
    if src.dtype != dst.dtype:
        raise TypeError(f"elements of {src.dtype} do not become {dst.dtype}: tilecc.std.convert does that")
    if 0 in src.shape:
        return y
    for a, what in ((src, "what is read"), (dst, "out")):
        if any(n > 1 and s < 0 for n, s in zip(a.shape, _strides(a))):
            raise ValueError(f"{what} has a negative stride: pass a copy of it")
    dims = _dims(src, dst)
    rows = [i for i, d in enumerate(dims) if d[1] == 1]
    columns = [i for i, d in enumerate(dims) if d[2] == 1]
    if not rows or not columns:
        return _odd_move(x, y, dims, False)
    j, k = rows[-1], columns[-1]
    dims = [d for i, d in enumerate(dims) if i not in (j, k)] + ([dims[k]] if j != k else []) + [dims[j]]
    size = _size(x)
    if not _even(src, size, dims[-1][0], *(d[1] for d in dims[:-1])) or not _even(dst, size, dims[-1 if j == k else -2][0], *(d[2] for d in dims if d[2] != 1)):
        square = j != k and len(dims) <= 3 and min(dims[-1][0], dims[-2][0]) > 4  # of fewer little of a tile is used
        return _odd_transpose(x, y, dims) if square else _odd_move(x, y, dims, j == k)
    if j == k:
        dims = _in_lines(dims, size)
    if len(dims) > 5:
        raise ValueError(f"{len(dims)} dimensions that do not lie together; at most 5 do")
    from_ = _view(x, [d[0] for d in dims], [d[1] for d in dims])
    to = dims if j == k else [*dims[:-2], dims[-1], dims[-2]]
    to = _view(y, [d[0] for d in to], [d[2] for d in to])
    if j == k:
        part = {}
        if len(dims) > 1:
            n = _columns(dims[-1][0], _size(x))
            m = [min(256, b // _size(x) // n, 1 << (dims[-2][0] - 1).bit_length()) for b in (32768, 4096, 2048)]
            part = {"BN": n, "BM": "|".join(map(str, m))}
        _kernel("copy", f"copy{len(dims)}", T=src.dtype, **part)(from_, to)
    else:
        _kernel("transpose", f"transpose{len(dims)}", T=src.dtype)(from_, to)
    return y


def copy(x, out=None):
    """A copy, contiguous unless `out` says otherwise."""
    return _move(x, _empty(x, x.shape) if out is None else _same(out, x.shape))


def _dimension(dim, rank):
    if not hasattr(dim, "__index__"):
        raise TypeError(f"a dimension is an integer, not {dim!r}")
    if not -rank <= dim < rank:
        raise ValueError(f"there is no dimension {dim} of {rank}")
    return dim % rank


def permute(x, dims, out=None):
    """out[i, j, ..] = x with its dimensions in the order dims, contiguous: x.permute(dims).contiguous()."""
    if sorted(_dimension(d, len(x.shape)) for d in dims) != list(range(len(x.shape))):
        raise ValueError(f"dims {tuple(dims)} are no permutation of {len(x.shape)} dimensions")
    turned = x.permute(*dims) if _is_torch(x) else x.transpose(dims)
    return _move(turned, _empty(x, turned.shape) if out is None else _same(out, turned.shape))


def transpose(x, out=None):
    """The last two dimensions exchanged."""
    n = len(x.shape)
    if n < 2:
        raise ValueError("a transpose takes two dimensions or more")
    return permute(x, (*range(n - 2), n - 1, n - 2), out)


def _ends(x):
    """Where the memory of x begins and ends; what stands for another tensor lies nowhere."""
    a = array(x)
    size = _size(x) * (1 + sum((n - 1) * s for n, s in zip(a.shape, _strides(a))))
    return (a.address, a.address + size) if a.address and 0 not in a.shape else (0, 0)


def concat(xs, dim=0, out=None):
    """One behind another along dim."""
    xs = list(xs)
    if not xs:
        raise ValueError("nothing to concatenate")
    shape = list(xs[0].shape)
    dim = _dimension(dim, len(shape))
    for x in xs[1:]:
        if len(x.shape) != len(shape) or any(a != b for i, (a, b) in enumerate(zip(x.shape, shape)) if i != dim):
            raise ValueError(f"shapes {tuple(xs[0].shape)} and {tuple(x.shape)} differ elsewhere than in dimension {dim}")
    shape[dim] = sum(x.shape[dim] for x in xs)
    out = _empty(xs[0], shape) if out is None else _same(out, shape)
    begin, end = _ends(out)
    if any(a < end and begin < b for a, b in map(_ends, xs)):
        raise ValueError("out overlaps what is read, or lies between its elements")
    if _beside(xs, shape, dim, out):
        return out
    at = 0
    for x in xs:
        _move(x, out[(slice(None),) * dim + (slice(at, at + x.shape[dim]),)])
        at += x.shape[dim]
    return out


def _beside(xs, shape, dim, out):
    """Two or three that lie beside each other as matrices do go in one launch; False: it is not so."""
    types = {array(x).dtype for x in (*xs, out)}
    contiguous = all(_strides(array(x)) == list(_row_major(x.shape)) for x in (*xs, out))
    rows, inner = math.prod(shape[:dim]), math.prod(shape[dim + 1 :])
    widths = [x.shape[dim] * inner for x in xs]
    even = all(n > 0 and _even(array(x), _size(out), n) for n, x in zip((*widths, sum(widths)), (*xs, out)))
    if len(xs) not in (2, 3) or rows < 16 or len(types) > 1 or not contiguous or not even:
        return False
    parts = [_view(x, (rows, n), (n, 1)) for x, n in zip(xs, widths)]
    _kernel("copy", f"concat{len(xs)}", T=types.pop())(*parts, _view(out, (rows, sum(widths)), (sum(widths), 1)))
    return True


def split(x, sizes, dim=0):
    """The parts of these sizes along dim, one behind the other, as arrays of their own."""
    dim, sizes = _dimension(dim, len(x.shape)), tuple(sizes)
    if sum(sizes) != x.shape[dim] or min(sizes, default=0) < 0:
        raise ValueError(f"parts of {tuple(sizes)} are not the {x.shape[dim]} of dimension {dim}")
    out, at = [], 0
    for n in sizes:
        out.append(copy(x[(slice(None),) * dim + (slice(at, at + n),)]))
        at += n
    return out


def _is_bool(x):
    return str(x.dtype).rpartition(".")[2] == "bool"


def _pattern(x, value):
    """x and value, or the same elements as integers with the bits of value: kernels are filled with whole numbers."""
    if _is_bool(x):
        value = bool(value)
    letters = {"f16": "eH", "bf16": "fI", "f32": "fI", "f64": "dQ"}.get(array(x).dtype)
    if letters is None:
        if value % 1:
            raise ValueError(f"elements of {array(x).dtype} are filled with whole numbers")
        return x, int(value)
    try:
        (bits,) = struct.unpack(letters[1], struct.pack(letters[0], value))
    except (OverflowError, struct.error) as e:
        raise ValueError(str(e)) from None
    if array(x).dtype == "bf16":
        bits = bits + 0x7FFF + (bits >> 16 & 1) >> 16
    signed = 8 * _size(x)
    return _bits(x), bits - (1 << signed) if bits >> signed - 1 else bits


def fill(out, value):
    """out = a number in all elements; out is contiguous. Compiled once for each number. Returns out."""
    given = out
    out, value = _pattern(out, value)
    a = array(out)
    n, last = 1, a.shape[-1] if a.shape else 1
    for extent in a.shape:
        n *= extent
    if a.strides is not None and list(a.strides) != list(_row_major(a.shape)):
        raise ValueError("an array that is not contiguous")
    if n:
        _kernel("copy", "constant", T=a.dtype, V=value)(_view(out, (n // last, last), (last, 1)))
    return given


def pad(x, top=0, bottom=0, left=0, right=0):
    """A matrix with rows and columns of zeros around it; negative numbers cut them off. left is a multiple of 16 bytes: slide takes any."""
    k = _kernel("copy", "pad", T=_rows(x))
    m, n = x.shape
    if m + top + bottom < 0 or n + left + right < 0:
        raise ValueError("more is cut off than there is")
    y = _empty(x, (m + top + bottom, n + left + right))
    _pads(k, x, y, top, left)
    return y


def _pads(k, x, y, top, left):
    """Of an x without elements zeros are left."""
    if 0 in x.shape and 0 not in y.shape:
        fill(y, 0)
    else:
        _launch(k, x, y, top, left)


def slide(x, left, columns=None):
    """A matrix moved to the right by `left` columns, any number of either sign, zeros where nothing comes from; `columns` wide, as x if that is left out."""
    k = _kernel("copy", "slide", T=_rows(x))
    y = _empty(x, (x.shape[0], x.shape[1] if columns is None else columns))
    if 0 in x.shape and 0 not in y.shape:
        return fill(y, 0)
    _launch(k, x, y, left)
    return y


def _planes(k):
    if not 1 <= k <= 8:
        raise ValueError(f"{k} planes; 1 to 8 are wanted")


def interleave(x):
    """out[m, n * K + k] = x[k, m, n] for K = 1 to 8: planes to pixels."""
    t = _shaped(x, 3, "K matrices of one shape")
    _planes(x.shape[0])
    y = _empty(x, (x.shape[1], x.shape[2] * x.shape[0]))
    _launch(_kernel("layout", "interleave", T=t, K=x.shape[0]), x, y)
    return y


def deinterleave(x, k):
    """out[i, m, n] = x[m, n * k + i] for k = 1 to 8."""
    t = _rows(x)
    _planes(k)
    if x.shape[1] % k:
        raise ValueError(f"{x.shape[1]} columns are not times {k}")
    y = _empty(x, (k, x.shape[0], x.shape[1] // k))
    _launch(_kernel("layout", "deinterleave", T=t, K=k), x, y)
    return y


def _side_by_side(x):
    """x, or a copy of it where elements of its last dimension do not lie side by side."""
    return x if not x.shape or _strides(array(x))[-1] == 1 or x.shape[-1] == 1 else copy(x)


def convert(x, dtype, saturate=False):
    """x in another number type of its package, rounded once: to nearest, towards 0 where it is of integers. An array of up to 2 dimensions."""
    y = _empty(x, x.shape, dtype)
    a, b = array(x), array(y)
    if _is_bool(y):
        raise TypeError("bool is no number type: x != 0 says which are true")
    if len(x.shape) > 2:
        raise ValueError("an array of more than 2 dimensions: reshape it")
    if 0 in x.shape:
        return y
    x, y2 = (_side_by_side(z)[(None,) * (2 - len(x.shape))] for z in (x, y))
    even = all(_even(array(z), _size(z), z.shape[1], _strides(array(z))[0]) for z in (x, y2))
    part = {} if even else _tile(x.shape[1], x.shape[0], max(_size(x), _size(y)))
    _kernel("convert" if even else "odd", "saturate" if saturate else "convert", T=a.dtype, U=b.dtype, **part)(x, y2)
    return y


# ---- rows ----


def gather(table, idx, out=None):
    """out[r, :] = table[idx[r], :]; a number outside of the table gives zeros. An embedding."""
    types = {"T": _rows(table), "I": _numbers(idx, idx.shape[:1], "idx")}
    shape = (idx.shape[0], table.shape[1])
    if table.shape[0] == 0:
        zeros = _empty(table, shape, zero=True)
        return zeros if out is None else _move(zeros, _same(out, shape))
    out, table, idx = _empty(table, shape) if out is None else _same(out, shape), _side_by_side(table), _side_by_side(idx)
    even = all(_even(e, _size(out), shape[1]) and _strides(e) == [shape[1], 1] for e in (array(table), array(out)))
    k = _kernel("rows", "gather", **types, C=_row_part(table)) if even else _kernel("odd", "gather", **types, BN=_tile(shape[1], 1, _size(table))["BN"])
    _launch(k, table, idx, out)
    return out


def _to(name, x, idx, out):
    part = {} if name == "combine" else {"C": _row_part(x, name != "scatter_add")}
    k = _kernel("rows", name, T=_rows(x), I=_numbers(idx, x.shape[:1], "idx"), **part)
    _launch(k, x, idx, _same(out, (out.shape[0], x.shape[1])))
    return out


def scatter(x, idx, out):
    """out[idx[r], :] = x[r, :]; the numbers are all different, those outside are left out. Returns out."""
    return _to("scatter", x, idx, out)


def scatter_add(x, idx, out):
    """out[idx[r], :] += x[r, :]; types that the copy engine adds: u32, s32, u64, f16, bf16, f32, f64. Returns out."""
    return _to("scatter_add", x, idx, out)


def combine(x, idx, out):
    """out[idx[r], :] += x[r, :], out of f32, x of another number type. Returns out."""
    return _to("combine", x, idx, out)


def embedding_gradient(gradient, idx, rows):
    """What gather adds up to backwards: the sum of gradient[r, :] over idx[r] == v for each v below rows, as f32."""
    t = _rows(gradient)
    out = _empty(gradient, (rows, gradient.shape[1]), _package(gradient).float32, zero=True)
    return (scatter_add if t == "f32" else combine)(gradient, idx, out)


def unpermute(y, row, dtype=None):
    """out[t, :] = the sum of y[row[t, k], :] over k, at most 64 of them, added as by split_k, a row -1 counting nothing: the K rows that experts made of a token.
    dtype: of out, that of y if left out."""
    t = _rows(y)
    n = max(row.shape[1], 1)
    if n > 64:
        raise ValueError(f"at most 64 rows are added for a token, not {n}")
    out = _empty(y, (row.shape[0], y.shape[1]), dtype)
    part = min(4096, 16384 // n // 64 * 64) // _size(y)
    while part // 2 >= max(y.shape[1], 64) and part % 2 == 0:
        part //= 2
    k = _kernel("sums", "unpermute", T=t, U=array(out).dtype, I=_numbers(row, row.shape[:2], "row"), K=n, C=part)
    if y.shape[0] == 0 or row.shape[1] == 0:
        return fill(out, 0)
    _launch(k, y, row, out)
    return out


def roll(x, shift, dim=0):
    """out[(r + shift) mod R, :] = x[r, :], or along the other dimension."""
    t, dim = _rows(x), _dimension(dim, 2)
    y = _empty(x, x.shape)
    if 0 in x.shape:
        return y
    if dim == 1:
        a, b = _bits(x), _bits(y)
        _kernel("rows", "roll_columns", T=array(a).dtype)(a, b, shift % x.shape[1])
        return y
    shift, lines = -shift % x.shape[0], _lines(x)
    if lines is not None and shift * x.shape[1] % lines.shape[1] == 0:
        x, to, shift = lines, _lines(y), shift * x.shape[1] // lines.shape[1]
    else:
        to = y
    _kernel("rows", "roll", T=t)(x, to, shift)
    return y


def flip(x, dim=0):
    """The rows in the opposite order, or the columns."""
    t, y = _rows(x), _empty(x, x.shape)
    _launch(_kernel("rows", "flip_columns" if _dimension(dim, 2) else "flip", T=t), x, y)
    return y


# ---- sums ----


def _sum_type(t, u):
    """What sums of t for u are made in: as the moves called `sum` do it, modulo a power of two that u does not see."""
    if t[0] not in "us":
        return t if t == "f64" else "f32"
    return t if int(t[1:]) >= 32 or (u[0] in "us" and int(u[1:]) <= int(t[1:])) else f"{t[0]}32"


def _sums(parts, out):
    """out = the sum of parts[s, :, :] over s. Few parts are loaded together, many go through rings."""
    n, t, u = parts.shape[0], array(parts).dtype, array(out).dtype
    if n == 0:
        return fill(out, 0)
    if not 2 <= n <= 8:
        k = _kernel("sums", "split_k", T=t, U=u, A=_sum_type(t, u))
    else:
        k = _kernel("sums", "few", T=t, U=u, S=n)
    _launch(k, parts, out)
    return out


def split_k(parts, dtype=None):
    """The sum of parts[s, :, :] over s, in order, in f32 (f64 in f64, integers in 32 or 64 bits), rounded to dtype (that of parts) once."""
    _shaped(parts, 3, "a stack of matrices")
    return _sums(parts, _empty(parts, parts.shape[1:], dtype))


def accumulate(parts, out):
    """out += parts[s, :, :] for all s, in any order; types that the copy engine adds. Returns out."""
    k = _kernel("sums", "accumulate", T=_shaped(parts, 3, "a stack of matrices"))
    _launch(k, parts, _same(out, parts.shape[1:]))
    return out


# ---- what parts give each other ----


def _parts(x, rank):
    """x has a part for each of C, of which each again has one for each where rank is 3."""
    _shaped(x, rank, "an array [C, L]" if rank == 2 else "an array [C, C, L]")
    if x.shape[0] != x.shape[rank - 2]:
        raise ValueError(f"each part has one for each, {x.shape[0]}; this has {x.shape[1]}")


def _repeat(x, y):
    """y[r, ..] = x for all r."""
    lines = _lines(x)
    if lines is not None:
        x, y = lines, _view(y, (y.shape[0], *lines.shape), _row_major((y.shape[0], *lines.shape)))
    _launch(_kernel("copy", "repeat", T=array(x).dtype), x, y)


def broadcast(x, copies):
    """out[r, :, :] = x for r below `copies`: a matrix is read once."""
    _rows(x)
    y = _empty(x, (copies, *x.shape))
    _repeat(x, y)
    return y


def all_gather(x):
    """out[r, k, :] = x[k, :]: each of C has all parts."""
    _parts(x, 2)
    y = _empty(x, (x.shape[0], *x.shape))
    _repeat(x, y)
    return y


def ring(x):
    """out[r, :] = x[(r - 1) mod C, :]: each hands its part to the next."""
    _parts(x, 2)
    return roll(x, 1)


def all_to_all(x):
    """out[r, k, :] = x[k, r, :]: each hands a part to every other."""
    _parts(x, 3)
    return _move(x.swapaxes(0, 1), _empty(x, x.shape))


def reduce_scatter(x):
    """out[r, :] = the sum of x[k, r, :] over k, in order, in f32 (f64 in f64, integers in 32 or 64 bits), rounded once."""
    _parts(x, 3)
    y = _empty(x, x.shape[1:])
    lines = _lines(y) if _strides(array(x)) == list(_row_major(x.shape)) else None
    if lines is None:
        _sums(x, y)
    else:
        shape = (x.shape[0], *lines.shape)
        _sums(_view(x, shape, _row_major(shape)), lines)
    return y


# ---- heads of attention ----


def split_heads(x):
    """out[b, h, s, :] = x[b, s, h, :]"""
    t = _shaped(x, 4, "an array [B, S, H, D]")
    b, s, h, d = x.shape
    y = _empty(x, (b, h, s, d))
    _launch(_kernel("heads", "split", T=t, D=d), x, y)
    return y


def merge_heads(x):
    """out[b, s, h, :] = x[b, h, s, :]"""
    t = _shaped(x, 4, "an array [B, H, S, D]")
    b, h, s, d = x.shape
    y = _empty(x, (b, s, h, d))
    _launch(_kernel("heads", "merge", T=t, D=d), x, y)
    return y


def split_qkv(qkv, kv_heads=None):
    """Queries, keys and values [B, heads, S, D] of qkv [B, S, N, D], whose N heads are those of queries, then kv_heads each of keys and values; a third of N if left out."""
    t = _shaped(qkv, 4, "an array [B, S, N, D]")
    b, s, n, d = qkv.shape
    if kv_heads is None and n % 3 or kv_heads is not None and not 0 <= 2 * kv_heads <= n:
        raise ValueError(f"{n} heads are not those of queries, keys and values")
    g = n // 3 if kv_heads is None else kv_heads
    out = tuple(_empty(qkv, (b, heads, s, d)) for heads in (n - 2 * g, g, g))
    if g and n > 2 * g:
        _launch(_kernel("heads", "split_qkv", T=t, D=d), qkv, *out)
    else:
        for part, at in zip(out, (0, n - 2 * g, n - g)):
            _move((qkv[:, :, at : at + part.shape[1]]).swapaxes(1, 2), part)
    return out


def merge_qkv(q, k, v):
    """The way back: qkv [B, S, N, D]."""
    t = _shaped(q, 4, "an array [B, H, S, D]")
    b, h, s, d = q.shape
    g = k.shape[1] if len(k.shape) == 4 else -1
    if tuple(k.shape) != (b, g, s, d) or tuple(v.shape) != (b, g, s, d):
        raise ValueError(f"keys {tuple(k.shape)} and values {tuple(v.shape)} do not go with queries {tuple(q.shape)}")
    out = _empty(q, (b, s, h + 2 * g, d))
    if g and h:
        _launch(_kernel("heads", "merge_qkv", T=t, D=d), q, k, v, out)
    else:
        for part, at in zip((q, k, v), (0, h, h + g)):
            _move(part.swapaxes(1, 2), out[:, :, at : at + part.shape[1]])
    return out


# ---- images with channels innermost, convolutions ----


def pad_nhwc(x, top=0, bottom=0, left=0, right=0, mode="constant"):
    """Images [N, H, W, C] with a border: zeros ("constant"), the pixel at the edge ("edge"), reflected there ("reflect"), or from the other side ("wrap"), the modes of numpy.pad.
    Negative numbers, with "constant" only, cut off."""
    name = {"constant": "zero", "edge": "edge", "reflect": "reflect", "wrap": "wrap"}.get(mode)
    if name is None:
        raise ValueError(f"mode {mode!r} is none of constant, edge, reflect, wrap")
    t = _shaped(x, 4, "an array [N, H, W, C]")
    n, h, w, c = x.shape
    if mode != "constant" and min(top, bottom, left, right) < 0:
        raise ValueError(f"a border of mode {mode} is not negative")
    if mode == "reflect" and n * c and (max(top, bottom) >= h or max(left, right) >= w):
        raise ValueError("a reflection is smaller than what is reflected")
    if h + top + bottom < 0 or w + left + right < 0:
        raise ValueError("more is cut off than there is")
    y = _empty(x, (n, h + top + bottom, w + left + right, c))
    tile = {}
    if mode == "constant":
        bc = _channels(c, _size(x))
        bw = _fitting(y.shape[2], 8)
        bh = [_fitting(y.shape[1], max(1, min(8, b // (bc * bw * _size(x))))) for b in (4608, 4608, 2304)]
        tile = {"BC": bc, "BW": bw, "BH": "|".join(map(str, bh))}
    _pads(_kernel("pad", name, T=t, **tile), x, y, top, left)
    return y


def _each(value, n, what):
    values = tuple(value) if hasattr(value, "__len__") else (value,) * n
    if len(values) != n:
        raise ValueError(f"{what} has {len(values)} numbers, wanted are {n}")
    return values


def _filter(x_space, size, stride, padding, dilation):
    """The numbers of a filter by dimension of space, and the pixels of what it makes."""
    n = len(x_space)
    size, stride = _each(size, n, "size"), _each(stride, n, "stride")
    padding, dilation = _each(padding, n, "padding"), _each(dilation, n, "dilation")
    if min(size) < 1 or min(stride) < 1 or min(padding) < 0 or min(dilation) < 1:
        raise ValueError("a size, stride or dilation below 1, or a padding below 0")
    if max(stride) > 8:
        raise ValueError(f"stride {stride} is above 8")
    made = [(x + 2 * p - d * (k - 1) - 1) // s + 1 for x, k, s, p, d in zip(x_space, size, stride, padding, dilation)]
    if min(made) < 1:
        raise ValueError(f"a filter of {size} does not fit into {tuple(x_space)} with {padding} around")
    return size, stride, padding, dilation, made


_SPACE = {1: ("W",), 2: ("H", "W"), 3: ("D", "H", "W")}
_TAPS = {1: ("S",), 2: ("R", "S"), 3: ("F", "R", "S")}


def _defines(n, size, stride, padding, dilation):
    out = dict(zip(_TAPS[n], size))
    for letter, values in (("S", stride), ("P", padding), ("D", dilation)):
        out.update((letter + axis, v) for axis, v in zip(_SPACE[n], values))
    return out


def _channels(c, itemsize):
    """Channels of a tile: rows of 256 bytes at most, and not many more than there are."""
    unit, most = max(16 // itemsize, 1), 256 // itemsize
    return min(most, max(-(-c // unit), 1) * unit)


def _outputs(n, made, size, stride, dilation):
    """Rows and columns of about n outputs of a CTA, and the pixels that they read in each dimension."""
    height = 1
    while len(made) > 1 and height * height * 8 <= n and height < made[-2]:
        height *= 2
    width = n // height
    while width // 2 >= made[-1]:
        width //= 2
    return height, width, [(m - 1) * s + (k - 1) * d + 1 for m, s, k, d in zip((1, height, width)[-len(made) :], stride, size, dilation)]


def _narrow(pixel, made, images, size, stride, dilation):
    """How threads make columns of pixels of so few bytes: the kernel, and rows and columns of the outputs of a CTA, in alternatives: 4 KB or more are stored, or 16 (std/conv.tune
    says where). A warp has work at each tap, and little is read several times. None where copies are as fast, or it would read too much."""
    large = images * math.prod(made) * math.prod(size) * pixel > 16 << 20
    deep = len(size) == 3 and pixel >= 64 and pixel % 16 == 0 and pixel * math.prod(size[1:]) % 32 == 0
    if deep:  # a tap of depth by a CTA
        made, size, stride, dilation = made[1:], size[1:], stride[1:], dilation[1:]
    column = pixel * math.prod(size)
    if pixel > 64 and pixel % 16 == 0 and not (large and pixel <= 512 and column <= 4608 and len(made) > 1):
        return None
    fits = lambda height, width, read: height * width * column <= 32768 and max(read) <= 256 and math.prod(read) * pixel <= 16384
    tiles = []
    for stored in (4608, 18432):
        n = 1
        while n * pixel < 512 or n * column * 2 <= stored:
            n *= 2
        tile = _outputs(n, made, size, stride, dilation)
        while large and math.prod(tile[2]) > 6 * tile[0] * tile[1]:
            n *= 2
            wider = _outputs(n, made, size, stride, dilation)
            if not fits(*wider) or wider == tile:
                break
            tile = wider
        if fits(*tile) and tile[:2] not in tiles:
            tiles.append(tile[:2])
        if not tiles:
            return None
    return ("im2col_deep" if deep else "im2col_narrow", *("|".join(map(str, t)) for t in zip(*tiles)))


def im2col(x, size, stride=1, padding=0, dilation=1):
    """Columns of a convolution of x [N, (D, H,) W, C]: out [N, .., pixels, taps * C], tap by tap in the filter's order, zeros around. Numbers, or one per dimension of space."""
    n = len(x.shape) - 2
    if n not in _SPACE:
        raise ValueError(f"an array [N, (D, H,) W, C] is wanted, this has {len(x.shape)} dimensions")
    a = array(x)
    size, stride, padding, dilation, made = _filter(x.shape[1:-1], size, stride, padding, dilation)
    taps = 1
    for k in size:
        taps *= k
    y = _empty(x, (x.shape[0], *made, taps * x.shape[-1]))
    if 0 in y.shape:
        return y
    c, itemsize = x.shape[-1], _size(x)
    tile = _narrow(int(c) * itemsize, made, x.shape[0], size, stride, dilation)
    if tile is None and c * itemsize % 16:
        raise ValueError(f"pixels of {c * itemsize} bytes, no multiple of 16, whose outputs find no room with what they read: less taps or dilation does")
    if tile is None:
        k = _kernel("conv", f"im2col{n}", T=a.dtype, BC=_channels(c, itemsize), **_defines(n, size, stride, padding, dilation))
        _launch(k, x, y)
    else:
        ones, space = (1,) * (3 - n), (slice(None),) + (None,) * (3 - n)
        f = _defines(3, ones + size, ones + stride, (0,) * (3 - n) + padding, ones + dilation)
        _launch(_kernel("conv", tile[0], T=a.dtype, C=c, BH=tile[1], BW=tile[2], **f), x[space], y[space])
    return y


def col2im(cols, shape, size, stride=1, padding=0, dilation=1):
    """The gradient of im2col in two dimensions of space: cols [N, P, Q, taps * C] summed, in f32 and rounded once, to images of `shape` [N, H, W, C]."""
    t = _shaped(cols, 4, "an array [N, P, Q, taps * C]")
    n, h, w, c = shape
    size, stride, padding, dilation, made = _filter((h, w), size, stride, padding, dilation)
    if tuple(cols.shape) != (n, *made, size[0] * size[1] * c):
        raise ValueError(f"columns {tuple(cols.shape)} are not those of images {tuple(shape)}, {(n, *made, size[0] * size[1] * c)}")
    y = _empty(cols, shape)
    acc = t if t[0] in "us" or t == "f64" else "f32"
    k = _kernel("conv", "col2im2", T=t, A=acc, BC=_channels(c, _size(cols)), **_defines(2, size, stride, padding, dilation))
    _launch(k, cols, y)
    return y


def _fits_shared(x, tile):
    size = math.prod(tile) * _size(x)
    if size > 226 << 10:
        raise ValueError(f"a tile with its border has {size} bytes; {226 << 10} at most find room in shared memory")


def halo(x, tile, border):
    """Tiles of a matrix, or of an array of three dimensions, with a border of what lies around them, zeros outside. Of a matrix out [I, J, ..] by rows and columns of tiles, else
    [number, ..] row-major. Along the last dimension tile and border are multiples of 16 bytes."""
    n = len(x.shape)
    if n not in (2, 3):
        raise ValueError(f"an array of 2 or 3 dimensions is wanted, this has {n}")
    tile, border = _each(tile, n, "tile"), _each(border, n, "border")
    if min(tile) < 1 or min(border) < 0:
        raise ValueError("a tile below 1, or a border below 0")
    if tile[-1] * _size(x) % 16 or border[-1] * _size(x) % 16:
        raise ValueError(f"tile {tile[-1]} and border {border[-1]} along the last dimension are no multiples of 16 bytes")
    counts = [-(-e // t) for e, t in zip(x.shape, tile)]
    with_border = [t + 2 * b for t, b in zip(tile, border)]
    _fits_shared(x, with_border)
    if n == 3:
        counts = [counts[0] * counts[1] * counts[2]]
    y = _empty(x, (*counts, *with_border))
    axes = "DHW"[3 - n :]
    sizes = {f"B{a}": t for a, t in zip(axes, tile)} | {f"H{a}": b for a, b in zip(axes, border)}
    _launch(_kernel("halo", f"halo{n}", T=array(x).dtype, **sizes), x, y)
    return y


def halo_nhwc(x, tile, border):
    """Tiles of images [N, H, W, C] with a border of what lies around them, zeros outside: out [number, rows, columns, C], image by image, row-major."""
    t = _shaped(x, 4, "an array [N, H, W, C]")
    n, h, w, c = x.shape
    (bh, bw), (hh, hw) = _each(tile, 2, "tile"), _each(border, 2, "border")
    if min(bh, bw) < 1 or min(hh, hw) < 0:
        raise ValueError("a tile below 1, or a border below 0")
    _fits_shared(x, (bh + 2 * hh, bw + 2 * hw, _channels(c, _size(x))))
    y = _empty(x, (n * -(-h // bh) * -(-w // bw), bh + 2 * hh, bw + 2 * hw, c))
    _launch(_kernel("halo", "halo_nhwc", T=t, BH=bh, BW=bw, HH=hh, HW=hw, BC=_channels(c, _size(x))), x, y)
    return y


# ---- ragged groups, pages ----


def unpack(x, offs, rows):
    """out[g, i, :] = x[offs[g] + i, :] for i below `rows`, zeros behind a group's end; offs has a number more than there are groups."""
    k = _kernel("ragged", "unpack", T=_rows(x), I=_numbers(offs, offs.shape[:1], "offs"))
    y = _empty(x, (offs.shape[0] - 1, rows, x.shape[1]))
    if 0 in x.shape:
        return fill(y, 0)
    _launch(k, x, offs, y)
    return y


def pack(x, offs, rows):
    """out[offs[g] + i, :] = x[g, i, :] for the rows that group g has; out has `rows` rows, those of no group are zeros."""
    types = {"T": _shaped(x, 3, "a padded batch"), "I": _numbers(offs, (x.shape[0] + 1,), "offs")}
    y = _empty(x, (rows, x.shape[2]))
    if 0 in x.shape:
        return fill(y, 0)
    _launch(_kernel("ragged", "pack", **types), x, offs, y)
    return y


def ragged_copy(x, offs, out, at):
    """out[at[g] + i, :] = x[offs[g] + i, :] for the rows that group g has in x, and out has room for. Returns out."""
    k = _kernel("ragged", "copy", T=_rows(x), I=_numbers(offs, offs.shape[:1], "offs"))
    _same(out, (out.shape[0], x.shape[1]))
    if _numbers(at, offs.shape, "at") != array(offs).dtype:
        raise TypeError("offs and at are numbers of one type")
    _launch(k, x, offs, out, at)
    return out


def pages_gather(cache, table, rows):
    """out[t, :] = cache[table[t // P], t % P, :] for t below `rows`; cache has pages of P rows, a page -1 gives zeros."""
    t, i = _shaped(cache, 3, "a cache of pages"), _numbers(table, table.shape[:1], "table")
    _, p, d = cache.shape
    y = _empty(cache, (rows, d))
    if 0 in cache.shape:
        return fill(y, 0)
    if p > 1 and rows == table.shape[0] * p:
        _launch(_kernel("pages", "gather_whole", T=t, I=i), cache, table, _view(y, (table.shape[0], p, d), (p * d, d, 1)))
    else:
        _launch(_kernel("pages", "gather", T=t, I=i, C=_row_part(cache)), cache, table, y)
    return y


def pages_append(x, slot, cache):
    """cache[slot[t] // P, slot[t] % P, :] = x[t, :]; slots are all different, -1 is left out. Returns cache."""
    k = _kernel("pages", "append", T=_rows(x), I=_numbers(slot, x.shape[:1], "slot"), C=_row_part(x))
    _shaped(cache, 3, "a cache of pages")
    _launch(k, x, slot, cache)
    return cache


for _name in __all__:
    globals()[_name] = public(globals()[_name])
