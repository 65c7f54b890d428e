"""Calls that come again: with tensors of the same shapes, strides, types and alignment on the same device, and the same other arguments, what the first call
allocated and launched is allocated and launched again, and nothing is decided anew. That holds of functions of tilecc.std since none of them looks at
elements, and addresses are checked at each launch. Of one thread, as what is launched again is.

What is here is interpreted, and several microseconds of it. fast.c, the extension tilecc._fast, does the same for arguments that it knows, and asks
nobody; it is told of each call that is remembered here, and a call that it does not find is made by what is here."""

import functools
import sys
import threading

from . import _native as native

_MOST = 1024  # calls of tilecc.std that a thread remembers
_PLAIN = frozenset((bool, str, type(None)))
exchange = True  # tilecc._fast reads tensors by the functions that torch has for that in C; else by their attributes


class Calls(threading.local):
    """What a thread remembers, by the kinds of arguments: most calls, of functions of tilecc.std, where values count, or of kernels. again: of tilecc._fast,
    or None. log: of the call of tilecc.std that runs for the first time; else None."""

    def __init__(self, most, values):
        self.known, self.log, self.most = {}, None, most
        self.fast = None if native.fast is None else native.fast.Calls(values, most)
        self.again = None if native.fast is None else self.fast.again

    def clear(self):
        self.known.clear()
        if self.fast is not None:
            self.fast.clear()

    def add(self, kind, known, call, does):
        """call: name, arguments and keywords; does: the same that `known` does, in words of tilecc._fast."""
        if len(self.known) >= self.most:
            self.clear()
        self.known[kind] = known
        if self.fast is not None:
            native.fast.use(sys.modules["torch"], exchange)
            self.fast.remember(*call, does)


state = Calls(_MOST, True)


def kinds(torch, kind, given, tensors, values):
    """Appends to `kind` what of these arguments decides what a call does, and to `tensors` their tensors. values: of a function of tilecc.std, where values
    count; else of a kernel, which takes tensors, integers and what makes tensors. False: one of them is nothing that calls are remembered for."""
    tensor = torch.Tensor
    for x in given:
        type_ = type(x)
        if type_ is tensor:
            if (x.requires_grad and torch.is_grad_enabled()) or x.is_neg() or len(x.shape) == 0:
                return False  # one without dimensions may stand for the integer in it
            tensors.append(x)
            kind += (x.dtype, x.shape, x.stride(), x.device, x.data_ptr() % 16)
        elif type_ is int:
            kind += (int, x) if values else (int,)
        elif not values:
            if x is not torch.empty and x is not torch.zeros:
                return False
            kind.append(x)
        elif type_ is list or type_ is tuple:
            kind += (type_, len(x))
            if not kinds(torch, kind, x, tensors, values):
                return False
        elif type_ in _PLAIN or type_ is torch.dtype:
            kind += (type_, x)
        elif type_ is float:
            kind += (float, x.hex())  # 0.0 and -0.0 are equal
        else:
            return False
    return True


def _bare_empty(torch, device):
    """What programs of torch.compile allocate with, in less than half the host time of torch.empty, on the device that is current; which that is, and the
    number that it must have. None: there is no such function for this device, or in this PyTorch."""
    made = getattr(getattr(getattr(torch._C, "_dynamo", None), "guards", None), "_empty_strided_cuda", None)
    return None if made is None or device is None or device.type != "cuda" else (made, torch._C._cuda_getDevice, device.index)


class Maker:
    """make(shape, **more) as a function without arguments."""

    __slots__ = ("general", "empty", "arguments", "current", "number")

    def __init__(self, torch, make, shape, more):
        self.general, self.empty, self.arguments, self.current, self.number = functools.partial(make, shape, **more), None, None, None, 0
        if make is not torch.empty:
            return
        strides, n = [], 1
        for extent in reversed(shape):
            strides.insert(0, n)
            n *= max(extent, 1)
        shape, strides = tuple(shape), tuple(strides)
        self.general = functools.partial(torch.empty_strided, shape, strides, **more)  # the same, whose arguments are read in half the time
        bare = _bare_empty(torch, more.get("device"))
        if bare is not None:
            self.arguments = (shape, strides, more["dtype"])
            self.empty, self.current, self.number = bare

    def __call__(self):
        return self.empty(*self.arguments) if self.empty is not None and self.current() == self.number else self.general()

    def at(self, slot):
        """In words of tilecc._fast."""
        return slot, self.general, self.empty, self.arguments, self.current, self.number


