"""tilecc: kernels that move tiles of data, written in .tile, called with the arrays of PyTorch, NumPy, CuPy or JAX.

    import tilecc, torch

    k = tilecc.load("moe.tile", D=4096)          # compiled at the first call, for the GPU of its arrays
    k.permute(x, src, out)                       # on torch's current stream
    y = k.permute(x, src, out=torch.empty)       # made as the signature says
    print(k.permute.plan())                      # which instruction each move became, and why

Arrays on the CPU run on the simulator, which finds races and missing waits as well. What a launch checks and finds wrong, and what the compiler
says, comes as an exception with the text that `tilecc` prints.
"""

import ctypes
import errno
import itertools
import operator
import os
import re
import struct
import sys
import threading
from ctypes import byref, c_double, c_int64, c_size_t, c_uint64, c_void_p

from . import _extents as extents
from . import _native as native
from . import _remember, _torch
from ._arrays import CPU, CUDA, TORCH_NAMES, array, is_array, is_traced, package

__all__ = ["load", "loads", "std", "Module", "Kernel", "Error", "CompileError", "LaunchError", "__version__"]
__version__ = native.version().decode()


class Error(Exception):
    """What is wrong, as one sentence or several lines. code: "E1124" where the text has one, else None."""

    def __init__(self, text):
        super().__init__(text.rstrip())
        found = re.search(r"\b[EP]\d{4}\b", text)
        self.code = found.group() if found else None


class CompileError(Error):
    """The source is wrong: the text holds the compiler's messages."""


class LaunchError(Error):
    """A launch check failed, or the simulator found a fault while the kernel ran."""


_ARGUMENT, _CHECK, _SOURCE, _KERNEL = 1, 2, 4, 9  # tile_status


def _check(status, error):
    if status == 0:
        return
    text = error.text.decode(errors="replace")
    raise (CompileError if status == _SOURCE else LaunchError if status in (_ARGUMENT, _CHECK, _KERNEL) else Error)(text)


# ---- devices ----

_devices = {}
_lock = threading.Lock()  # of devices that are opened, and of calls on the simulator, which has its own memory and runs one launch at a time


class _Work:
    """What threads do that a child would find half done, with its locks taken: a fork waits until nobody is at it, and nobody begins meanwhile."""

    def __init__(self):
        self.changed, self.now = threading.Condition(threading.Lock()), 0
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(before=self._stop, after_in_parent=self.changed.release, after_in_child=self.changed.release)

    def _stop(self):
        self.changed.acquire()
        while self.now:
            self.changed.wait()

    def __enter__(self):
        with self.changed:
            self.now += 1

    def __exit__(self, *_):
        with self.changed:
            self.now -= 1
            self.changed.notify_all()


_work = _Work()


def _device(where):
    """The tile_device of ("cuda", 1) or ("sim", options); each is opened once and lives as long as the process."""
    handle = _devices.get(where)
    if handle is None:
        with _lock:
            handle = _devices.get(where)
            if handle is None:
                name = f"cuda:{where[1]}" if where[0] == CUDA else where[1]
                handle, error = c_void_p(), native.TileError()
                _check(native.device_open(name.encode(), byref(handle), byref(error)), error)
                native.use_compiler(handle)
                _devices[where] = handle
    return handle


def _raw_stream(torch, device):
    """The stream that torch works on there now; None: the default stream."""
    return torch._C._cuda_getCurrentRawStream(device[1]) or None


def _stream(where, arrays):
    """The stream that the package of these arrays works on there now, and whether that package knows of nothing that is launched there: then a
    call waits for its kernel."""
    packages = {package(a.keep) for a in arrays}
    if packages == {"torch"}:
        return _raw_stream(sys.modules["torch"], where), False
    if packages == {"cupy"}:
        return sys.modules["cupy"].cuda.get_current_stream().ptr or None, False
    return None, True


# ---- kernels ----


