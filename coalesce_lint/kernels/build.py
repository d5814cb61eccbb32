"""Makes expression nodes: result shapes, element types and the folding of constants."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

from coalesce_lint.index.nodes import Node, const
from coalesce_lint.reasons import Why

#: A kernel whose graph grows past this is not read further.
MAX_NODES = 150_000
#: Integers beyond 64 bits do not occur in a kernel; larger results are not computed.
_MAX_BITS = 256


class Budget(Exception):
    """The kernel's budget of nodes or time is spent."""


def int_value(x: Any) -> int | None:
    """The number a value is known to be, or None."""
    if isinstance(x, Node) and x.op == "const" and isinstance(x.attr, (bool, int)):
        return int(x.attr)
    return None


def dim_of(x: Any) -> Any:
    """A value as an extent: an int where it is one, else the node."""
    k = int_value(x)
    return k if k is not None else x


_PY: dict[str, Callable[[Any, Any], Any]] = {
    "add": operator.add,
    "sub": operator.sub,
    "mul": operator.mul,
    "div": operator.floordiv,
    "mod": operator.mod,
    "and": operator.and_,
    "or": operator.or_,
    "xor": operator.xor,
    "shl": operator.lshift,
    "shr": operator.rshift,
    "min": min,
    "max": max,
    "truediv": operator.truediv,
    "pow": operator.pow,
}
_CMP: dict[str, Callable[[Any, Any], bool]] = {
    "lt": operator.lt,
    "le": operator.le,
    "gt": operator.gt,
    "ge": operator.ge,
    "eq": operator.eq,
    "ne": operator.ne,
}


def fold(op: str, a: Any, b: Any, static: bool = True) -> Any:
    """The value of a constant operation, or None where it has none that is worth computing.

    ``static`` operands are Python's, whose division rounds down; that of runtime integers truncates.
    """
    if isinstance(a, str) or isinstance(b, str):
        return (
            a + b
            if op == "add" and isinstance(a, str) and isinstance(b, str) and len(a) + len(b) < 4096
            else None
        )
    try:
        if op in ("shl", "pow") and isinstance(b, int) and abs(b) > _MAX_BITS:
            return None
        if op == "pow" and isinstance(a, int) and abs(a) > 1 and a.bit_length() * abs(b) > _MAX_BITS:
            return None
        out = _PY[op](a, b)
        if op in ("div", "mod") and not static and isinstance(out, int) and (a < 0) != (b < 0) and a % b:
            out = out + 1 if op == "div" else out - b
    except (ArithmeticError, TypeError, ValueError):
        return None
    if isinstance(out, int) and out.bit_length() > _MAX_BITS:
        return None
    return out if isinstance(out, (bool, int, float, str)) else None


