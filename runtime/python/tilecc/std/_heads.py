"""The heads of attention."""

from ._move import move, whole
from ._views import empty, kernel, launch, part, shaped


def _exchanged(name, x, t):
    """Tokens and heads, the middle ones of four dimensions, in the other order."""
    b, m, n, d = x.shape
    y = empty(x, (b, n, m, d))
    if d <= 256 and whole(x):
        launch(kernel("heads", name, T=t, D=d), x, y)
        return y
    return move(x.swapaxes(1, 2), y)


def split_heads(x):
    """out[b, h, s, :] = x[b, s, h, :]"""
    return _exchanged("split", x, shaped(x, 4, "an array [B, S, H, D]"))


def merge_heads(x):
    """out[b, s, h, :] = x[b, h, s, :]"""
    return _exchanged("merge", x, shaped(x, 4, "an array [B, H, S, D]"))


def split_qkv(qkv, kv_heads=None):
    """Queries, keys and values [B, heads, S, D] of qkv [B, S, N, D], whose N heads are those of queries, then kv_heads each of keys and values; a third of N if left out."""
    t = shaped(qkv, 4, "an array [B, S, N, D]")
    b, s, n, d = qkv.shape
    if kv_heads is None and n % 3 or kv_heads is not None and not 0 <= 2 * kv_heads <= n:
        raise ValueError(f"{n} heads are not those of queries, keys and values")
    g = n // 3 if kv_heads is None else kv_heads
    out = tuple(empty(qkv, (b, heads, s, d)) for heads in (n - 2 * g, g, g))
    if g and n > 2 * g and d <= 256 and whole(qkv):
        launch(kernel("heads", "split_qkv", T=t, D=d), qkv, *out)
    else:
        for y, at in zip(out, (0, n - 2 * g, n - g)):
            move(part(qkv, 2, at, at + y.shape[1]).swapaxes(1, 2), y)
    return out


def merge_qkv(q, k, v):
    """The way back: qkv [B, S, N, D]."""
    t = shaped(q, 4, "an array [B, H, S, D]")
    b, h, s, d = q.shape
    g = k.shape[1] if len(k.shape) == 4 else -1
    if tuple(k.shape) != (b, g, s, d) or tuple(v.shape) != (b, g, s, d):
        raise ValueError(f"keys {tuple(k.shape)} and values {tuple(v.shape)} do not go with queries {tuple(q.shape)}")
    out = empty(q, (b, s, h + 2 * g, d))
    if g and h and d <= 256 and whole(q) and whole(k) and whole(v):
        launch(kernel("heads", "merge_qkv", T=t, D=d), q, k, v, out)
    else:
        for x, at in zip((q, k, v), (0, h, h + g)):
            move(x.swapaxes(1, 2), part(out, 2, at, at + x.shape[1]))
    return out
