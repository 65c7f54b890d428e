"""Rows by number: of tables, of groups one behind another, of pages."""

from .._arrays import array
from ._copies import fill
from ._move import even, move, packed, padded, padded_row, side_by_side, unpadded, unwritten, whole
from ._views import empty, kernel, launch, matrix, numbers, odd_row, package_of, row_part, rows_as, same, shaped, size_of, strides_of, to_be_added, view


def _written(out, f):
    """f(out), by way of a copy of it where its elements do not lie side by side. Returns out."""
    y = side_by_side(out)
    f(y)
    return out if y is out else move(y, out)


def gather(table, idx, out=None):
    """out[r, :] = table[idx[r], :]; a number outside of the table gives zeros. An embedding."""
    types = {"T": matrix(table), "I": numbers(idx, idx.shape[:1], "idx")}
    shape = (idx.shape[0], table.shape[1])
    if table.shape[0] == 0:
        zeros = empty(table, shape, zero=True)
        return zeros if out is None else move(zeros, same(out, shape))
    out, table, idx = empty(table, shape) if out is None else same(out, shape), side_by_side(table), side_by_side(idx)
    by_engine = all(even(e, size_of(out), shape[1]) and strides_of(e) == [shape[1], 1] for e in (array(table), array(out)))
    k = kernel("rows", "gather", **types, C=row_part(table)) if by_engine else kernel("odd", "gather", **types, **odd_row(table.shape[-1], size_of(table)))
    return _written(out, lambda y: launch(k, table, idx, y))


def _scattered(x, idx, out, types):
    """out[idx[r], :] = x[r, :]"""
    x, idx = side_by_side(x), side_by_side(idx)
    if whole(x) and whole(out):
        launch(kernel("rows", "scatter", **types, C=row_part(x)), x, idx, out)
        return out
    k = kernel("odd", "scatter", **types, **odd_row(x.shape[-1], size_of(x)))
    return _written(out, lambda y: launch(k, x, idx, y))


def scatter(x, idx, out):
    """out[idx[r], :] = x[r, :]; the numbers are all different, those outside are left out. Returns out."""
    types = {"T": matrix(x), "I": numbers(idx, x.shape[:1], "idx")}
    return _scattered(x, idx, rows_as(out, x), types)


def _expert_rows(row, count):
    """The type of the numbers of a token's rows, and how many it has."""
    if len(row.shape) != 2:
        raise ValueError(f"row has shape {tuple(row.shape)}, wanted are tokens by the rows of each")
    if row.shape[1] > 64:
        raise ValueError(f"a token has at most 64 rows, not {row.shape[1]}")
    return numbers(row, (count, row.shape[1]), "row"), row.shape[1]


def dispatch(x, row, out=None):
    """out[row[t, k], :] = x[t, :] for each k, at most 64 of them: the rows of tokens that experts get, each token read once; the numbers are all different, those outside
    are left out. Without `out` it has a row for each number, and each of those stands in `row`. unpermute adds them up again."""
    t, (i, n) = matrix(x), _expert_rows(row, x.shape[0])
    out = empty(x, (x.shape[0] * n, x.shape[1])) if out is None else rows_as(out, x)
    if 0 in out.shape or 0 in row.shape:
        return out
    if whole(x) and whole(out):
        launch(kernel("rows", "dispatch", T=t, I=i, K=n, C=row_part(x)), x, packed(row), out)
        return out
    for k in range(n):
        scatter(x, row[:, k], out)
    return out


def _added(name, x, idx, out, sums=None):
    """out[idx[r], :] += x[r, :] by the copy engine, from and to rows as it takes them. sums: the type of out, if it is not that of x."""
    matrix(x)
    types = {"I": numbers(idx, x.shape[:1], "idx")} | ({} if sums else {"C": row_part(x, False)})
    from_, to = to_be_added("x", x, rows_as(out, x), sums)
    if 0 in x.shape or 0 in out.shape:
        return out
    row = padded_row(x.shape[1], size_of(x), size_of(out))
    rows = padded(to, row)
    kernel("rows", name, T=array(from_).dtype, **types)(padded(from_, row), side_by_side(idx), rows)
    unpadded(rows, to)
    return out


def scatter_add(x, idx, out):
    """out[idx[r], :] += x[r, :]; types that the copy engine adds: u32, s32, u64, s64, f16, bf16, f32, f64. Returns out."""
    return _added("scatter_add", x, idx, out)


def combine(x, idx, out):
    """out[idx[r], :] += x[r, :], out of f32, x of another number type. Returns out."""
    return _added("combine", x, idx, out, "f32")


def embedding_gradient(gradient, idx, rows):
    """What gather adds up to backwards: the sum of gradient[r, :] over idx[r] == v for each v below rows, as f32."""
    t = matrix(gradient)
    out = empty(gradient, (rows, gradient.shape[1]), package_of(gradient).float32, zero=True)
    return (scatter_add if t == "f32" else combine)(gradient, idx, out)


