"""Calls of tilecc.std that come again: with tensors of the same shapes, strides and types on the same device, and the same other arguments, what the
first call allocated and launched is allocated and launched again, and nothing is decided anew. That holds since no function of tilecc.std looks at
elements, and addresses are checked at each launch. Of one thread, as what is launched again is."""

import functools
import threading

_state = threading.local()
_MOST = 1024  # calls that a thread remembers
_PLAIN = (int, bool, float, str, type(None))


class _Call:
    """What a call does: makers of tensors; launches, whose arguments are integers or (number of a tensor, bytes from where it begins); the result."""

    __slots__ = ("makers", "launches", "result", "several")

    def again(self, tensors, raw_stream):
        for maker, shape, more in self.makers:
            tensors.append(maker(shape, **more))
        for ready, places in self.launches:
            ready.launch([p if type(p) is int else tensors[p[0]].data_ptr() + p[1] for p in places], raw_stream(ready.where))
        return self.several(tensors[i] for i in self.result) if self.several else tensors[self.result]


class _Log:
    def __init__(self):
        self.made, self.launched = [], []


def made(maker, shape, more, x):
    """x was allocated by maker(shape, **more)."""
    log = getattr(_state, "log", None)
    if log is not None:
        log.made.append((x, maker, shape, more))


def launched(ready, given):
    """A kernel was launched; ready: it, to be launched again; None if it can't be."""
    log = getattr(_state, "log", None)
    if log is not None:
        log.launched.append((ready, given))


def _kind(torch, x, tensors):
    """What of x decides what a call does; None: it is nothing that calls are remembered for. Its tensors go to `tensors`."""
    kind = type(x)
    if kind is torch.Tensor:
        if not x.is_cuda or (x.requires_grad and torch.is_grad_enabled()):
            return None
        tensors.append(x)
        return x.dtype, x.shape, x.stride(), x.device
    if kind in _PLAIN or kind is torch.dtype:
        return kind, x
    if kind is list or kind is tuple:
        parts = [_kind(torch, y, tensors) for y in x]
        return None if None in parts else (kind, *parts)
    return None


def _call_of(torch, log, tensors, result):
    """The call that the log shows; None if not all of it can be made out."""
    tensors = tensors + [m[0] for m in log.made]
    storages = [x.untyped_storage().data_ptr() for x in tensors]
    if len(set(storages)) < len(storages):
        return None  # whose part an argument is can't be told
    call, at = _Call(), {id(x): i for i, x in enumerate(tensors)}
    call.makers, call.launches = [m[1:] for m in log.made], []
    for ready, given in log.launched:
        places = []
        for x in given:
            if isinstance(x, torch.Tensor):
                storage = x.untyped_storage().data_ptr()
                if storage not in storages:
                    return None
                i = storages.index(storage)
                x = (i, x.data_ptr() - tensors[i].data_ptr())
            places.append(x)
        if ready is None:
            return None
        call.launches.append((ready, places))
    call.several = type(result) if type(result) in (list, tuple) else None
    numbers = [at.get(id(x)) for x in (result if call.several else [result])]
    if None in numbers:
        return None
    call.result = numbers if call.several else numbers[0]
    return call


def remembered(f, torch_if_there, raw_stream):
    """f, a function of tilecc.std. raw_stream(where): PyTorch's current stream there."""

    @functools.wraps(f)
    def call(*arguments, **keywords):
        torch = torch_if_there()
        if torch is None or getattr(_state, "log", None) is not None:
            return f(*arguments, **keywords)
        tensors = []
        kind = _kind(torch, (*arguments, *keywords.values()), tensors)
        if kind is None or not tensors:
            return f(*arguments, **keywords)
        kind = (f, *keywords, kind)
        calls = _state.__dict__.setdefault("calls", {})
        known = calls.get(kind)
        if known is not None:
            return known.again(tensors, lambda where: raw_stream(torch, where))
        log = _state.log = _Log()
        try:
            result = f(*arguments, **keywords)
        finally:
            _state.log = None
        found = _call_of(torch, log, tensors, result)
        if found is not None:
            if len(calls) >= _MOST:
                calls.clear()
            calls[kind] = found
        return result

    return call