class _Parameter:
    __slots__ = ("name", "key", "scalar", "type", "type_name", "rank", "extents", "written", "read", "bits")

    def __init__(self, p):
        self.key = p.name
        self.name = p.name.decode()
        self.scalar = bool(p.is_scalar)
        self.type = p.type
        self.type_name = native.type_name(p.type).decode()
        self.bits = native.type_bits(p.type)
        self.rank = p.rank
        self.extents = extents.split(p.extents.decode()) if p.rank else ()
        self.written, self.read = bool(p.written), bool(p.read)

    def __str__(self):
        return f"{self.name}: {self.type_name}" + (f"[{', '.join(self.extents)}]" if self.rank else "")

    def check(self, kernel, dtype, rank, raw=False):
        """TypeError unless it takes an array of these elements and as many dimensions."""
        if self.scalar:
            raise TypeError(f"{kernel}: argument '{self.name}' is an integer ({self}), not an array")
        if not _fits(self, dtype, raw):
            raise TypeError(f"{kernel}: argument '{self.name}' has elements of {dtype}; it takes {self}")
        if rank != self.rank:
            raise TypeError(f"{kernel}: argument '{self.name}' has {rank} dimensions; it takes {self}")


class _Compiled:
    """The module on one device."""

    def __init__(self, module, where):
        self.on_cpu, self.handle = where[0] == CPU, c_void_p()
        self.device = _device(where)
        defines = [f"{n}={v}".encode() for n, v in module._defines.items()]
        list_ = (ctypes.c_char_p * max(len(defines), 1))(*defines)
        error = native.TileError()
        text = module._text
        status = native.module_load_source(
            self.device, os.fsencode(module._path), text, len(text), list_, len(defines), byref(self.handle), byref(error)
        )
        _check(status, error)
        self.kernels = {}
        for i in range(native.kernel_count(self.handle)):
            k = native.kernel_at(self.handle, i)
            self.kernels[native.kernel_name(k).decode()] = (k, self._parameters(k))

    def __del__(self):
        if self.on_cpu:  # on a GPU launches of it may still be queued, or stand in graphs
            native.module_free(self.handle)

    @staticmethod
    def _parameters(k):
        out = []
        for i in range(native.param_count(k)):
            p = native.Param()
            native.param_info(k, i, byref(p))
            out.append(_Parameter(p))
        return out


def _fits(p, dtype, raw):
    """Do such elements stand for those of the parameter? raw: they may be any that are as wide."""
    if dtype == p.type_name or (p.type_name == "tf32" and dtype == "f32"):
        return True
    if p.bits % 8:  # packed: bytes
        return dtype == "u8"
    return raw and p.type_name in ("bf16", "e4m3", "e5m2", "f16") and dtype in (f"u{p.bits}", f"s{p.bits}")


