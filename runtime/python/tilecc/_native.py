"""The C libraries, as ctypes sees them: tile.h (load, bind, launch), tile_source.h (compile .tile at run time), tilecc.h (plans), as they are in the
version that INTERFACE names.

They lie in the package (a wheel), in the folder that TILECC_LIBRARY_PATH names, or where the loader finds them. Beside them may lie `_fast`, the
extension that _remember.py says more about.
"""

import ctypes
import importlib.machinery
import importlib.util
import os
import sys
import sysconfig
from ctypes import POINTER, Structure, c_char, c_char_p, c_double, c_int, c_int64, c_size_t, c_uint32, c_uint64, c_uint, c_void_p


INTERFACE = "0.2"  # major and minor number of TILECC_VERSION: tests/meta compares


class TileError(Structure):
    """tile_error: the text of what is wrong, "E1124: .." where it has a code."""

    _fields_ = [("status", c_int), ("text", c_char * 4096)]


class Param(Structure):
    """tile_param."""

    _fields_ = [
        ("name", c_char_p),
        ("is_scalar", c_int),
        ("type", c_int),
        ("rank", c_int),
        ("extents", c_char_p),
        ("written", c_int),
        ("read", c_int),
    ]


class LaunchFacts(Structure):
    """tile_launch_facts."""

    _fields_ = [
        ("grid", c_uint32 * 3),
        ("deal", c_char_p),
        ("iterations", c_int64),
        ("teams", c_uint32),
        ("per_sm", c_uint32),
        ("counters", c_int),
        ("hints", c_int),
        ("traffic", c_int64),
        ("l2", c_int64),
        ("schedule", c_int),
        ("schedules", c_int),
        ("pick", c_char_p),
        ("pick_least", c_int64),
        ("picked_for_gpu", c_int),
        ("threads", c_uint32),
        ("smem", c_uint32),
    ]


class Define(Structure):
    """tilecc_define."""

    _fields_ = [("name", c_char_p), ("value", c_char_p)]


class Options(Structure):
    """tilecc_options as far as it is used; struct_size says how far that is."""

    _fields_ = [
        ("struct_size", c_size_t),
        ("emit", c_int),
        ("arch", c_char_p),
        ("default_arch", c_char_p),
        ("ptx_version", c_uint),
        ("lineinfo", c_int),
        ("defines", POINTER(Define)),
        ("ndefines", c_size_t),
    ]


class Result(Structure):
    """tilecc_result as far as it is used."""

    _fields_ = [
        ("status", c_int),
        ("message", c_char_p),
        ("diagnostics", c_char_p),
        ("diagnostics_size", c_size_t),
        ("errors", c_uint),
        ("warnings", c_uint),
        ("output", c_void_p),
        ("output_size", c_size_t),
    ]


_HERE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "lib")


def _load(name):
    name = f"lib{name}.so.{INTERFACE}"
    tried = []
    for folder in (os.environ.get("TILECC_LIBRARY_PATH"), _HERE, None):
        path = name if folder is None else os.path.join(folder, name)
        if folder is not None and not os.path.exists(path):
            tried.append(path)
            continue
        try:
            return ctypes.CDLL(path, mode=ctypes.RTLD_GLOBAL)
        except OSError as e:
            tried.append(str(e))
    raise ImportError(f"tilecc: {name} can't be loaded ({'; '.join(tried)}); TILECC_LIBRARY_PATH names a folder that has it")


def _extension():
    """tilecc._fast; None where there is none, where this Python is not one that it is for, or where TILECC_FAST=off."""
    if os.environ.get("TILECC_FAST") == "off" or sys.implementation.name != "cpython" or sys.version_info < (3, 10):
        return None
    if sysconfig.get_config_var("Py_GIL_DISABLED"):
        return None
    for folder in (os.environ.get("TILECC_LIBRARY_PATH"), _HERE):
        path = os.path.join(folder or "", "_fast.abi3.so")
        if folder and os.path.exists(path):
            loader = importlib.machinery.ExtensionFileLoader("tilecc._fast", path)
            spec = importlib.util.spec_from_file_location("tilecc._fast", path, loader=loader)
            try:
                module = importlib.util.module_from_spec(spec)
                loader.exec_module(module)
                return module
            except ImportError:
                return None
    return None


