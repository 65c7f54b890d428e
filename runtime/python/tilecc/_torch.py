"""Kernels, and the functions of tilecc.std, as operators of torch.library: what torch.compile, torch.export and fake tensors see of a call.

An operator changes the arguments that its kernel writes and returns nothing; what `out=torch.empty` makes is allocated before it, by operations that
they follow as well. Nothing here imports torch: whoever calls has tensors of it."""

import functools
import hashlib
import inspect
import keyword
import os
import re
import sys

from ._arrays import torch_type

_operators = {}  # their names: what keeps them alive


def _define(name, parameters, returns, function, fake):
    """An operator "namespace::name" of (name, type, is it written). function works on tensors that are there, fake on those that have only shapes."""
    import torch

    taken = [n + "_" if keyword.iskeyword(n) or n == "self" else n for n, _, _ in parameters]
    texts = [
        f"{t.replace('Tensor', f'Tensor(a{i}!)', 1) if written else t} {n}" for i, (n, (_, t, written)) in enumerate(zip(taken, parameters))
    ]
    written = [n for n, (_, _, w) in zip(taken, parameters) if w]

    def run(*arguments):
        with torch.no_grad():  # gradients are a matter of who registers a formula for it
            return function(*arguments)

    made = torch.library.custom_op(name, run, mutates_args=written, schema=f"({', '.join(texts)}) -> {returns}")
    made.register_fake(fake)
    _operators[name] = made


def find(name):
    """torch.ops.namespace.name.default."""
    torch = sys.modules["torch"]
    space, _, own = name.partition("::")
    return getattr(getattr(torch.ops, space), own).default


# ---- kernels ----


def kernel_operator(kernel, parameters, name=None):
    """Makes the operator of a kernel; its name, else one that is the same in every process."""
    if name is None:
        module = kernel._module
        what = (os.path.abspath(module._path), module._simulator, kernel.name, sorted(module._defines.items()), module._text)
        digest = hashlib.sha256(repr(what).encode()).hexdigest()[:12]
        stem = re.sub(r"\W+", "_", os.path.splitext(os.path.basename(module._path))[0]).strip("_")
        name = f"tilecc::{stem or 'source'}_{kernel.name}_{digest}"
        if name in _operators:
            return name
    elif not re.fullmatch(r"[A-Za-z_]\w*::[A-Za-z_]\w*", name):
        raise ValueError(f"an operator is called 'namespace::name', not {name!r}")
    elif name in _operators:
        raise ValueError(f"there is an operator {name} already")

    def fake(*arguments):
        for p, x in zip(parameters, arguments):
            if not p.scalar:
                p.check(kernel.name, torch_type(x), len(x.shape))

    types = [(p.name, "SymInt" if p.scalar else "Tensor", p.written) for p in parameters]
    _define(name, types, "()", lambda *arguments: kernel(*arguments), fake)
    return name


# ---- functions ----

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


def function_operator(f):
    """f of tilecc.std as a function that torch.compile takes for one operator, and f itself elsewhere. There is an operator for each choice of what
    kinds of arguments are given, tilecc::permute_tno for permute(tensor, numbers, out=None)."""
    parameters = inspect.signature(f).parameters
    names = tuple(parameters)
    defaults = {n: p.default for n, p in parameters.items() if p.default is not p.empty}
    written = _WRITTEN.get(f.__name__, "out")

    @constant
    def operator(kinds):
        name = f"tilecc::{f.__name__}_{kinds}"
        if name not in _operators:
            given = [n for n, k in zip(names, kinds) if k != "o"]
            writes = written in given

            def run(*arguments):
                y = f(**dict(zip(given, arguments)))
                return None if writes else list(y) if f.__name__ in _SEVERAL else y

            types = [(n, _KINDS[k], n == written) for n, k in zip(names, kinds) if k != "o"]
            _define(name, types, "()" if writes else "Tensor[]" if f.__name__ in _SEVERAL else "Tensor", run, run)
        return name

    @functools.wraps(f)
    def call(*arguments, **keywords):
        torch = sys.modules.get("torch")
        if torch is None or not torch.compiler.is_dynamo_compiling():
            return f(*arguments, **keywords)
        given = dict(defaults)
        given.update(zip(names, arguments))
        given.update(keywords)
        if len(arguments) > len(names) or len(given) != len(names):
            raise TypeError(f"{f.__name__} takes {', '.join(names)}")
        kinds = "".join([_kind(torch, given[n]) for n in names])
        y = find(operator(kinds))(*[given[n] for n in names if given[n] is not None])
        return given[written] if given.get(written) is not None else y

    return call


def constant(f):
    """Marks a function whose result torch.compile computes while it compiles, as torch.compiler.assume_constant_result does, which would import torch."""
    f._dynamo_marked_constant = True
    return f
