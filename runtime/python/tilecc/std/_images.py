"""Images with channels innermost, with borders and in tiles."""

import math

from .._arrays import array
from ._matrices import windows
from ._move import flip, move, packed, whole
from ._views import channels, each, empty, kernel, launch, part, shaped, size_of, strides_of, view


def _fitting(n, most):
    """The side of tiles, at most that, which cover n with little beyond it and with few tiles."""
    return min(range(1, most + 1), key=lambda b: -(-n // b) * (b + 1))


def pad_nhwc(x, top=0, bottom=0, left=0, right=0, mode="constant"):
    """Images [N, H, W, C] with a border: zeros ("constant"), the pixel at the edge ("edge"), reflected there ("reflect"), or from the other side ("wrap"), the modes of numpy.pad.
    Negative numbers, with "constant" only, cut off."""
    name = {"constant": "zero", "edge": "edge", "reflect": "reflect", "wrap": "wrap"}.get(mode)
    if name is None:
        raise ValueError(f"mode {mode!r} is none of constant, edge, reflect, wrap")
    t = shaped(x, 4, "an array [N, H, W, C]")
    n, h, w, c = x.shape
    if mode != "constant" and min(top, bottom, left, right) < 0:
        raise ValueError(f"a border of mode {mode} is not negative")
    if mode == "reflect" and n * c and (max(top, bottom) >= h or max(left, right) >= w):
        raise ValueError("a reflection is smaller than what is reflected")
    if h + top + bottom < 0 or w + left + right < 0:
        raise ValueError("more is cut off than there is")
    y = empty(x, (n, h + top + bottom, w + left + right, c), zero=0 in x.shape)
    if 0 in x.shape or 0 in y.shape:
        return y
    if whole(x):
        kernel("pad", name, T=t, **_zeros_tile(y) if mode == "constant" else {})(x, y, top, left)
    elif mode == "constant":
        windows(_of_rows(x), _of_rows(y)[None], (0, top, left * c))
    else:
        middle = part(y, 1, top, top + h)
        move(x, part(middle, 2, left, left + w))
        _sides(x, middle, 2, left, mode)
        _sides(middle, y, 1, top, mode)
    return y


def _zeros_tile(y):
    """The tile of the kernel for zeros."""
    size = size_of(y)
    bc = channels(y.shape[3], size)
    bw = _fitting(y.shape[2], 8)
    bh = [_fitting(y.shape[1], max(1, min(8, b // (bc * bw * size)))) for b in (4608, 4608, 2304)]
    return {"BC": bc, "BW": bw, "BH": "|".join(map(str, bh))}


def _of_rows(x):
    """Images [N, H, W * C], of a copy where the pixels of a row don't lie together."""
    s, (n, h, w, c) = strides_of(array(x)), x.shape
    if (s[3] != 1 and c > 1) or (s[2] != c and w > 1):
        x = packed(x)
        s = strides_of(array(x))
    return view(x, (n, h, w * c), (s[0], s[1], 1))


def _sides(x, y, dim, before, mode):
    """y has x along dim, from `before` on; the elements in front of it and behind it, by the mode."""
    n, end = x.shape[dim], before + x.shape[dim]
    after = y.shape[dim] - end
    if mode == "edge":
        for begin, k, at in ((0, before, 0), (end, after, n - 1)):
            y2, x2 = part(y, dim, begin, begin + k), part(x, dim, at, at + 1)
            s = strides_of(array(x2))
            s[dim] = 0
            move(view(x2, y2.shape, s), y2)
    elif mode == "reflect":
        flip(part(x, dim, 1, before + 1), part(y, dim, 0, before), dim)
        flip(part(x, dim, n - 1 - after, n - 1), part(y, dim, end, end + after), dim)
    else:
        first, last = before % n, end + after // n * n
        move(part(x, dim, n - first, n), part(y, dim, 0, first))
        for begin, stop in ((first, before), (end, last)):
            _rounds(x, part(y, dim, begin, stop), dim)
        move(part(x, dim, 0, after % n), part(y, dim, last, end + after))


def _rounds(x, y, dim):
    """y = x, again and again along dim."""
    n, shape = x.shape[dim], list(x.shape)
    s, d = strides_of(array(x)), strides_of(array(y))
    shape[dim : dim + 1] = [y.shape[dim] // n, n]
    move(view(x, shape, [*s[:dim], 0, *s[dim:]]), view(y, shape, [*d[:dim], n * d[dim], *d[dim:]]))


# ---- tiles ----


def _fit(x, with_border):
    """Are they tiles as copy engines take them, and is there room for one in shared memory?"""
    return max(with_border) <= 256 and math.prod(with_border) * size_of(x) <= 226 << 10


def halo(x, tile, border):
    """Tiles of a matrix, or of an array of three dimensions, with a border of what lies around them, zeros outside. Of a matrix out [I, J, ..] by rows and columns of tiles, else
    [number, ..] row-major."""
    n = len(x.shape)
    if n not in (2, 3):
        raise ValueError(f"an array of 2 or 3 dimensions is wanted, this has {n}")
    tile, border = each(tile, n, "tile"), each(border, n, "border")
    if min(tile) < 1 or min(border) < 0:
        raise ValueError("a tile below 1, or a border below 0")
    counts = [-(-e // t) for e, t in zip(x.shape, tile)]
    with_border = [t + 2 * b for t, b in zip(tile, border)]
    y = empty(x, (*(counts if n == 2 else [math.prod(counts)]), *with_border))
    if 0 in x.shape:
        return y
    if whole(x) and _fit(x, with_border) and all(e * size_of(x) % 16 == 0 for e in (tile[-1], border[-1])):
        axes = "DHW"[3 - n :]
        sizes = {f"B{a}": t for a, t in zip(axes, tile)} | {f"H{a}": b for a, b in zip(axes, border)}
        kernel("halo", f"halo{n}", T=array(x).dtype, **sizes)(x, y)
    elif n == 3:
        windows(x, y, border, counts[1:], tile)
    else:
        windows(x[None], view(y, (math.prod(counts), 1, *with_border), (math.prod(with_border), 0, with_border[1], 1)), (0, *border), counts, (1, *tile))
    return y


def halo_nhwc(x, tile, border):
    """Tiles of images [N, H, W, C] with a border of what lies around them, zeros outside: out [number, rows, columns, C], image by image, row-major."""
    t = shaped(x, 4, "an array [N, H, W, C]")
    n, h, w, c = x.shape
    (bh, bw), (hh, hw) = each(tile, 2, "tile"), each(border, 2, "border")
    if min(bh, bw) < 1 or min(hh, hw) < 0:
        raise ValueError("a tile below 1, or a border below 0")
    counts = (-(-h // bh), -(-w // bw))
    y = empty(x, (n * math.prod(counts), bh + 2 * hh, bw + 2 * hw, c))
    if 0 in x.shape:
        return y
    bc = channels(c, size_of(x))
    if whole(x) and _fit(x, (bh + 2 * hh, bw + 2 * hw, bc)):
        kernel("halo", "halo_nhwc", T=t, BH=bh, BW=bw, HH=hh, HW=hw, BC=bc)(x, y)
    else:
        rows = _of_rows(y)
        windows(_of_rows(x), rows[:, None], (0, hh, hw * c), counts, (1, bh, bw * c))
    return y