class _Call:
    """What a call does: makers of tensors; launches on one device, whose arguments are (number of a tensor, bytes from where it begins), of integers (-1,
    the integer); the result."""

    __slots__ = ("makers", "launches", "device", "result", "several")

    def again(self, torch, tensors):
        for make in self.makers:
            tensors.append(make())
        if self.launches:
            at = [x.data_ptr() for x in tensors]
            at.append(0)
            stream = torch._C._cuda_getCurrentRawStream(self.device)
            for ready, places in self.launches:
                ready.launch([at[i] + n for i, n in places], stream)
        return self.several(tensors[i] for i in self.result) if self.several else tensors[self.result]

    def does(self, given):
        """In words of tilecc._fast; given: how many tensors are."""
        makers = [m.at(given + i) for i, m in enumerate(self.makers)]
        launches = [ready.at_places(places) for ready, places in self.launches]
        return self.device or 0, launches, makers, self.result if self.several else [self.result], self.several


class _Log:
    def __init__(self):
        self.made, self.launched = [], []


def made(make, shape, more, x):
    """x was allocated by make(shape, **more)."""
    if state.log is not None:
        state.log.made.append((x, make, shape, more))


def launched(ready, given):
    """A kernel was launched; ready: it, to be launched again; None if it can't be."""
    if state.log is not None:
        state.log.launched.append((ready, given))


def _call_of(torch, log, tensors, result):
    """The call that the log shows; None if not all of it can be made out."""
    tensors = tensors + [m[0] for m in log.made]
    storages = [x.untyped_storage().data_ptr() for x in tensors]
    if len(set(storages)) < len(storages):
        return None  # whose part an argument is can't be told
    call, at = _Call(), {id(x): i for i, x in enumerate(tensors)}
    call.makers, call.launches, call.device = [Maker(torch, *m[1:]) for m in log.made], [], None
    for ready, given in log.launched:
        places = []
        for x in given:
            if isinstance(x, torch.Tensor):
                storage = x.untyped_storage().data_ptr()
                if storage not in storages:
                    return None
                i = storages.index(storage)
                places.append((i, x.data_ptr() - tensors[i].data_ptr()))
            else:
                places.append((-1, x))
        if ready is None or call.device not in (None, ready.device):
            return None
        call.device = ready.device
        call.launches.append((ready, ready.ordered(places)))
    call.several = type(result) if type(result) in (list, tuple) else None
    numbers = [at.get(id(x)) for x in (result if call.several else [result])]
    if None in numbers:
        return None
    call.result = numbers if call.several else numbers[0]
    return call


def remembered(torch, f, arguments, keywords):
    """f(*arguments, **keywords), of a function of tilecc.std."""
    if torch is None or state.log is not None:
        return f(*arguments, **keywords)
    kind, tensors = [f, *keywords], []
    if not kinds(torch, kind, (*arguments, *keywords.values()) if keywords else arguments, tensors, True):
        return f(*arguments, **keywords)
    kind, calls = tuple(kind), state.known
    known = calls.get(kind)
    if known is not None:
        return known.again(torch, tensors)
    if not tensors or not all(x.is_cuda for x in tensors):
        return f(*arguments, **keywords)
    log = state.log = _Log()
    if native.fast:
        native.fast.record(True)
    try:
        result = f(*arguments, **keywords)
    finally:
        state.log = None
        if native.fast:
            native.fast.record(False)
    found = _call_of(torch, log, tensors, result)
    if found is not None:
        state.add(kind, found, (f.__name__, arguments, keywords), found.does(len(tensors)))
    return result
