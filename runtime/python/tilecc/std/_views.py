"""What all functions of the library do with arrays: make them, look at them in another way, ask what their elements are, launch on them."""

import sys

from .. import _row_major, load
from .._arrays import MASKED, array, is_integer, is_masked, package
from .._remember import made

_kernels = {}


def kernel(module, name, **types):
    """The kernel with these element types; compiled once for each."""
    types = {t: v if isinstance(v, str) else int(v) for t, v in types.items()}  # sizes may be symbols of torch.compile
    key = (module, name, *types.values())
    k = _kernels.get(key)
    if k is None:
        k = _kernels[key] = getattr(load(f"std.{module}", kernel=name, **{f"{name}.{t}": v for t, v in types.items()}), name)
    return k


def launch(k, *arguments):
    """Nothing is moved, and nothing launched, where an array has no elements."""
    if all(0 not in x.shape for x in arguments if hasattr(x, "shape")):
        k(*arguments)


# ---- what makes arrays ----


def package_of(x):
    if is_masked(x):
        raise TypeError(MASKED)
    name = package(x)
    if name == "jax":
        raise TypeError("an array of JAX, which has no views: tilecc.load has the kernels of the library, too")
    return sys.modules[name]


def is_torch(x):
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(x, torch.Tensor)


def empty(like, shape, dtype=None, zero=False):
    make, shape, more = getattr(package_of(like), "zeros" if zero else "empty"), tuple(shape), {"dtype": dtype or like.dtype}
    if is_torch(like):
        more["device"] = like.device
    x = make(shape, **more)
    made(make, shape, more, x)
    return x


def view(x, shape, strides):
    """The same memory from its first element on; strides in elements."""
    if is_torch(x):
        return x.as_strided(shape, strides)
    tricks = package_of(x).lib.stride_tricks
    return tricks.as_strided(x, shape, [s * x.itemsize for s in strides])


def bits(x):
    """The same elements as integers of their size: what only moves may be of any type."""
    n = 8 * size_of(x)
    name = "uint8" if n == 8 else f"int{n}"
    return x.view(getattr(package_of(x), name))


_ADDED = ("u32", "s32", "u64", "s64", "f16", "bf16", "f32", "f64")  # by copy engines: PTX ISA, cp.reduce.async.bulk; s64 by way of u64


def to_be_added(what, x, out, sums=None):
    """x and out as copy engines add them: s64 as u64, whose sums have the same bits. what: the name of x; sums: the type of out, if it is not that of x."""
    t, given = sums or array(x).dtype, array(out).dtype
    if t not in _ADDED:
        raise TypeError(f"{what} has elements of {t}: copy engines add {', '.join(_ADDED)}")
    if given != t:
        raise TypeError(f"out has elements of {given}, wanted are {t}")
    return [a.view(package_of(a).uint64) if t == "s64" else a for a in (x, out)]


def part(x, dim, begin, end):
    """x[.., begin:end, ..] along dim."""
    return x[(slice(None),) * dim + (slice(begin, end),)]


# ---- what arrays are ----


def strides_of(a):
    """Of an Array, in elements."""
    return list(a.strides or _row_major(a.shape))


def is_contiguous(a):
    """Of an Array: strides of dimensions with one element don't count."""
    return a.strides is None or all(n == 1 or s == want for n, s, want in zip(a.shape, a.strides, _row_major(a.shape)))


def size_of(x):
    return x.element_size() if is_torch(x) else x.itemsize


def is_bool(x):
    return str(x.dtype).rpartition(".")[2] == "bool"


def shaped(x, rank, what):
    """The element type of x, which has this many dimensions."""
    if len(x.shape) != rank:
        raise ValueError(f"{what} is wanted, this has {len(x.shape)} dimensions")
    return array(x).dtype


def matrix(x):
    return shaped(x, 2, "a matrix")


