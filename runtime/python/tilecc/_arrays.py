"""Arrays of other packages, as addresses with shapes: PyTorch by its own attributes, NumPy and CuPy by their array interfaces, all
others by DLPack. Nothing is copied."""

import ctypes
import operator
import sys
from ctypes import POINTER, Structure, c_int32, c_int64, c_uint8, c_uint16, c_uint64, c_void_p

CPU, CUDA = 1, 2  # DLDeviceType; CUDA memory that is pinned or managed counts as what it is used as
_CUDA_LIKE = {2: CUDA, 3: CPU, 13: CUDA}  # kDLCUDA, kDLCUDAHost, kDLCUDAManaged


RAW = ("u8", "s8", "u16", "s16")  # integers that stand for the bits of floats of their width where a kernel takes such


class Array:
    """Where an array lies. strides: in elements, or None if it is contiguous. raw: its dtype stands for the bits of floats, too."""

    __slots__ = ("address", "shape", "strides", "dtype", "raw", "device", "keep", "readonly")

    def __init__(self, address, shape, strides, dtype, device, keep, raw=False, readonly=False):
        self.address, self.shape, self.strides, self.dtype = address, shape, strides, dtype
        self.device, self.keep, self.raw, self.readonly = device, keep, raw or dtype in RAW, readonly


def package(x):
    """The name of the package that x, an array or what Array keeps of one, is of."""
    torch, x = sys.modules.get("torch"), x[0] if type(x) is tuple else x
    if torch is not None and isinstance(x, torch.Tensor):
        return "torch"
    kind = next((k for k in type(x).__mro__ if k.__name__ == "ndarray"), type(x))  # a user's class is of the package that it is derived from
    name = kind.__module__.partition(".")[0]
    return "jax" if name == "jaxlib" else name


# ---- PyTorch ----

TORCH_NAMES = {
    "u8": "uint8", "u16": "uint16", "u32": "uint32", "u64": "uint64", "s8": "int8", "s16": "int16", "s32": "int32", "s64": "int64",
    "f16": "float16", "bf16": "bfloat16", "f32": "float32", "tf32": "float32", "f64": "float64", "e4m3": "float8_e4m3fn", "e5m2": "float8_e5m2",
}
_torch_types = {}


def is_traced(torch, x):
    """Is x a tensor that stands for one that comes later, or wraps others: which only operators take."""
    kind = type(x)
    return (
        kind is not torch.Tensor and isinstance(x, torch.Tensor)
        and kind.__torch_dispatch__ is not torch._C._disabled_torch_dispatch_impl
    )


def torch_type(x):
    """Our name of the element type of a tensor."""
    torch = sys.modules["torch"]
    if not _torch_types:
        names = {**{name: type_ for type_, name in TORCH_NAMES.items() if type_ != "tf32"}, "bool": "u8"}
        _torch_types.update((getattr(torch, name), type_) for name, type_ in names.items() if hasattr(torch, name))
    dtype = _torch_types.get(x.dtype)
    if dtype is None:
        raise TypeError(f"elements of {x.dtype} have no type in .tile")
    return dtype


def _from_torch(torch, x):
    dtype = torch_type(x)
    if x.requires_grad and torch.is_grad_enabled():
        raise TypeError("it requires grad, and kernels record no gradients: pass x.detach()")
    if x.is_neg():
        raise TypeError("its elements are the negatives of what lies in memory: pass x.resolve_neg()")
    device = x.device
    if device.type not in ("cpu", "cuda"):
        raise TypeError(f"it lies on {device}")
    where = (CPU, 0) if device.type == "cpu" else (CUDA, device.index or 0)
    address = 0 if is_traced(torch, x) else x.data_ptr()
    return Array(address, tuple(x.shape), None if x.is_contiguous() else x.stride(), dtype, where, x)


# ---- array interfaces ----

_KINDS = {"i": "s", "u": "u", "f": "f", "b": "u"}


