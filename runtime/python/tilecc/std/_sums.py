"""Sums of parts, and what parts give each other."""

from .. import _row_major
from .._arrays import array
from ._copies import fill
from ._matrices import repeat, roll
from ._move import lines, move, padded, padded_row, unpadded, unwritten
from ._views import empty, is_contiguous, kernel, launch, same, shaped, size_of, to_be_added, view


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
    if 0 in parts.shape:
        return out
    row = padded_row(out.shape[1], size_of(parts), size_of(out))
    x, y = padded(parts, row), unwritten(out, row)
    if not 2 <= n <= 8:
        k = kernel("sums", "split_k", T=t, U=u, A=_sum_type(t, u))
    else:
        k = kernel("sums", "few", T=t, U=u, S=n)
    k(x, y)
    return unpadded(y, out)


def split_k(parts, dtype=None):
    """The sum of parts[s, :, :] over s, in order, in f32 (f64 in f64, integers in 32 or 64 bits), rounded to dtype (that of parts) once."""
    shaped(parts, 3, "a stack of matrices")
    return _sums(parts, empty(parts, parts.shape[1:], dtype))


def accumulate(parts, out):
    """out += parts[s, :, :] for all s, in any order; types that the copy engine adds. Returns out."""
    shaped(parts, 3, "a stack of matrices")
    from_, sums = to_be_added("parts", parts, same(out, parts.shape[1:]))
    if 0 in parts.shape:
        return out
    row = padded_row(out.shape[1], size_of(out))
    to = padded(sums, row)
    kernel("sums", "accumulate", T=array(from_).dtype)(padded(from_, row), to)
    unpadded(to, sums)
    return out


# ---- what parts give each other ----


def _parts(x, rank):
    """x has a part for each of C, of which each again has one for each where rank is 3."""
    shaped(x, rank, "an array [C, L]" if rank == 2 else "an array [C, C, L]")
    if x.shape[0] != x.shape[rank - 2]:
        raise ValueError(f"each part has one for each, {x.shape[0]}; this has {x.shape[1]}")


def all_gather(x):
    """out[r, k, :] = x[k, :]: each of C has all parts."""
    _parts(x, 2)
    y = empty(x, (x.shape[0], *x.shape))
    repeat(x, y)
    return y


def ring(x):
    """out[r, :] = x[(r - 1) mod C, :]: each hands its part to the next."""
    _parts(x, 2)
    return roll(x, 1)


def all_to_all(x):
    """out[r, k, :] = x[k, r, :]: each hands a part to every other."""
    _parts(x, 3)
    return move(x.swapaxes(0, 1), empty(x, x.shape))


def reduce_scatter(x):
    """out[r, :] = the sum of x[k, r, :] over k, in order, in f32 (f64 in f64, integers in 32 or 64 bits), rounded once."""
    _parts(x, 3)
    y = empty(x, x.shape[1:])
    rows = lines(y) if is_contiguous(array(x)) and array(x).address % 16 == 0 else None
    if rows is None:
        _sums(x, y)
    else:
        shape = (x.shape[0], *rows.shape)
        _sums(view(x, shape, _row_major(shape)), rows)
    return y
