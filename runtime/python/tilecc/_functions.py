"""What a function of tilecc.std is besides its body: its errors begin with the call, and torch.compile takes it for one operator."""

import functools
import inspect
import sys

from . import Error, _row_major
from ._arrays import MASKED, array, is_array, is_integer, is_masked
from ._remember import remembered, state
from ._torch import compiling, constant, define, find, operators


def public(f):
    """f as users see it."""
    name, names = f.__name__, tuple(inspect.signature(f).parameters)

    @functools.wraps(f)
    def call(*arguments, **keywords):
        if compiling():
            return traced(sys.modules["torch"], arguments, keywords)
        try:
            again = state.again
            y = NotImplemented if again is None else again(name, arguments, keywords, None)
            return remembered(sys.modules.get("torch"), f, arguments, keywords) if y is NotImplemented else y
        except (Error, TypeError, ValueError, AttributeError, ArithmeticError) as e:
            given = {**dict(zip(names, arguments)), **keywords}
            wrong = _no_array(e, given) or _no_numbers(e, given)
            _begin_with_call(wrong or e, name, given)
            if wrong:
                raise wrong from None
            raise

    traced = _operator(f, call)
    return call


# ---- what is wrong with which call ----


def _shown(x):
    if isinstance(getattr(x, "shape", None), tuple) and hasattr(x, "dtype"):  # a dtype of NumPy has a shape, too
        text = f"{str(x.dtype).rpartition('.')[2]}{list(x.shape)}"
        try:
            strides = array(x).strides
        except TypeError:
            return text
        return text if strides is None or tuple(strides) == _row_major(x.shape) else f"{text} with strides {list(strides)}"
    return f"[{', '.join(map(_shown, x))}]" if isinstance(x, list) else repr(x)


def _no_array(e, given):
    """A TypeError that names the argument, or one of a list, that has not what all arrays have, as e says, or is masked; else None."""
    for n, x in given.items():
        for y in (x, *x) if isinstance(x, (list, tuple)) else (x,):
            if isinstance(e, AttributeError) and getattr(e, "obj", e) is y and not is_array(y):
                return TypeError(f"argument '{n}': a {type(y).__name__} is no array of PyTorch, NumPy or CuPy")
            if str(e).endswith(MASKED) and is_masked(y):
                return TypeError(f"argument '{n}': {MASKED}")
    return None


_INTEGERS = ("bottom", "columns", "copies", "dim", "kv_heads", "left", "right", "rows", "shift", "top")
_PER_DIMENSION = ("border", "dilation", "padding", "size", "stride", "tile")
_SEQUENCES = ("dims", "shape", "sizes")


def _are_integers(x):
    return hasattr(x, "__len__") and not isinstance(x, (str, bytes)) and getattr(x, "shape", True) != () and all(map(is_integer, x))


def _no_numbers(e, given):
    """A TypeError where an argument that says how many, or which, is no integer, or no sequence of them; else None. What was tried with it says less."""
    for n, x in {} if isinstance(e, Error) else given.items():
        if n in _INTEGERS and not is_integer(x) and not (x is None and n in ("columns", "kv_heads")):
            return TypeError(f"{n} is an integer, not {_shown(x)}")
        if n in _PER_DIMENSION and not is_integer(x) and not _are_integers(x):
            return TypeError(f"{n} is an integer, or one for each dimension, not {_shown(x)}")
        if n in _SEQUENCES and not _are_integers(x):
            return TypeError(f"{n} are integers in a sequence, not {_shown(x)}")
    return None


def _begin_with_call(e, name, given):
    """The error's text begins with the call: its arguments by name, with their shapes."""
    e.plain = getattr(e, "plain", str(e))  # where one calls another here, the outer call is shown
    e.args = (f"std.{name}({', '.join(f'{n}={_shown(x)}' for n, x in given.items())}): {e.plain}",)


# ---- operators ----

_WRITTEN = {"pages_append": "cache"}  # the parameter that a function of tilecc.std writes and returns; where none is named, `out`
_SEVERAL = ("split", "split_qkv")  # those that return several tensors
_KINDS = {"t": "Tensor", "l": "Tensor[]", "i": "SymInt", "n": "SymInt[]", "f": "float", "b": "bool", "s": "str", "d": "ScalarType"}


def _kind(torch, x):
    """A letter of _KINDS; "o": nothing is given."""
    if x is None:
        return "o"
    if isinstance(x, torch.Tensor):
        return "t"
    if isinstance(x, (list, tuple)):
        return "l" if len(x) > 0 and isinstance(x[0], torch.Tensor) else "n"
    if isinstance(x, bool):
        return "b"
    if isinstance(x, (int, torch.SymInt)):
        return "i"
    if isinstance(x, float):
        return "f"
    if isinstance(x, str):
        return "s"
    if isinstance(x, torch.dtype):
        return "d"
    raise TypeError(f"a {type(x).__name__} is no argument of an operator")


def _operator(f, call):
    """A function of torch, arguments and keywords for calls of f that torch.compile follows: it takes them for one operator, of which there is one for
    each choice of what kinds of arguments are given, tilecc::permute_tno for permute(tensor, numbers, out=None). call: f as users see it."""
    parameters = inspect.signature(f).parameters
    names = tuple(parameters)
    defaults = {n: p.default for n, p in parameters.items() if p.default is not p.empty}
    written = _WRITTEN.get(f.__name__, "out")

    @constant
    def operator(kinds):
        name = f"tilecc::{f.__name__}_{kinds}"
        if name not in operators:
            given = [n for n, k in zip(names, kinds) if k != "o"]
            writes = written in given

            def run(*arguments):
                y = call(**dict(zip(given, arguments)))
                return None if writes else list(y) if f.__name__ in _SEVERAL else y

            types = [(n, _KINDS[k], n == written) for n, k in zip(names, kinds) if k != "o"]
            define(name, types, "()" if writes else "Tensor[]" if f.__name__ in _SEVERAL else "Tensor", run, run)
        return name

    def traced(torch, arguments, keywords):
        given = dict(defaults)
        given.update(zip(names, arguments))
        given.update(keywords)
        if len(arguments) > len(names) or len(given) != len(names):
            raise TypeError(f"{f.__name__} takes {', '.join(names)}")
        kinds = "".join([_kind(torch, given[n]) for n in names])
        y = find(operator(kinds))(*[given[n] for n in names if given[n] is not None])
        return given[written] if given.get(written) is not None else y

    return traced
