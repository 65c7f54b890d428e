"""What convolutions read, and its gradient."""

import math

from .._arrays import array
from ._move import move, packed, padded, padded_row, unpadded, unwritten, whole
from ._views import channels, each, empty, kernel, shaped, size_of, strides_of, view


def _filter(x_space, size, stride, padding, dilation):
    """The numbers of a filter by dimension of space, and the pixels of what it makes."""
    n = len(x_space)
    size, stride = each(size, n, "size"), each(stride, n, "stride")
    padding, dilation = each(padding, n, "padding"), each(dilation, n, "dilation")
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
    size, stride, padding, dilation, made = _filter(x.shape[1:-1], size, stride, padding, dilation)
    taps, c, itemsize, t = math.prod(size), x.shape[-1], size_of(x), array(x).dtype
    y = empty(x, (x.shape[0], *made, taps * c))
    if 0 in y.shape:
        return y
    tile = _narrow(int(c) * itemsize, made, x.shape[0], size, stride, dilation)
    if tile is None and c * itemsize % 16:  # there is no room for what such pixels make
        row, pixels = padded_row(c, itemsize), x.shape[0] * math.prod(made)
        wide = im2col(padded(x, row), size, stride, padding, dilation)
        move(view(wide, (pixels, taps, c), (taps * row, row, 1)), view(y, (pixels, taps, c), (taps * c, c, 1)))
        return y
    x = packed(x)
    if tile is None:
        kernel("conv", f"im2col{n}", T=t, BC=channels(c, itemsize), **_defines(n, size, stride, padding, dilation))(x, y)
    else:
        ones, space = (1,) * (3 - n), (slice(None),) + (None,) * (3 - n)
        f = _defines(3, ones + size, ones + stride, (0,) * (3 - n) + padding, ones + dilation)
        kernel("conv", tile[0], T=t, C=c, BH=tile[1], BW=tile[2], **f)(x[space], y[space])
    return y


def col2im(cols, shape, size, stride=1, padding=0, dilation=1):
    """The gradient of im2col in two dimensions of space: cols [N, P, Q, taps * C] summed, in f32 and rounded once, to images of `shape` [N, H, W, C]."""
    t = shaped(cols, 4, "an array [N, P, Q, taps * C]")
    if len(shape) != 4:
        raise ValueError(f"shape is that of images [N, H, W, C], not {tuple(shape)}")
    n, h, w, c = shape
    size, stride, padding, dilation, made = _filter((h, w), size, stride, padding, dilation)
    taps = math.prod(size)
    if tuple(cols.shape) != (n, *made, taps * c):
        raise ValueError(f"columns {tuple(cols.shape)} are not those of images {tuple(shape)}, {(n, *made, taps * c)}")
    y = empty(cols, shape)
    if 0 in cols.shape:
        return y
    row = padded_row(c, size_of(cols))
    to = unwritten(y, row)
    if row != c or not whole(cols):
        s = strides_of(array(cols))
        wide = empty(cols, (*cols.shape[:3], taps * row))
        parts = (*cols.shape[:3], taps, c)
        move(view(cols, parts, (*s[:3], c * s[3], s[3])), view(wide, parts, (*(taps * row * k for k in (made[0] * made[1], made[1], 1)), row, 1)))
        cols = wide
    acc = t if t[0] in "us" or t == "f64" else "f32"
    kernel("conv", "col2im2", T=t, A=acc, BC=channels(c, size_of(cols)), **_defines(2, size, stride, padding, dilation))(cols, to)
    return unpadded(to, y)