class _Bound:
    """A call's arguments, bound: of one thread, for the time of the call."""

    def __init__(self, kernel, arguments, keywords):
        self.kernel, self.values, self.binds = kernel, {}, {}
        self.results, self.made = [], []
        self.places = []  # (parameter, address, bytes)
        self.simulated, self.blocks, self.copies = False, [], []  # of the simulator: is it ours; memory; (array, address, there, bytes) to read back
        given = dict(keywords)
        names = kernel._names_for(arguments, given)
        arrays, makers = {}, {}
        for name, x in names.items():
            if is_array(x) and not (getattr(x, "shape", None) == () and hasattr(x, "__index__")):
                try:
                    arrays[name] = array(x)
                except TypeError as e:
                    raise TypeError(f"{kernel.name}: argument '{name}': {e}") from None
            elif callable(x):
                makers[name] = x
            else:
                self.values[name] = x
        self.where = self._place(arrays, makers)
        compiled = self.compiled = kernel._module._on(self.where)
        if kernel.name not in compiled.kernels:
            raise Error(f"'{kernel._module._path}' has no kernel '{kernel.name}'; it has {', '.join(compiled.kernels)}")
        self.handle, self.parameters = compiled.kernels[kernel.name]
        self.device, self.args, self.error = compiled.device, c_void_p(), native.TileError()
        self.keep = arrays
        try:
            self._check_names(names)
            _check(native.args_new(self.handle, byref(self.args), byref(self.error)), self.error)
            for p in self.parameters:
                if p.name in self.values:
                    self._bind_value(p)
                elif p.name in arrays:
                    self._bind_array(p, arrays[p.name])
            for p in self.parameters:
                if p.name in makers:
                    self._make(p, makers[p.name])
            if self.where[0] == CPU:
                self._to_simulator()
        except BaseException:
            self.close()
            raise

    def _place(self, arrays, makers):
        where = None
        for name, a in arrays.items():
            if where is not None and a.device != where[1]:
                raise TypeError(f"{self.kernel.name}: '{name}' is on another device than '{where[0]}'")
            where = where or (name, a.device)
        if where is None:
            raise TypeError(f"{self.kernel.name}: at least one argument is an array: where it lies the kernel runs")
        return where[1] if where[1][0] == CUDA else (CPU, self.kernel._module._simulator)

    def _check_names(self, names):
        known = [p.name for p in self.parameters]
        for name, x in names.items():
            if name not in known:
                made = [f"{q.name}=" for q in self.parameters if q.written and q.name not in names] if callable(x) else []
                fix = f": what it writes is made by its own name, {', '.join(made)}" if made else ""
                raise TypeError(f"{self.kernel.name} has no parameter '{name}'{fix}; it has {', '.join(map(str, self.parameters))}")
        for p in self.parameters:
            if p.name not in names:
                raise TypeError(f"{self.kernel.name}: argument '{p.name}' is missing ({p})")

    def _bind_value(self, p):
        x = self.values[p.name]
        if not p.scalar:
            if is_array(x):
                p.check(self.kernel.name, array(x).dtype, 0)
            raise TypeError(f"{self.kernel.name}: argument '{p.name}' is an array ({p}), not {type(x).__name__}")
        try:
            x = x.__index__()
        except (AttributeError, TypeError):
            raise TypeError(f"{self.kernel.name}: argument '{p.name}' is an integer ({p}), not {x!r}") from None
        if not -(2**63) <= x < 2**63:
            raise OverflowError(f"{self.kernel.name}: argument '{p.name}' does not fit 64 bits: {x}")
        _check(native.bind_scalar(self.args, p.key, x, byref(self.error)), self.error)

    def _bind_array(self, p, a):
        shape, strides = a.shape, a.strides
        p.check(self.kernel.name, a.dtype, len(shape), a.raw)
        if p.written and a.readonly:
            new = f": {p.name}=jax.numpy.empty makes a new one" if package(a.keep) == "jax" else ""
            raise TypeError(f"{self.kernel.name}: argument '{p.name}' is written, and this array is read-only{new}")
        if p.bits % 8:
            if strides is not None:
                raise TypeError(f"{self.kernel.name}: argument '{p.name}' holds packed elements, which must be contiguous")
            if shape[-1] * 8 % p.bits:
                raise TypeError(f"{self.kernel.name}: argument '{p.name}' has rows of {shape[-1]} bytes, which are not whole {p.type_name} values")
            shape = (*shape[:-1], shape[-1] * 8 // p.bits)
        if strides is not None and any(s < 0 for s in strides):
            raise TypeError(f"{self.kernel.name}: argument '{p.name}' has a negative stride")
        size = 0 if 0 in a.shape else 1 + sum((n - 1) * s for n, s in zip(a.shape, strides or _row_major(a.shape)))
        size *= max(p.bits // 8, 1)
        n = len(shape)
        self.binds[p.key] = (p.key, size, p.type, n, (c_int64 * n)(*shape), (c_int64 * n)(*strides) if strides else None)
        self._bind(p, a.address)
        if size:
            self.places.append((p, a.address, size))

    def _bind(self, p, address):
        name, *how = self.binds[p.key]
        _check(native.bind(self.args, name, address, *how, byref(self.error)), self.error)

    def _to_simulator(self):
        """Copies the arrays there. What overlaps in memory does so there, and what lies at no multiple of 16 bytes does not there: a launch answers as it
        would on a GPU."""
        _work.__enter__()
        _lock.acquire()
        self.simulated = True
        pieces = []
        for address, size in sorted((address, size) for _, address, size in self.places):
            if pieces and address < pieces[-1][1]:
                pieces[-1][1] = max(pieces[-1][1], address + size)
            else:
                pieces.append([address, address + size])
        for i, (first, end) in enumerate(pieces):
            block, skip = c_uint64(), first % 16
            _check(native.alloc(self.device, skip + end - first, byref(block), byref(self.error)), self.error)
            self.blocks.append(block.value)
            pieces[i].append(block.value + skip - first)
            _check(native.write(self.device, block.value + skip, first, end - first, byref(self.error)), self.error)
        for p, address, size in self.places:
            there = address + next(offset for first, end, offset in pieces if first <= address < end)
            if p.written:
                self.copies.append((self.keep[p.name], address, there, size))
            self._bind(p, there)

    def _make(self, p, maker):
        if not p.written:
            raise TypeError(f"{self.kernel.name}: argument '{p.name}' is not written, so it can't be made")
        shape = [self._extent(p, e) for e in p.extents]
        a = _made(maker, tuple(shape), p, next(iter(self.keep.values())))
        try:
            made = array(a)
        except TypeError as e:
            raise TypeError(f"{self.kernel.name}: argument '{p.name}', as it was made: {e}") from None
        self.results.append(a)
        self.made.append((p.name, (maker, tuple(shape), getattr(a, "dtype", None), getattr(a, "device", None))))
        self.keep[p.name] = made
        if package(made.keep) == "jax":
            made.readonly = False  # as all of JAX are; nobody has seen it yet
        self._bind_array(p, made)

    def _extent(self, p, text):
        sizes, value = {}, c_int64()
        try:
            parsed = extents.parse(text)
            for name in extents.names(parsed):
                if native.symbol(self.args, name.encode(), byref(value), byref(self.error)) != 0:
                    raise ValueError(self.error.text.decode())
                sizes[name] = value.value
            return extents.value(parsed, sizes)
        except (ValueError, ZeroDivisionError) as e:
            raise TypeError(f"{self.kernel.name}: the extent {text} of '{p.name}' follows from no other argument: pass an array ({e})") from None

    def fetch(self):
        """Reads back what was written: elements of the arrays, and nothing that lies between them."""
        for a, address, there, size in self.copies:
            for first, n in ((0, size),) if a.strides is None else _runs(a.shape, a.strides, size):
                _check(native.read(self.device, address + first, there + first, n, byref(self.error)), self.error)

    def close(self):
        for block in self.blocks:
            native.release(self.device, block, None)
        self.blocks = []
        if self.simulated:
            self.simulated = False
            _lock.release()
            _work.__exit__()
        if self.args:
            native.args_free(self.args)
            self.args = c_void_p()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


def _runs(shape, strides, size):
    """Where elements lie side by side: (first byte, bytes). size: from the first element to the end of the last one."""
    dims = sorted((s, n) for s, n in zip(strides, shape) if n > 1)
    width, run = size // (1 + sum(s * (n - 1) for s, n in dims)), 1
    while dims and dims[0][0] == run:
        run *= dims.pop(0)[1]
    for places in itertools.product(*(range(0, s * n, s) for s, n in reversed(dims))):
        yield sum(places) * width, run * width


def _row_major(shape):
    strides, n = [], 1
    for extent in reversed(shape):
        strides.append(n)
        n *= extent
    return tuple(reversed(strides))


def _made(maker, shape, p, beside):
    """By torch.empty and its like, numpy.empty and its like, or any function of a shape."""
    if p.bits % 8:  # packed
        shape = (*shape[:-1], shape[-1] * p.bits // 8)
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(beside.keep, torch.Tensor):
        return maker(shape, dtype=getattr(torch, TORCH_NAMES.get(p.type_name, "uint8")), device=beside.keep.device)
    if package(beside.keep) == "jax":
        return maker(shape, dtype=TORCH_NAMES.get(p.type_name, "uint8"))
    names = {"bf16": "uint16", "e4m3": "uint8", "e5m2": "uint8", "f16": "float16", "f32": "float32", "tf32": "float32", "f64": "float64"}
    dtype = names.get(p.type_name) or {"u": "uint", "s": "int"}.get(p.type_name[0], "uint") + str(max(p.bits, 8))
    return maker(shape, dtype="uint8" if p.bits % 8 else dtype)


class _Ready:
    """Arguments that were bound once, of one thread: a call with tensors of the same kind only says where they lie now."""

    def __init__(self, torch, bound, order):
        self.args, bound.args = bound.args, c_void_p()
        self.device, self.error, self.compiled = bound.where[1], native.TileError(), bound.compiled
        names = [p.name for p in bound.parameters]
        self.order = None if order == names else [order.index(name) for name in names]
        self.makers = [(order.index(n), _remember.Maker(torch, make, shape, {"dtype": t, "device": d})) for n, (make, shape, t, d) in bound.made]
        self.result = operator.itemgetter(*[i for i, _ in self.makers]) if self.makers else None
        self.pack, self.at = struct.Struct(f"{len(names)}q").pack_into, (c_int64 * len(names))()
        self.how = self.args.value, ctypes.addressof(self.at), len(names), ctypes.addressof(self.error)
        self.entry = native.launch_at_address

    def ordered(self, at):
        """What is given in the order of the call, in that of the parameters."""
        return at if self.order is None else [at[i] for i in self.order]

    def again(self, given, stream):
        """The call with these arguments, in its order."""
        if self.makers:
            given = list(given)
            for i, make in self.makers:
                given[i] = make()
        at = [x if type(x) is int else x.data_ptr() for x in given]
        self.launch(at if self.order is None else self.ordered(at), stream)
        if _remember.state.log is not None:
            _remember.launched(self, given)
        return self.result and self.result(given)

    def launch(self, at, stream):
        """at: addresses, and values of scalars, in the order of the parameters."""
        args, place, n, error = self.how
        try:
            self.pack(self.at, 0, *at)
        except struct.error:
            raise OverflowError(f"an integer does not fit 64 bits: {max(at, key=abs)}") from None
        if native.launch_at(args, place, n, stream, error):
            self.fail()

    def fail(self):
        _check(self.error.status, self.error)

    def at_places(self, places):
        """A launch in words of tilecc._fast."""
        return self, self.entry, self.how[0], self.how[3], places

    def does(self, n):
        """A call with so many arguments, in words of tilecc._fast."""
        places = [(i, 0) for i in (range(n) if self.order is None else self.order)]
        results = [i for i, _ in self.makers]
        return self.device, [self.at_places(places)], [m.at(i) for i, m in self.makers], results, tuple if len(results) > 1 else None

    def __del__(self):
        native.args_free(self.args)


_READY_MOST = 256  # kinds of arguments of a module's kernels that a thread remembers


class Kernel:
    """A kernel of a module. Called with the parameters of the source in their order, or by name: arrays, integers for scalars, and for what is
    written and has no array yet a function such as torch.empty, called with shape and dtype; what it made is returned."""

    def __init__(self, module, name):
        self._module, self.name = module, name
        self.__name__ = self.__qualname__ = name

    def __repr__(self):
        return f"<kernel {self.name} of {self._module._path}>"

    def __reduce__(self):
        return getattr, (self._module, self.name)

    def _names_for(self, arguments, keywords):
        if not arguments:
            return keywords
        names = self._module._parameter_names(self.name)
        if len(arguments) > len(names):
            raise TypeError(f"{self.name} takes {len(names)} arguments ({', '.join(names)}), not {len(arguments)}")
        out = dict(zip(names, arguments))
        for name, x in keywords.items():
            if name in out:
                raise TypeError(f"{self.name}: argument '{name}' is given twice")
            out[name] = x
        return out

    def __call__(self, /, *arguments, stream=None, **keywords):
        torch, kind = sys.modules.get("torch"), None
        if torch is not None:
            if _torch.compiling():
                return self._traced(torch, arguments, keywords, stream)
            again = self._module._ready.again
            y = NotImplemented if again is None else again(self.name, arguments, keywords, stream)
            if y is not NotImplemented:
                return y
            given, tensors = (*arguments, *keywords.values()) if keywords else arguments, []
            kind = [self.name, len(arguments), *keywords]
            if _remember.kinds(torch, kind, given, tensors, False):
                kind, remembered = tuple(kind), self._module._ready.known
                ready = remembered.get(kind)
                if ready is not None:
                    return ready.again(given, torch._C._cuda_getCurrentRawStream(ready.device) if stream is None else stream)
                if not all(x.is_cuda for x in tensors):
                    kind = None
            else:
                kind = None
                if any(is_traced(torch, x) for x in given):
                    return self._traced(torch, arguments, keywords, stream)
        with _Bound(self, arguments, keywords) as b:
            wait = False
            if stream is None and b.where[0] == CUDA:
                stream, wait = _stream(b.where, b.keep.values())
            _check(native.launch(b.args, stream or None, byref(b.error)), b.error)
            if wait:
                _check(native.synchronize(b.device, None, byref(b.error)), b.error)
            b.fetch()
            ready = None
            if kind:
                ready = _Ready(torch, b, [*self._module._parameter_names(self.name)[: len(arguments)], *keywords])
                self._module._ready.add(kind, ready, (self.name, arguments, keywords), ready.does(len(given)))
            _remember.launched(ready, (*arguments, *keywords.values()))
            return None if not b.results else b.results[0] if len(b.results) == 1 else tuple(b.results)

    def _traced(self, torch, arguments, keywords, stream):
        """The call where torch.compile, or another that traces, follows it: it becomes the kernel's operator. What is not written in Python stands in
        _operator(), which is called while it compiles."""
        operator, parameters = self._module._operator(self.name)
        given = self._names_for(arguments, keywords)
        known = [p[0] for p in parameters]
        for name in given:
            if name not in known:
                raise TypeError(f"{self.name} has no parameter '{name}'; it has {', '.join(known)}")
        if stream is not None:
            raise TypeError(f"{self.name}: what is traced runs on PyTorch's current stream; `stream` can't be given")
        sizes, makers, like, made = {}, [], None, []
        for name, scalar, extents_, dtype, packed in parameters:
            if name not in given:
                raise TypeError(f"{self.name}: argument '{name}' is missing")
            x = given[name]
            if scalar:
                sizes[name] = x
            elif isinstance(x, torch.Tensor):
                if x.requires_grad and torch.is_grad_enabled():
                    raise TypeError(f"{self.name}: argument '{name}': it requires grad, and kernels record no gradients: pass x.detach()")
                like = x if like is None else like
                for e, n in zip(extents_, x.shape):
                    if len(e) == 1 and isinstance(e[0], str):
                        sizes[e[0]] = n
            elif callable(x):
                makers.append((name, x, extents_, dtype, packed))
            else:
                raise TypeError(f"{self.name}: argument '{name}' is a tensor")
        if like is None:
            raise TypeError(f"{self.name}: at least one argument is an array")
        for name, maker, extents_, dtype, packed in makers:
            shape = []
            for e in extents_:
                for n in extents.names(e):
                    if n not in sizes:
                        raise TypeError(f"{self.name}: the extent {n} of '{name}' follows from no other argument: pass a tensor")
                shape.append(extents.value(e, sizes))
            if packed:
                shape[-1] = shape[-1] * packed // 8
            given[name] = maker(tuple(shape), dtype=getattr(torch, dtype), device=like.device)
            made.append(given[name])
        _torch.find(operator)(*[given[name] for name in known])
        return None if not made else made[0] if len(made) == 1 else tuple(made)

    def register(self, name):
        """Makes the kernel an operator of PyTorch called "namespace::name" and returns it: torch.ops.namespace.name.default, which takes all parameters
        in their order. For programs that are exported, or where a graph shall show this name; torch.compile needs no registering."""
        return _torch.find(self._module._operator(self.name, name)[0])

    def launch_info(self, /, *arguments, **keywords):
        """What a call with these arguments would launch, as a dict: grid, how work is dealt, cache hints, which schedule and why. Nothing is launched."""
        with _Bound(self, arguments, keywords) as b:
            f = native.LaunchFacts()
            _check(native.launch_info(b.args, byref(f), byref(b.error)), b.error)
            return {
                "grid": tuple(f.grid), "deal": f.deal.decode() if f.deal else None, "iterations": f.iterations, "teams": f.teams,
                "per_sm": f.per_sm, "hints": None if f.hints < 0 else bool(f.hints), "traffic": f.traffic, "l2": f.l2,
                "schedule": f.schedule, "schedules": f.schedules,
                "pick": (f.pick.decode(), f.pick_least, bool(f.picked_for_gpu)) if f.pick else None,
            }

    def time(self, /, *arguments, repeats=20, **keywords):
        """Milliseconds that a launch takes on the GPU, the mean of `repeats` in a row."""
        repeats = operator.index(repeats)
        if not 1 <= repeats <= 999999:
            raise ValueError(f"{self.name}: repeats is a number from 1 to 999999, not {repeats}")
        with _Bound(self, arguments, keywords) as b:
            ms = c_double()
            stream = _stream(b.where, b.keep.values())[0] if b.where[0] == CUDA else 0
            _check(native.time(b.args, stream or None, repeats, byref(ms), byref(b.error)), b.error)
            return ms.value / repeats

    def plan(self, arch=None):
        """Which instruction each move became, and why: what `tilecc --explain-plan` prints of this kernel."""
        text = self._module.plan(arch)
        parts = re.split(r"(?m)^(?=kernel )", text)
        own = [t for t in parts if re.match(rf"kernel {re.escape(self.name)}\b", t)]
        if not own:
            self._module._parameters(self.name)  # raises what is wrong
        return own[0] if own else text


class Module:
    """A .tile source with its compile-time parameters; kernels are attributes, and items by their names, which a loop over the module goes through. It is
    compiled for a device at the first call there."""

    def __init__(self, path, text, defines, simulator):
        if not isinstance(simulator, str):
            raise TypeError(f"argument 'simulator' is a str, not {simulator!r}")
        for name, value in defines.items():
            if "\0" in f"{name}={value}":
                raise ValueError(f"{name}={value!r}: a character of value 0")
        self._path, self._text, self._defines, self._simulator = path, text, defines, simulator
        self._compiled, self._own_lock, self._names = {}, threading.Lock(), {}
        self._operators, self._ready = {}, _remember.Calls(_READY_MOST, False)

    def __repr__(self):
        return f"<module {self._path}>"

    def __reduce__(self):
        return Module, (self._path, self._text, self._defines, self._simulator)

    def __getattr__(self, name):
        if name.startswith("_"):
            raise AttributeError(name)
        kernel = Kernel(self, name)
        if not _torch.compiling():
            setattr(self, name, kernel)
        return kernel

    def __getitem__(self, name):
        """A kernel by its name, of one that is not an attribute, too: `plan`, or with `_` in front."""
        try:
            self._parameters(name)
        except AttributeError as e:
            raise KeyError(str(e)) from None
        return Kernel(self, name)

    def __iter__(self):
        """The names of its kernels, in the order of the source."""
        return iter(list(self._on((CPU, self._simulator)).kernels))

    def __dir__(self):
        return sorted({*super().__dir__(), *self})

    def _on(self, where):
        compiled = self._compiled.get(where)
        if compiled is None:
            with _work, self._own_lock:
                compiled = self._compiled.get(where)
                if compiled is None:
                    compiled = self._compiled[where] = _Compiled(self, where)
        return compiled

    def _parameters(self, kernel):
        some = next(iter(self._compiled.values()), None) or self._on((CPU, self._simulator))
        if kernel not in some.kernels:
            raise AttributeError(f"'{self._path}' has no kernel '{kernel}'; it has {', '.join(some.kernels)}")
        return some.kernels[kernel][1]

    @_torch.constant
    def _parameter_names(self, kernel):
        names = self._names.get(kernel)
        if names is None:
            names = self._names[kernel] = tuple(p.name for p in self._parameters(kernel))
        return names

    @_torch.constant
    def _operator(self, kernel, name=None):
        """The kernel's operator of torch.library by its name, made if there is none; and of its parameters name, whether it is a scalar, the
        extents, the element type for torch, the bits of elements that are packed."""
        parameters = self._parameters(kernel)
        if name is not None or kernel not in self._operators:
            self._operators[kernel] = _torch.kernel_operator(getattr(self, kernel), parameters, name)
        return self._operators[kernel], tuple(
            (p.name, p.scalar, tuple(map(extents.parse, p.extents)), TORCH_NAMES.get(p.type_name, "uint8"), p.bits if p.bits % 8 else 0)
            for p in parameters
        )

    def plan(self, arch=None):
        """--explain-plan of the source."""
        return _emit(self, 5, arch)

    def ptx(self, arch=None):
        """The PTX of the source, as `tilecc -S` writes it."""
        return _emit(self, 3, arch)


def _emit(module, what, arch):
    o = native.Options()
    o.struct_size, o.emit = ctypes.sizeof(o), what
    o.arch = arch.encode() if arch else None
    names = [(n.encode(), str(v).encode()) for n, v in module._defines.items()]
    o.defines = (native.Define * max(len(names), 1))(*[native.Define(*n) for n in names])
    o.ndefines = len(names)
    r = native.compile(byref(o), os.fsencode(module._path), module._text, len(module._text))
    if not r:
        raise MemoryError("tilecc")
    try:
        if r.contents.status != 0:
            raise CompileError((r.contents.diagnostics or r.contents.message).decode())
        return ctypes.string_at(r.contents.output, r.contents.output_size).decode()
    finally:
        native.free_result(r)


def load(path, *, simulator="sim", **defines):
    """The kernels of a .tile file, or of a module of the library that is built in ("std.rows"). defines: compile-time parameters, D=4096, or a
    kernel's own as **{"copy.BM": 32}; kernel="copy" compiles that kernel alone. simulator: where calls with arrays on the
    CPU run ("sim:fast", "sim:fuzz,seed=7": tile.h, tile_device_open). Errors of the source come at the first call."""
    path = os.fsdecode(path)
    size, name = c_size_t(), ctypes.c_char_p()
    if not os.path.exists(path):
        text = native.library(os.fsencode(path), byref(size), byref(name))
        if text:
            return Module(name.value.decode(), ctypes.string_at(text, size.value), defines, simulator)
        if path.startswith("std."):
            raise FileNotFoundError(errno.ENOENT, "No such file, nor module of the library (tilecc --list-library)", path)
    with open(path, "rb") as f:
        return Module(path, f.read(), defines, simulator)


def loads(text, *, name="<source>", simulator="sim", **defines):
    """The same of a source in memory; name: for messages, and where imports are looked for."""
    if not isinstance(text, str):
        raise TypeError(f"loads: argument 'text' is the source as a str, not {type(text).__name__}")
    return Module(os.fsdecode(name), text.encode(), defines, simulator)


def __getattr__(name):
    if name == "std":
        import importlib

        return importlib.import_module(".std", __name__)
    raise AttributeError(f"module 'tilecc' has no attribute {name!r}")