def unpermute(y, row, dtype=None):
    """out[t, :] = the sum of y[row[t, k], :] over k, at most 64 of them, added as by split_k, a row -1 counting nothing: the K rows that experts made of a token.
    dtype: of out, that of y if left out."""
    t, (i, n) = matrix(y), _expert_rows(row, row.shape[0])
    out = empty(y, (row.shape[0], y.shape[1]), dtype)
    if y.shape[0] == 0 or n == 0:
        return fill(out, 0)
    if 0 in out.shape:
        return out
    width = padded_row(y.shape[1], size_of(y), size_of(out))
    unit = padded_row(1, size_of(y), size_of(out))
    part = min(4096, 16384 // n // 64 * 64) // size_of(y) // unit * unit
    while part // 2 >= max(width, 64) and part % (2 * unit) == 0:
        part //= 2
    k = kernel("sums", "unpermute", T=t, U=array(out).dtype, I=i, K=n, C=part)
    to = unwritten(out, width)
    k(padded(y, width), packed(row), to)
    return unpadded(to, out)


# ---- ragged groups ----


def unpack(x, offs, rows):
    """out[g, i, :] = x[offs[g] + i, :] for i below `rows`, zeros behind a group's end; offs has a number more than there are groups."""
    k = kernel("ragged", "unpack", T=matrix(x), I=numbers(offs, offs.shape[:1], "offs"))
    return _grouped(k, x, offs, (offs.shape[0] - 1, rows, x.shape[1]))


def pack(x, offs, rows):
    """out[offs[g] + i, :] = x[g, i, :] for the rows that group g has; out has `rows` rows, those of no group are zeros."""
    types = {"T": shaped(x, 3, "a padded batch"), "I": numbers(offs, (x.shape[0] + 1,), "offs")}
    return _grouped(kernel("ragged", "pack", **types), x, offs, (rows, x.shape[2]))


def _grouped(k, x, offs, shape):
    """An array of that shape, made by k of groups of rows."""
    y = empty(x, shape, zero=0 in x.shape)
    if 0 in x.shape or 0 in shape:
        return y
    row = padded_row(shape[-1], size_of(x))
    to = unwritten(y, row)
    k(padded(x, row), side_by_side(offs), to)
    return unpadded(to, y)


def ragged_copy(x, offs, out, at):
    """out[at[g] + i, :] = x[offs[g] + i, :] for the rows that group g has in x, and out has room for. Returns out."""
    k = kernel("ragged", "copy", T=matrix(x), I=numbers(offs, offs.shape[:1], "offs"))
    rows_as(out, x)
    if numbers(at, offs.shape, "at") != array(offs).dtype:
        raise TypeError("offs and at are numbers of one type")
    if 0 in x.shape or 0 in out.shape or offs.shape[0] == 0:
        return out
    row = padded_row(x.shape[1], size_of(x))
    to = padded(out, row)
    k(padded(x, row), side_by_side(offs), to, side_by_side(at))
    return unpadded(to, out)


# ---- pages ----


def pages_gather(cache, table, rows):
    """out[t, :] = cache[table[t // P], t % P, :] for t below `rows`; cache has pages of P rows, a page -1 gives zeros."""
    types = {"T": shaped(cache, 3, "a cache of pages"), "I": numbers(table, table.shape[:1], "table")}
    _, p, d = cache.shape
    y = empty(cache, (rows, d), zero=0 in cache.shape)
    if 0 in cache.shape:
        return y
    table = side_by_side(table)
    if not (whole(cache) and whole(y)):
        launch(kernel("odd", "pages", **types, **odd_row(cache.shape[-1], size_of(cache))), side_by_side(cache), table, y)
    elif p > 1 and rows == table.shape[0] * p:
        launch(kernel("pages", "gather_whole", **types), cache, table, view(y, (table.shape[0], p, d), (p * d, d, 1)))
    else:
        launch(kernel("pages", "gather", **types, C=row_part(cache)), cache, table, y)
    return y


def pages_append(x, slot, cache):
    """cache[slot[t] // P, slot[t] % P, :] = x[t, :]; slots are all different, -1 is left out. Returns cache."""
    types = {"T": matrix(x), "I": numbers(slot, x.shape[:1], "slot")}
    shaped(cache, 3, "a cache of pages")
    if cache.shape[2] != x.shape[1]:
        raise ValueError(f"cache has rows of {cache.shape[2]}, x of {x.shape[1]}")
    if 0 in x.shape or 0 in cache.shape:
        return cache
    x, slot = side_by_side(x), side_by_side(slot)
    if whole(x) and whole(cache):
        launch(kernel("pages", "append", **types, C=row_part(x)), x, slot, cache)
        return cache
    n, p, d = cache.shape
    s = strides_of(array(cache))
    together = s[2] == 1 and s[0] == p * s[1]
    c = cache if together else move(cache, empty(cache, cache.shape))
    _scattered(x, slot, view(c, (n * p, d), (s[1] if together else d, 1)), types)
    return cache if together else move(c, cache)
