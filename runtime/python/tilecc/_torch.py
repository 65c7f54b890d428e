"""Operators of torch.library: what torch.compile, torch.export and fake tensors see of a call of a kernel, or of a function of tilecc.std.

An operator changes the arguments that its kernel writes and returns nothing; what `out=torch.empty` makes is allocated before it, by operations that
they follow as well. Nothing here imports torch: whoever calls has tensors of it."""

import hashlib
import keyword
import os
import re
import sys

from ._arrays import RAW, torch_type

operators = {}  # their names: what keeps them alive


def _asked():
    torch = sys.modules.get("torch")
    return torch is not None and torch.compiler.is_dynamo_compiling()


# Whether torch.compile looks at a call rather than Python making it; of torch itself where it was imported first, for calls of a few microseconds.
compiling = sys.modules["torch"].compiler.is_dynamo_compiling if "torch" in sys.modules else _asked


def define(name, parameters, returns, function, fake):
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
    operators[name] = made


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
        if name in operators:
            return name
    elif not re.fullmatch(r"[A-Za-z_]\w*::[A-Za-z_]\w*", name):
        raise ValueError(f"an operator is called 'namespace::name', not {name!r}")
    elif name in operators:
        raise ValueError(f"there is an operator {name} already")

    def fake(*arguments):
        for p, x in zip(parameters, arguments):
            if not p.scalar:
                p.check(kernel.name, torch_type(x), len(x.shape), torch_type(x) in RAW)

    types = [(p.name, "SymInt" if p.scalar else "Tensor", p.written) for p in parameters]
    define(name, types, "()", lambda *arguments: kernel(*arguments), fake)
    return name


def constant(f):
    """Marks a function whose result torch.compile computes while it compiles, as torch.compiler.assume_constant_result does, which would import torch."""
    f._dynamo_marked_constant = True
    return f