class Builder:
    """Node factory of one kernel; keeps all nodes, for questions such as "is this used as a bound"."""

    def __init__(self) -> None:
        self.nodes: list[Node] = []
        self.pos: Any = None
        self.assuming = 0  #: > 0 inside tl.assume and asserts, whose comparisons make no parameter a size

    def make(
        self, op: str, args: tuple[Node, ...], attr: Any = None, shape: Any = (), type: str | None = None
    ) -> Node:
        """A node; raises Budget when the kernel has too many."""
        static = bool(args) and op not in _NEVER_STATIC and all(a.static for a in args)
        node = Node(op, args, attr, shape, type, self.pos, static)
        if not self.assuming:
            self.nodes.append(node)
        if len(self.nodes) > MAX_NODES:
            raise Budget
        return node

    def binary(self, op: str, a: Node, b: Node) -> Node:
        if a.op == "const" and b.op == "const":
            static = a.static and b.static
            value = fold(op, a.attr, b.attr, static) if a.attr is not None and b.attr is not None else None
            if value is not None:
                return const(value, static)
        shape = broadcast_shapes(a.shape, b.shape)
        if op in ("truediv", "pow"):
            return self.make("data", (a, b), op, shape)
        if any(x.op == "const" and isinstance(x.attr, float) for x in (a, b)):
            return self.make("data", (a, b), "floating point", shape)
        boolean = op in ("and", "or", "xor") and a.type == "i1" and b.type == "i1"
        if op in ("add", "sub") and b.op == "const" and b.attr == 0:
            return a
        if op == "mul" and b.op == "const" and b.attr == 1:
            return a
        attr = ("floor" if a.static and b.static else "trunc") if op in ("div", "mod") else None
        type_ = "i1" if boolean else wider(a, b, op)
        if type_ is None and op == "sub" and a.type in _UNSIGNED:
            type_ = a.type  # what is taken from a number is a number
        return self.make(op, (a, b), attr, shape, type_)

    def compare(self, op: str, a: Node, b: Node) -> Node:
        if a.op == "const" and b.op == "const":
            try:
                return const(_CMP[op](a.attr, b.attr))
            except TypeError:
                pass
        return self.make("cmp", (a, b), op, broadcast_shapes(a.shape, b.shape), "i1")

    def negate(self, cond: Node) -> Node:
        if cond.op == "const":
            return const(not cond.attr)
        return self.make("not", (cond,), None, cond.shape, "i1")

    def choose(self, op: str, cond: Node, a: Node, b: Node) -> Node:
        """``where`` (lane by lane) or ``phi`` (control flow)."""
        if a is b:
            return a
        value = cond.attr if cond.op == "const" else None
        if cond.op == "const" and value is not None and op == "phi":
            return a if value else b
        if a.op == "const" and b.op == "const" and a.attr == b.attr and type(a.attr) is type(b.attr):
            return a
        shape = broadcast_shapes(a.shape, b.shape)
        if op == "where":
            shape = broadcast_shapes(shape, cond.shape)
        type_ = a.type if a.type == b.type else wider(a, b)
        return self.make(op, (cond, a, b), None, shape, type_)

    def data(self, name: Any, *args: Node, shape: Any = "broadcast") -> Node:
        """A value computed from its inputs lane by lane in a way the algebra does not follow."""
        if shape == "broadcast":
            shape = ()
            for a in args:
                shape = broadcast_shapes(shape, a.shape)
        return self.make("data", args, name, shape)

    def opaque(self, reason: Why, *args: Node, shape: Any = "broadcast") -> Node:
        """A value that is not understood, with the reason."""
        if shape == "broadcast":
            shape = ()
            for a in args:
                shape = broadcast_shapes(shape, a.shape)
        return self.make("opaque", args, reason, shape)


_NEVER_STATIC = frozenset(
    ("arange", "load", "pid", "loopvar", "iter", "carried", "opaque", "hint", "reduce", "scan")
)


def wider(a: Node, b: Node, op: str = "") -> str | None:
    """The element type of the result of ``op``: pointers win, then the wider integer, then the unsigned one.

    A Python number takes the other side's type (``integer_promote_impl`` and ``to_tensor`` of Triton's
    semantics).
    """
    for t in ("ptr", "i64"):
        if t in (a.type, b.type):
            return t
    if "i1" in (a.type, b.type):
        return None
    for x, y in ((a, b), (b, a)):
        if x.static and x.type is None:
            return y.type
    if {a.type, b.type} & _SMALL.keys():
        if a.type and b.type:
            return max(a.type, b.type, key=lambda t: _SMALL.get(t, 64))
        # a value of unknown type may be a pointer; a number has 32 bits or more
        known, other = (a, b) if a.type else (b, a)
        number = op in _OF_NUMBERS or _is_number(other)
        return known.type if known.type in _UNSIGNED and number else None
    return a.type or b.type


def _is_number(node: Node) -> bool:
    """True where a value is surely no pointer: a pointer can only be moved, by ``+`` and ``-``."""
    if node.op == "add":
        return all(_is_number(a) for a in node.args)
    if node.op == "sub":
        return _is_number(node.args[0])
    return node.op in _OF_NUMBERS or node.op in ("neg", "pid", "num_programs", "loopvar", "const")


#: Operations that take no pointers.
_OF_NUMBERS = frozenset(("mul", "div", "mod", "shl", "shr"))
#: Wide types without negative numbers.
_UNSIGNED = ("u32", "u64")
#: Integer types whose results wrap where an index may notice, by their rank, and those that they meet.
_SMALL = {"i8": 16, "u8": 17, "i16": 32, "u16": 33, "u32": 65, "u64": 129}


def broadcast_shapes(a: Any, b: Any) -> Any:
    """The shape of an elementwise result; None where a shape is not known."""
    if a is None or b is None:
        return None
    if not a:
        return b
    if not b:
        return a
    if len(a) < len(b):
        a = (1,) * (len(b) - len(a)) + tuple(a)
    elif len(b) < len(a):
        b = (1,) * (len(a) - len(b)) + tuple(b)
    return tuple(y if isinstance(x, int) and x == 1 else x for x, y in zip(a, b, strict=True))
