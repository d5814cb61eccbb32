"""The expression graph that the interpreter builds and that the algebra and the hardware model read.

A node is one value of a kernel: a scalar or a tile. Nodes keep the operations in program order (the
compiler's contiguity analysis depends on it); the normal form of ``normalize.py`` is made from them on
demand.

Operations, with their arguments and attribute:

================  ==============================  =======================================================
op                args                            attr
================  ==============================  =======================================================
const             --                              a Python int, bool, float or None
param             --                              ``Param``: a pointer, size, stride or constexpr
pid               --                              program axis (int, or None where it is not a number)
num_programs      --                              program axis
loopvar           start, stop, step               ``Loop``
iter              --                              ``Loop``: how often the loop's body was finished
carried           value before the loop           ``Carry``: a name that a loop changes, at the loop's head
arange            start, end                      --
add sub mul       a, b                            --
div               a, b                            "trunc" (tensors), "floor" (Python ints and constexprs)
mod               a, b                            "trunc", "floor"
min max and or    a, b                            --
xor shl shr       a, b                            --
neg not           a                               --
cmp               a, b                            "lt", "le", "gt", "ge", "eq", "ne"
where             cond, a, b                      --
phi               cond, a, b                      --   control flow joined; cond is a scalar or None
load              pointer[, mask[, other]]        number of the access in its kernel
expand            a                               axis: a new axis of extent 1 before it
broadcast         a                               --   to ``shape``
trans             a                               permutation: axis k of the result is axis perm[k] of a
reshape           a                               --   row-major, to ``shape``
join split cat    a, b / a / a, b                 -- / 0 or 1 / --
interleave        a, b                            --
cast              a                               type name
hint              a                               ("multiple_of" | "max_contiguous" | "max_constancy", values)
reduce            a                               (kind, axis or None)
scan              a                               (kind, axis)
sort              a                               axis
data              any                             name of a function whose values are arbitrary, lane by lane
opaque            any                             the reason why the value is not understood
================  ==============================  =======================================================
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

Dim = "int | Node"
Position = "tuple[str, int, int] | None"


class Node:
    """One value. ``shape``: a tuple of extents (int or scalar Node), () for scalars, None where not known."""

    __slots__ = ("args", "attr", "cache", "op", "pos", "shape", "static", "type")

    def __init__(
        self,
        op: str,
        args: tuple[Node, ...] = (),
        attr: Any = None,
        shape: tuple[Any, ...] | None = (),
        type: str | None = None,
        pos: Any = None,
        static: bool = False,
    ) -> None:
        self.op = op
        self.args = args
        self.attr = attr
        self.shape = shape
        self.type = type  #: element type where known: "i1", "i32", "i64", "fp32", "ptr" ...
        self.pos = pos  #: (path, line, column) of the call or statement that made it
        self.static = static  #: known at compile time: Python's arithmetic, which rounds down
        self.cache: Any = None  #: the normal form, once made

    def __repr__(self) -> str:
        inner = ", ".join([*map(repr, self.args), *([repr(self.attr)] if self.attr is not None else [])])
        return f"{self.op}({inner})"

    @property
    def rank(self) -> int | None:
        return None if self.shape is None else len(self.shape)


@dataclass(eq=False)
class Param:
    """A kernel parameter. ``constexpr``: annotated so; ``value``: what the launch or a caller pins it to."""

    name: str
    constexpr: bool = False
    default: Any = None
    pointer: bool | None = None  #: True or False where the annotation or the launch says
    index: int = 0
    specialize: bool = True

    def __repr__(self) -> str:
        return self.name


@dataclass(eq=False)
class Loop:
    """A loop of the kernel: ``variable`` is its name in the source, "" for ``while``.

    ``bounds`` are start, stop and step of a ``range``, None for other loops.
    """

    variable: str
    depth: int
    line: int = 0
    bounds: tuple[Node, Node, Node] | None = field(default=None, repr=False)

    def __repr__(self) -> str:
        return self.variable or f"loop{self.line}"


@dataclass(eq=False)
class Carry:
    """A name changed by a loop. ``out`` is its value at the end of the body, set once the body was read."""

    name: str
    loop: Loop
    out: Node | None = field(default=None, repr=False)


def const(value: Any, static: bool = True) -> Node:
    return Node("const", (), value, (), "i1" if isinstance(value, bool) else None, None, static)


def runtime(node: Node) -> Node:
    """The node as a runtime value: a number that is assigned to a name becomes a tensor, unless the name is
    annotated ``tl.constexpr`` (``visit_Assign`` of Triton's code generator), and divides as tensors do.
    """
    if not node.static:
        return node
    out = Node(node.op, node.args, node.attr, node.shape, node.type, node.pos, False)
    out.cache = node.cache
    return out
