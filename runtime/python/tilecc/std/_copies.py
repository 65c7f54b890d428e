"""Copies: of arrays, permuted, beside each other, in parts, in another type; and constants."""

import math

from .._arrays import array
from ._move import even, even_rows, move, packed, side_by_side
from ._views import bits, dimension, empty, is_bool, is_contiguous, is_torch, kernel, odd_tile, part, same, size_of, strides_of, view


def copy(x, out=None):
    """A copy, contiguous unless `out` says otherwise."""
    return move(x, empty(x, x.shape) if out is None else same(out, x.shape))


def permute(x, dims, out=None):
    """out[i, j, ..] = x with its dimensions in the order dims, contiguous: x.permute(dims).contiguous()."""
    if sorted(dimension(d, len(x.shape)) for d in dims) != list(range(len(x.shape))):
        raise ValueError(f"dims {tuple(dims)} are no permutation of {len(x.shape)} dimensions")
    turned = x.permute(*dims) if is_torch(x) else x.transpose(dims)
    return move(turned, empty(x, turned.shape) if out is None else same(out, turned.shape))


def transpose(x, out=None):
    """The last two dimensions exchanged."""
    n = len(x.shape)
    if n < 2:
        raise ValueError("a transpose takes two dimensions or more")
    return permute(x, (*range(n - 2), n - 1, n - 2), out)


# ---- several arrays, and one ----


def _ends(a, size):
    """Where the memory of an Array begins and ends; what stands for another tensor lies nowhere."""
    last = size * (1 + sum((n - 1) * s for n, s in zip(a.shape, strides_of(a))))
    return (a.address, a.address + last) if a.address and 0 not in a.shape else (0, 0)


def concat(xs, dim=0, out=None):
    """One behind another along dim."""
    xs = list(xs)
    if not xs:
        raise ValueError("nothing to concatenate")
    shape = list(xs[0].shape)
    dim = dimension(dim, len(shape))
    for x in xs[1:]:
        if len(x.shape) != len(shape) or any(a != b for i, (a, b) in enumerate(zip(x.shape, shape)) if i != dim):
            raise ValueError(f"shapes {tuple(xs[0].shape)} and {tuple(x.shape)} differ elsewhere than in dimension {dim}")
    shape[dim] = sum(x.shape[dim] for x in xs)
    out = empty(xs[0], shape) if out is None else same(out, shape)
    arrays, to = [array(x) for x in xs], array(out)
    begin, end = _ends(to, size_of(out))
    if any(a < end and begin < b for a, b in (_ends(a, size_of(x)) for a, x in zip(arrays, xs))):
        raise ValueError("out overlaps what is read, or lies between its elements")
    if _beside(xs, arrays, dim, out, to):
        return out
    at = 0
    for x, a in zip(xs, arrays):
        move(x, part(out, dim, at, at + x.shape[dim]), a)
        at += x.shape[dim]
    return out


def _beside(xs, arrays, dim, out, to):
    """Two or three that lie beside each other as matrices do go in one launch; False: it is not so. arrays, to: the Arrays of xs and out."""
    rows, inner = math.prod(to.shape[:dim]), math.prod(to.shape[dim + 1 :])
    if len(xs) not in (2, 3) or rows < 16 or any(a.dtype != to.dtype for a in arrays):
        return False
    widths = [a.shape[dim] * inner for a in arrays]
    if not all(n > 0 and is_contiguous(a) and even(a, size_of(out), n) for n, a in zip((*widths, sum(widths)), (*arrays, to))):
        return False
    parts = [view(x, (rows, n), (n, 1)) for x, n in zip(xs, widths)]
    kernel("copy", f"concat{len(xs)}", T=to.dtype)(*parts, view(out, (rows, sum(widths)), (sum(widths), 1)))
    return True


def split(x, sizes, dim=0):
    """The parts of these sizes along dim, one behind the other, as arrays of their own."""
    dim, sizes = dimension(dim, len(x.shape)), tuple(sizes)
    if sum(sizes) != x.shape[dim] or min(sizes, default=0) < 0:
        raise ValueError(f"parts of {tuple(sizes)} are not the {x.shape[dim]} of dimension {dim}")
    out, at = [], 0
    for n in sizes:
        out.append(copy(part(x, dim, at, at + n)))
        at += n
    return out