def _from_interface(x, interface, device, readonly=False):
    shape, text = tuple(interface["shape"]), interface["typestr"]
    raw = text[1] == "V"
    size = int(text[2:]) if raw or text[1] in _KINDS else 0
    if size not in (1, 2, 4, 8):
        raise TypeError(f"elements of type {text}, as NumPy writes it, have no type in .tile")
    if text[0] == ">":
        raise TypeError("its bytes are in big-endian order")
    if interface.get("mask") is not None:
        raise TypeError("some of its elements are masked, and what is masked would be moved, too")
    dtype = ("u" if raw else _KINDS[text[1]]) + str(8 * size)
    name = getattr(getattr(x, "dtype", None), "name", "")  # ml_dtypes
    dtype = {"bfloat16": "bf16", "float8_e4m3fn": "e4m3", "float8_e5m2": "e5m2"}.get(name, dtype)
    strides = interface.get("strides")
    if strides is not None:
        if any(s % size for s in strides):
            raise TypeError("its strides are no multiples of its elements")
        strides = tuple(s // size for s in strides)
    address, is_readonly = interface["data"]
    return Array(address or 0, shape, strides, dtype, device, x, raw, readonly or is_readonly)


# ---- DLPack ----


class _DLDevice(Structure):
    _fields_ = [("type", c_int32), ("id", c_int32)]


class _DLTensor(Structure):
    _fields_ = [
        ("data", c_void_p), ("device", _DLDevice), ("ndim", c_int32), ("code", c_uint8), ("bits", c_uint8), ("lanes", c_uint16),
        ("shape", POINTER(c_int64)), ("strides", POINTER(c_int64)), ("byte_offset", c_uint64),
    ]


_DL_TYPES = {
    (0, 8): "s8", (0, 16): "s16", (0, 32): "s32", (0, 64): "s64", (1, 8): "u8", (1, 16): "u16", (1, 32): "u32", (1, 64): "u64",
    (2, 16): "f16", (2, 32): "f32", (2, 64): "f64", (4, 16): "bf16", (6, 8): "u8", (10, 8): "e4m3", (12, 8): "e5m2",
}

_capsule_pointer = ctypes.pythonapi.PyCapsule_GetPointer
_capsule_pointer.restype = c_void_p
_capsule_pointer.argtypes = (ctypes.py_object, ctypes.c_char_p)


def _from_dlpack(x):
    kind, number = x.__dlpack_device__()
    kind = _CUDA_LIKE.get(int(kind), int(kind))
    if kind not in (CPU, CUDA):
        raise TypeError("it is neither in memory of the CPU nor of a CUDA device")
    capsule = x.__dlpack__(stream=1) if kind == CUDA else x.__dlpack__()  # 1: what is in the array is there for the default stream
    t = ctypes.cast(_capsule_pointer(capsule, b"dltensor"), POINTER(_DLTensor)).contents
    dtype = _DL_TYPES.get((t.code, t.bits)) if t.lanes == 1 else None
    if dtype is None:
        raise TypeError(f"elements of DLPack type ({t.code}, {t.bits} bits, {t.lanes} lanes) have no type in .tile")
    shape = tuple(t.shape[i] for i in range(t.ndim))
    strides = tuple(t.strides[i] for i in range(t.ndim)) if t.strides else None
    return Array((t.data or 0) + t.byte_offset, shape, strides, dtype, (kind, int(number) if kind == CUDA else 0), (x, capsule), readonly=package(x) == "jax")


def _is_number(x):
    """A number of NumPy, whose array interface is of a copy that is gone by then."""
    numpy = sys.modules.get("numpy")
    return numpy is not None and isinstance(x, numpy.generic)


def is_integer(x):
    """Is x a whole number, of Python, NumPy or PyTorch, or one of its symbols, which is not asked for its value."""
    try:
        return hasattr(type(x), "__index__") and (not hasattr(x, "shape") or operator.index(x) is not None)
    except TypeError:
        return False


MASKED = "it is a masked array, and what is masked would be moved, too: pass x.filled(..), or x.data, which hides nothing"


def is_masked(x):
    """Does x hide elements, which whoever works on its memory sees all the same."""
    masked = sys.modules.get("numpy.ma")
    return masked is not None and isinstance(x, masked.MaskedArray)


def array(x):
    """Array of x; TypeError with a clause that goes behind its name."""
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(x, torch.Tensor):
        return _from_torch(torch, x)
    interface = getattr(x, "__cuda_array_interface__", None)
    if interface is not None:
        number = getattr(getattr(x, "device", None), "id", 0)
        return _from_interface(x, interface, (CUDA, number), package(x) == "jax")
    if _is_number(x):
        raise TypeError(f"a {type(x).__name__} of NumPy is a number, no array")
    interface = getattr(x, "__array_interface__", None)
    if interface is not None:
        if is_masked(x):
            raise TypeError(MASKED)
        return _from_interface(x, interface, (CPU, 0))
    if hasattr(x, "__dlpack__"):
        return _from_dlpack(x)
    raise TypeError(f"a {type(x).__name__} is no array: PyTorch, NumPy, CuPy, or any that speaks DLPack")


def is_array(x):
    return not _is_number(x) and (hasattr(x, "__dlpack__") or hasattr(x, "__array_interface__") or hasattr(x, "__cuda_array_interface__"))