def same(out, shape):
    if tuple(out.shape) != tuple(shape):
        raise ValueError(f"out has shape {tuple(out.shape)}, wanted is {tuple(shape)}")
    return out


def rows_as(out, x):
    """out has rows as those of x, any number of them."""
    if len(out.shape) != 2 or out.shape[1] != x.shape[1]:
        raise ValueError(f"out has shape {tuple(out.shape)}, wanted are rows of {x.shape[1]}")
    return out


def integers(**given):
    """A TypeError of one that is none."""
    for name, value in given.items():
        if not is_integer(value):
            raise TypeError(f"{name} is an integer, not {value!r}")


def dimension(dim, rank):
    integers(**{"a dimension": dim})
    if not -rank <= dim < rank:
        raise ValueError(f"there is no dimension {dim} of {rank}")
    return dim % rank


def numbers(x, shape, what):
    """The type of integers that say where rows go or come from."""
    shape = tuple(shape) or (1,)
    if tuple(x.shape) != shape:
        raise ValueError(f"{what} has shape {tuple(x.shape)}, wanted is {shape}")
    t = array(x).dtype
    if t[0] not in "us" or is_bool(x):
        raise TypeError(f"{what} has elements of {x.dtype}, wanted are integers")
    return t


def each(value, n, what):
    values = tuple(value) if hasattr(value, "__len__") else (value,) * n
    if len(values) != n:
        raise ValueError(f"{what} has {len(values)} numbers, wanted are {n}")
    return values


# ---- tiles ----


def power(n, most):
    """The least power of two that is n or more, at most that; n may be a symbol of torch.compile."""
    m = 1
    while m < n and m < most:
        m *= 2
    return min(m, most)


def row_part(x, halves=True):
    """Elements of a row that are moved at a time, in large launches | in small ones: 8 KB at most, and of shorter rows the next power of two, so that
    several rows go together. halves: whether small launches win by two teams for 8 KB."""
    size = size_of(x)
    n = max(256 // size, power(x.shape[-1], 8192 // size))
    return f"{n}|{n // 2 if halves and n == 8192 // size else n}"


def columns(n, size):
    """Columns of a tile: rows of 512 bytes at most and 256 elements, of shorter ones the next power of two."""
    return max(16 // size, power(n, min(256, 512 // size)))


def channels(c, itemsize):
    """Channels of a tile: rows of 256 bytes at most, and not many more than there are."""
    unit, most = max(16 // itemsize, 1), 256 // itemsize
    return min(most, max(-(-c // unit), 1) * unit)


def odd_tile(n, rows, size, least=32, most=8192):
    """Columns, rows and threads of a tile of std.odd: of rows above 2 KB equal parts of one, of `most` bytes at most; else several rows, by powers of two.
    n may be a symbol of torch.compile: it is compared with numbers, and nothing else."""
    if n * size <= 2048:
        return {**spread_tile(n, rows, size, least), "THREADS": 128}
    parts, unit, eighths = 1, 32, 8
    while parts < 16 and parts * most < n * size:
        parts += 1
    while unit * 2 * 8 * size <= 2048:
        unit *= 2
    while unit * eighths * parts < n and unit * eighths * size < most:
        unit, eighths = (unit, eighths + 1) if eighths < 15 else (unit * 2, 8)
    return {"BN": unit * eighths, "BM": 1, "THREADS": 64 if unit * eighths * size <= 3072 else 128}


def odd_row(n, size):
    """The same where each row is by itself."""
    tile = odd_tile(n, 1, size)
    return {"BN": tile["BN"], "THREADS": 32 if tile["BN"] * size <= 2048 else tile["THREADS"]}


def spread_tile(n, rows, size, least=32):
    """Columns and rows of a tile of 8 KB at most, by powers of two: of elements that do not lie side by side, or of short rows."""
    width = max(least, power(n, 2048 // size))
    return {"BN": width, "BM": power(rows, 8192 // size // width)}