# ---- constants, types ----


_FLOATS = {"f16": (5, 10), "bf16": (8, 7), "f32": (8, 23), "f64": (11, 52), "e4m3": (4, 3), "e5m2": (5, 2)}  # bits of exponent, of mantissa


def _float_bits(value, t):
    """Those of the number of type t that is nearest to value, of two the even one."""
    exponent, mantissa = _FLOATS[t]
    bias, ones = (1 << exponent - 1) - 1, (1 << exponent + mantissa) - 1
    beyond, size = ones if t == "e4m3" else ones + 1 - (1 << mantissa), abs(value)  # e4m3 has no infinities
    if math.isnan(size):
        pattern = ones
    elif math.isinf(size):
        pattern = beyond
    else:
        power = max(math.frexp(size)[1] - 1, 1 - bias) if size else 1 - bias
        pattern = (power + bias - 1 << mantissa) + round(math.ldexp(size, mantissa - power))
    if pattern >= beyond and math.isfinite(size) or math.isinf(size) and t == "e4m3":
        raise ValueError(f"{value} is beyond the largest number of {t}")
    return pattern | (math.copysign(1, value) < 0) << exponent + mantissa


def _pattern(x, value):
    """x and value, or the same elements as integers with the bits of value: kernels are filled with whole numbers."""
    t, n = array(x).dtype, 8 * size_of(x)
    if isinstance(value, complex) or not (hasattr(value, "__index__") or hasattr(value, "__float__")):
        raise TypeError(f"value is a number, not {value!r}")
    if is_bool(x):
        value = bool(value)
    if t in _FLOATS:
        try:
            value = float(value)
        except OverflowError:
            raise ValueError(f"{value} is beyond the largest number of {t}") from None
        pattern = _float_bits(value, t)
        return bits(x), pattern - (1 << n) if pattern >> n - 1 and n > 8 else pattern
    if value % 1:
        raise ValueError(f"elements of {t} are filled with whole numbers")
    value = int(value)
    low = -(1 << n - 1) if t[0] == "s" else 0
    if t[0] in "us" and not low <= value < low + (1 << n):
        raise ValueError(f"elements of {t} are {low} to {low + (1 << n) - 1}, not {value}")
    return (bits(x), value - (1 << n)) if value >= 1 << 63 else (x, value)


def fill(out, value):
    """out = a number in all elements. Compiled once for each number. Returns out."""
    given = out
    out, value = _pattern(out, value)
    a, size = array(out), size_of(out)
    if 0 in a.shape:
        return given
    if not is_contiguous(a):
        one = empty(out, (1,))
        fill(one, value)
        move(view(one, a.shape, (0,) * len(a.shape)), out, dst=a)
        return given
    n = math.prod(a.shape)
    if even(a, size, n):
        kernel("copy", "constant1", T=a.dtype, V=value)(view(out, (n,), (1,)))
    else:
        kernel("odd", "constant", T=a.dtype, V=value, BM=1)(view(out, (1, 1, 1, n), (0, 0, 0, 1)))
    return given


def convert(x, dtype, saturate=False):
    """x in another number type of its package, rounded once: to nearest, towards 0 where it is of integers."""
    y = empty(x, x.shape, dtype)
    a, b = array(x), array(y)
    if is_bool(y):
        raise TypeError("bool is no number type: x != 0 says which are true")
    if 0 in x.shape:
        return y
    if len(x.shape) > 2:
        rows, n = math.prod(x.shape[:-1]), x.shape[-1]
        x, y2 = (view(z, (rows, n), (n, 1)) for z in (packed(x), y))
    else:
        x, y2 = (side_by_side(z)[(None,) * (2 - len(x.shape))] for z in (x, y))
    by_engine = even_rows(x, y2)
    tile = {} if by_engine else odd_tile(x.shape[1], x.shape[0], max(size_of(x), size_of(y)))
    kernel("convert" if by_engine else "odd", "saturate" if saturate else "convert", T=a.dtype, U=b.dtype, **tile)(x, y2)
    return y
