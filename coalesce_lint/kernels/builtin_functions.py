"""Python's builtins, as far as kernels use them on values that are known."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from coalesce_lint.access import Place
from coalesce_lint.index.nodes import Node, const
from coalesce_lint.kernels import arithmetic
from coalesce_lint.kernels.reading import Reading
from coalesce_lint.kernels.values import Arguments, Tup, Value
from coalesce_lint.kernels.words import words
from coalesce_lint.reasons import Reason

BUILTINS = words(
    "range len min max int float abs bool tuple list sum isinstance print zip enumerate reversed hasattr "
    "getattr str type round divmod map all any"
)


def call(it: Reading, name: str, args: Arguments) -> Value:
    """A call of the builtin ``name``."""
    p = args.positional
    if name in ("min", "max") and len(p) >= 2:
        out = it.number(p[0])
        for x in p[1:]:
            out = it.build.binary(name, out, it.number(x))
        return out
    if name in ("min", "max") and len(p) == 1 and isinstance(p[0], Tup) and p[0].items:
        return call(it, name, Arguments(p[0].items))
    if name == "len" and p and isinstance(p[0], Tup):
        return const(len(p[0].items))
    if name in ("int", "round", "bool", "float") and p:
        value = p[0]
        if isinstance(value, Node) and value.op == "const" and isinstance(value.attr, (int, float)):
            conversions: dict[str, Callable[[Any], Any]] = {
                "int": int,
                "round": round,
                "bool": bool,
                "float": float,
            }
            return const(conversions[name](value.attr))
        return value
    if name == "abs" and p:
        return arithmetic.absolute(it, args, Place("", 0, 0))
    if name in ("tuple", "list"):
        return p[0] if p and isinstance(p[0], Tup) else Tup([])
    if name == "sum" and p and isinstance(p[0], Tup):
        total: Node = const(0)
        for x in p[0].items:
            total = it.build.binary("add", total, it.number(x))
        return total
    if name == "zip" and p and all(isinstance(x, Tup) for x in p):
        return Tup([Tup(list(row)) for row in zip(*(x.items for x in p), strict=False)])
    if name == "enumerate" and p and isinstance(p[0], Tup):
        return Tup([Tup([const(k), x]) for k, x in enumerate(p[0].items)])
    if name == "reversed" and p and isinstance(p[0], Tup):
        return Tup(list(reversed(p[0].items)))
    if name in ("isinstance", "hasattr", "all", "any"):
        return it.build.make("data", (), "condition", (), "i1")
    if name == "print":
        return const(None)
    return it.build.opaque(Reason.CALL.of(name), shape=None if name in ("map", "getattr") else ())
