"""The package with CuPy and JAX, as far as they are here: on a GPU where there is one, JAX else on the simulator. Run with pytest, or as a program."""

import importlib
import sys

import numpy as np

import all_tests
import tilecc

SOURCE = """
kernel copy<T = f32>(src: global T[M, N] stride [S, 1], dst: global T[M, N]) {
    pipeline (i, j) in (ceil(M, 16), ceil(N, 64)) across grid {
        shared t: T[16, 64];
        move src[i * 16, j * 64] -> t;
        move t -> dst[i * 16, j * 64];
    }
}
"""


def of(type_):
    return tilecc.loads(SOURCE, name="test_others.tile", **{"copy.T": type_})


def there(name):
    try:
        return importlib.import_module(name)
    except ImportError:
        print(f"no {name} here")
        return None


def test_jax():
    jax = there("jax")
    if jax is None:
        return
    jnp, k = jax.numpy, of("f32")
    x = jnp.arange(40 * 128, dtype=jnp.float32).reshape(40, 128)
    for _ in range(20):  # what comes before and behind the kernel is asynchronous
        y = k.copy(x * 2 + 1, dst=jnp.empty) + 1
        assert type(y) is type(x) and y.dtype == jnp.float32 and bool((y == x * 2 + 2).all())
        x = y / 2
    b = x.astype(jnp.bfloat16)
    y = of("bf16").copy(b, dst=jnp.empty)
    assert y.dtype == jnp.bfloat16 and bool((y == b).all())
    y = of("bf16").copy(b.view(jnp.int16), dst=jnp.empty)  # the same bits
    assert y.dtype == jnp.bfloat16 and bool((y == b).all())
    all_tests.raises(TypeError, "argument 'dst' is written, and this array is read-only: dst=jax.numpy.empty", lambda: k.copy(x, x + 1))
    all_tests.raises(TypeError, "argument 'src' has elements of s32", lambda: k.copy(x.astype(jnp.int32), dst=jnp.empty))
    all_tests.raises(TypeError, "tilecc.load", lambda: tilecc.std.copy(x))


def test_cupy():
    cupy = there("cupy")
    if cupy is None or not cupy.cuda.is_available():
        return
    k = of("f32")
    x = cupy.arange(4096 * 1024, dtype=cupy.float32).reshape(4096, 1024)
    y = k.copy(x, dst=cupy.empty)
    assert isinstance(y, cupy.ndarray) and bool((x == y).all())
    assert bool((k.copy(x[:, 512:], dst=cupy.empty) == x[:, 512:]).all())
    side = cupy.cuda.Stream(non_blocking=True)
    with side:  # on its stream: no order with the default one would be seen
        for n in range(20):
            x += 1
            k.copy(x, y)
            y *= 2
        assert bool((y == 2 * x).all())
    side.synchronize()
    h = x.astype(cupy.float16)
    for f, want in {
        lambda: tilecc.std.transpose(h): h.T,
        lambda: tilecc.std.concat([h, h[:64]]): cupy.concatenate([h, h[:64]]),
        lambda: tilecc.std.gather(h, cupy.asarray([5, 7, 4095, 0], dtype=cupy.int32)): h[[5, 7, 4095, 0]],
    }.items():
        assert bool((f() == want).all())
    all_tests.raises(TypeError, "'dst' is on another device than 'src'", lambda: k.copy(x, np.empty((4096, 1024), np.float32)))


if __name__ == "__main__":
    sys.exit(all_tests.run(globals()) > 0)
