"""Matrices moved as a whole: shifted, round about, in the opposite order, plane by plane, many times."""

from .. import _row_major
from .._arrays import array
from ._move import even_rows, flip as reverse, lines, move, side_by_side, whole
from ._views import bits, dimension, empty, integers, kernel, launch, matrix, odd_tile, part, shaped, size_of, strides_of, view


def windows(x, y, at, counts=(1, 1), steps=(0, 0, 0)):
    """y[(k I + i) J + j, ..] = x from (k, i, j) * steps - at on, of three dimensions, zeros outside; counts: I and J. By threads."""
    x = side_by_side(x)
    shape, strides = tuple(x.shape), strides_of(array(x))
    k = kernel("odd", "windows", T=array(x).dtype, **odd_tile(y.shape[3], y.shape[2], size_of(x), most=10240))
    launch(k, view(x, shape, (*strides[:2], 1)), y, *at, *counts, *steps)


def pad(x, top=0, bottom=0, left=0, right=0):
    """A matrix with rows and columns of zeros around it; negative numbers cut them off."""
    t = matrix(x)
    integers(top=top, bottom=bottom, left=left, right=right)
    m, n = x.shape
    if m + top + bottom < 0 or n + left + right < 0:
        raise ValueError("more is cut off than there is")
    y = empty(x, (m + top + bottom, n + left + right), zero=0 in x.shape)
    if 0 in x.shape or 0 in y.shape:
        return y
    if left * size_of(x) % 16 == 0 and even_rows(x, y):
        kernel("copy", "pad", T=t)(x, y, top, left)
    else:
        windows(x[None], y[None, None], (0, top, left))
    return y


def slide(x, left, columns=None):
    """A matrix moved to the right by `left` columns, any number of either sign, zeros where nothing comes from; `columns` wide, as x if that is left out."""
    t = matrix(x)
    columns = x.shape[1] if columns is None else columns
    integers(left=left, columns=columns)
    y = empty(x, (x.shape[0], columns), zero=0 in x.shape)
    if 0 in x.shape or 0 in y.shape:
        return y
    if even_rows(x, y):
        kernel("copy", "slide", T=t)(x, y, left)
    else:
        windows(x[None], y[None, None], (0, 0, left))
    return y


def roll(x, shift, dim=0):
    """out[(r + shift) mod R, ..] = x[r, ..], along dim."""
    dim = dimension(dim, len(x.shape))
    integers(shift=shift)
    y = empty(x, x.shape)
    if 0 in x.shape:
        return y
    shift %= x.shape[dim]
    if len(x.shape) == 2 and even_rows(x, y):
        _even_roll(x, y, shift, dim)
    else:
        n = x.shape[dim]
        move(part(x, dim, n - shift, n), part(y, dim, 0, shift))
        move(part(x, dim, 0, n - shift), part(y, dim, shift, n))
    return y


def _even_roll(x, y, shift, dim):
    if dim == 1:
        a, b = bits(x), bits(y)
        kernel("rows", "roll_columns", T=array(a).dtype)(a, b, shift)
        return
    first, rows = -shift % x.shape[0], lines(x)
    if rows is not None and first * x.shape[1] % rows.shape[1] == 0:
        x, y, first = rows, lines(y), first * x.shape[1] // rows.shape[1]
    kernel("rows", "roll", T=array(x).dtype)(x, y, first)


def flip(x, dim=0):
    """In the opposite order along dim: the rows, if that is left out."""
    dim = dimension(dim, len(x.shape))
    y = empty(x, x.shape)
    if 0 in x.shape:
        return y
    if len(x.shape) == 2 and (even_rows(x, y) if dim else whole(x)):
        kernel("rows", "flip_columns" if dim else "flip", T=array(x).dtype)(x, y)
        return y
    return reverse(x, y, dim)


# ---- planes and pixels ----


def _planes(k):
    if not 1 <= k <= 8:
        raise ValueError(f"{k} planes; 1 to 8 are wanted")


def interleave(x):
    """out[m, n * K + k] = x[k, m, n] for K = 1 to 8: planes to pixels."""
    t = shaped(x, 3, "K matrices of one shape")
    k, m, n = x.shape
    _planes(k)
    y = empty(x, (m, n * k))
    if whole(x):
        launch(kernel("layout", "interleave", T=t, K=k), x, y)
    elif k > 1:
        tile = odd_tile(n, m, 2 * size_of(x))
        launch(kernel("odd", "interleave", T=t, K=k, **tile), side_by_side(x), y)
    else:
        move(x, view(y, (k, m, n), (1, n * k, k)))
    return y


def deinterleave(x, k):
    """out[i, m, n] = x[m, n * k + i] for k = 1 to 8."""
    t = matrix(x)
    integers(k=k)
    _planes(k)
    m, n = x.shape
    if n % k:
        raise ValueError(f"{n} columns are not times {k}")
    y = empty(x, (k, m, n // k))
    if whole(x) and whole(y):
        launch(kernel("layout", "deinterleave", T=t, K=k), x, y)
    else:
        s = strides_of(array(x))
        move(view(x, (k, m, n // k), (s[1], s[0], k * s[1])), y)
    return y


# ---- many times ----


def repeat(x, y):
    """y[r, ..] = x for all r; y is contiguous."""
    rows, a = lines(x), array(x)
    if rows is not None:
        x, y = rows, view(y, (y.shape[0], *rows.shape), _row_major((y.shape[0], *rows.shape)))
    elif not even_rows(x, y[0] if y.shape[0] else x):
        return move(view(x, y.shape, (0, *strides_of(a))), y)
    launch(kernel("copy", "repeat", T=a.dtype), x, y)
    return y


def broadcast(x, copies):
    """out[r, :, :] = x for r below `copies`: a matrix is read once."""
    matrix(x)
    integers(copies=copies)
    y = empty(x, (copies, *x.shape))
    repeat(x, y)
    return y