fast = _extension()
compiler = _load("tilecc")
tile = _load("tile")
source = _load("tile_source")


def _declare(library, name, result, *arguments):
    f = getattr(library, name)
    f.restype = result
    f.argtypes = arguments
    return f


_error = POINTER(TileError)
type_name = _declare(tile, "tile_type_name", c_char_p, c_int)
type_bits = _declare(tile, "tile_type_bits", c_int, c_int)
device_open = _declare(tile, "tile_device_open", c_int, c_char_p, POINTER(c_void_p), _error)
device_close = _declare(tile, "tile_device_close", None, c_void_p)
device_name = _declare(tile, "tile_device_name", c_char_p, c_void_p)
device_arch = _declare(tile, "tile_device_arch", c_char_p, c_void_p)
alloc = _declare(tile, "tile_alloc", c_int, c_void_p, c_size_t, POINTER(c_uint64), _error)
release = _declare(tile, "tile_release", c_int, c_void_p, c_uint64, _error)
synchronize = _declare(tile, "tile_synchronize", c_int, c_void_p, c_void_p, _error)
write = _declare(tile, "tile_write", c_int, c_void_p, c_uint64, c_void_p, c_size_t, _error)
read = _declare(tile, "tile_read", c_int, c_void_p, c_void_p, c_uint64, c_size_t, _error)
module_load_source = _declare(
    tile, "tile_module_load_source", c_int, c_void_p, c_char_p, c_char_p, c_size_t, POINTER(c_char_p), c_size_t, POINTER(c_void_p), _error
)
module_free = _declare(tile, "tile_module_free", None, c_void_p)
kernel_count = _declare(tile, "tile_kernel_count", c_size_t, c_void_p)
kernel_at = _declare(tile, "tile_kernel_at", c_void_p, c_void_p, c_size_t)
kernel_name = _declare(tile, "tile_kernel_name", c_char_p, c_void_p)
param_count = _declare(tile, "tile_param_count", c_size_t, c_void_p)
param_info = _declare(tile, "tile_param_info", c_int, c_void_p, c_size_t, POINTER(Param))
args_new = _declare(tile, "tile_args_new", c_int, c_void_p, POINTER(c_void_p), _error)
args_free = _declare(tile, "tile_args_free", None, c_void_p)
bind = _declare(
    tile, "tile_bind", c_int, c_void_p, c_char_p, c_uint64, c_size_t, c_int, c_int, POINTER(c_int64), POINTER(c_int64), _error
)
bind_scalar = _declare(tile, "tile_bind_scalar", c_int, c_void_p, c_char_p, c_int64, _error)
symbol = _declare(tile, "tile_symbol", c_int, c_void_p, c_char_p, POINTER(c_int64), _error)
launch = _declare(tile, "tile_launch", c_int, c_void_p, c_void_p, _error)
launch_at = _declare(tile, "tile_launch_at", c_int, c_void_p, c_void_p, c_size_t, c_void_p, c_void_p)  # of plain addresses: read in half the time
launch_at_address = ctypes.cast(launch_at, c_void_p).value
launch_info = _declare(tile, "tile_launch_info", c_int, c_void_p, POINTER(LaunchFacts), _error)
time = _declare(tile, "tile_time", c_int, c_void_p, c_void_p, c_int, POINTER(c_double), _error)
use_compiler = _declare(source, "tile_use_compiler", None, c_void_p)
compile = _declare(compiler, "tilecc_compile", POINTER(Result), POINTER(Options), c_char_p, c_char_p, c_size_t)
free_result = _declare(compiler, "tilecc_free", None, POINTER(Result))
library = _declare(compiler, "tilecc_library", c_void_p, c_char_p, POINTER(c_size_t), POINTER(c_char_p))
version = _declare(compiler, "tilecc_version", c_char_p)
