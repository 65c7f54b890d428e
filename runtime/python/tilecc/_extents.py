"""Extents as a signature writes them, "[M, ceil(N, 4)]": an argument that is made is allocated by them. torch.compile follows the arithmetic, so
that it works on sizes that are symbols there, too; reading the text is done before, and leaves a tuple of names, numbers and operators."""

import ast
import functools
import operator
import re

_BINARY = {
    "+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.floordiv, "%": operator.mod, "<<": operator.lshift,
    ">>": operator.rshift, "&": operator.and_, "|": operator.or_, "^": operator.xor, "ceil()": lambda a, b: -(-a // b), "min()": min,
    "max()": max,
}
_UNARY = {"-()": operator.neg, "~": operator.invert}
_SPELLED = {
    ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.FloorDiv: "/", ast.Mod: "%", ast.LShift: "<<", ast.RShift: ">>", ast.BitAnd: "&",
    ast.BitOr: "|", ast.BitXor: "^", ast.USub: "-()", ast.Invert: "~",
}


def split(text):
    """("M", "ceil(N, 4)") of "[M, ceil(N, 4)]"."""
    parts, depth, start = [], 0, 1
    for i, c in enumerate(text):
        depth += (c in "([") - (c in ")]")
        if (c == "," and depth == 1) or (c == "]" and depth == 0):
            parts.append(text[start:i].strip())
            start = i + 1
    return tuple(parts)


@functools.lru_cache(None)
def parse(text):
    """("M", 4, "*") of "M * 4": what is put on a stack, and what is done with the one or two on top of it. ValueError: of more than sizes. Python
    reads it, so names have a `_` in front meanwhile: `lambda` is a size like any other."""
    out = []

    def visit(e):
        if isinstance(e, ast.Constant) and isinstance(e.value, int):
            out.append(e.value)
        elif isinstance(e, ast.Name):
            out.append(e.id[1:])
        elif isinstance(e, (ast.BinOp, ast.UnaryOp)) and type(e.op) in _SPELLED:
            for operand in (e.left, e.right) if isinstance(e, ast.BinOp) else (e.operand,):
                visit(operand)
            out.append(_SPELLED[type(e.op)])
        elif isinstance(e, ast.Call) and isinstance(e.func, ast.Name) and e.func.id[1:] + "()" in _BINARY:
            for i, a in enumerate(e.args):
                visit(a)
                if i > 0:
                    out.append(e.func.id[1:] + "()")
        else:
            raise ValueError(text)

    try:
        visit(ast.parse(re.sub(r"\b(?=[A-Za-z_])", "_", text.replace("/", "//")), mode="eval").body)
    except SyntaxError:
        raise ValueError(text) from None
    return tuple(out)


def names(parsed):
    """The sizes that it is made of."""
    return [o for o in parsed if isinstance(o, str) and o not in _BINARY and o not in _UNARY]


def value(parsed, sizes):
    """What it is; sizes: a number for each name."""
    stack = []
    for o in parsed:
        if o in _BINARY:
            b, a = stack.pop(), stack.pop()
            stack.append(_BINARY[o](a, b))
        elif o in _UNARY:
            stack.append(_UNARY[o](stack.pop()))
        else:
            stack.append(sizes[o] if isinstance(o, str) else o)
    return stack.pop()
