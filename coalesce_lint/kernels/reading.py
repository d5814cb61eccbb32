"""The state of a kernel being read, and what its parts ask of one another.

``Reading`` is the interface against which the parts of the interpreter (names, operators, calls, loops) and
the meanings of the language's functions are written; ``Interpreter`` puts the parts together.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

from coalesce_lint.access import Call, Place
from coalesce_lint.index.nodes import Loop, Node, const
from coalesce_lint.kernels.build import Builder, dim_of
from coalesce_lint.kernels.modules import Resolver
from coalesce_lint.kernels.record import RawSite
from coalesce_lint.kernels.source import Function, Module
from coalesce_lint.kernels.values import Arguments, Desc, Tup, Value
from coalesce_lint.reasons import Reason


class Frame:
    """One function being read: its names and what it returned so far."""

    def __init__(self, function: Function, env: dict[str, Value]) -> None:
        self.function = function
        self.env = env
        self.returns: list[tuple[int, list[tuple[Node, bool]], Value]] = []
        self.guard_base = 0


class LoopFrame:
    """One loop being read: the states in which an iteration ended early."""

    def __init__(self, loop: Loop) -> None:
        self.loop = loop
        self.exits: list[dict[str, Value]] = []


class Reading:
    """What is known at the statement being read."""

    build: Builder
    resolver: Resolver
    sites: list[RawSite]
    guards: list[tuple[Node, bool]]
    #: Conditions that the author promises.
    assumed: list[Node]
    loops: list[LoopFrame]
    chain: list[Call]
    frames: list[Frame]
    #: The functions whose bodies were read, and the modules they come from by path.
    inlined: set[Function]
    sources: dict[str, Module]
    lambda_depth: int
    #: Values made once for a kernel: its unknown globals, elements of its parameters, tiles of unknown
    #: callers, descriptors that the host made.
    global_symbols: dict[str, Node]
    elements: dict[str, Node]
    unknown_tiles: dict[tuple[int, int], Node]
    host_descriptors: dict[tuple[int, int], Desc]

    @property
    def frame(self) -> Frame:
        return self.frames[-1]

    @property
    def env(self) -> dict[str, Value]:
        return self.frames[-1].env

    # -- conversions -----------------------------------------------------------------------------------------

    def number(self, value: Value) -> Node:
        """A value as an expression node."""
        if isinstance(value, Node):
            return value
        return self.build.opaque(Reason.NOT_A_NUMBER.of(type(value).__name__.lower()), shape=None)

    def condition(self, value: Value) -> Node:
        """A value as a branch condition (a node of type i1, or a constant)."""
        if isinstance(value, Tup):
            return const(bool(value.items))
        if not isinstance(value, Node):
            return const(True)
        if value.op == "const":
            return const(bool(value.attr))
        if value.type == "i1":
            return value
        return self.build.compare("ne", value, const(0))

    def shape_of(self, value: Value) -> tuple[Any, ...] | None:
        """A shape argument as a tuple of extents."""
        if isinstance(value, Tup):
            return tuple(dim_of(v) if isinstance(v, Node) else dim_of(self.number(v)) for v in value.items)
        if isinstance(value, Node) and value.op != "opaque" and value.shape == ():
            return (dim_of(value),)
        return None

    # -- what the parts provide ------------------------------------------------------------------------------

    def expr(self, node: Any) -> Value:
        """The value of an expression; opaque where it is not understood."""
        raise NotImplementedError

    def constant_expr(self, node: ast.expr, module: Module, name: str = "") -> Value:
        """The value of a module-level constant or a default, from its syntax alone."""
        raise NotImplementedError

    def element(self, value: Node, key: int | str) -> Node:
        """An element or attribute of a parameter."""
        raise NotImplementedError

    def range_bounds(self, node: ast.Call) -> tuple[Node, Node, Node] | None:
        """Start, stop and step of a ``range`` in any spelling; None for other iterables."""
        raise NotImplementedError

    def inline(self, fn: Function, args: Arguments, place: Place | None) -> Value:
        """Reads the body of a called function with its parameters bound."""
        raise NotImplementedError

    def block(self, body: Any) -> str | None:
        """Reads statements; returns how control leaves them."""
        raise NotImplementedError

    def assign(self, target: Any, value: Value) -> None:
        """Binds a value to a name or to the names of a tuple."""
        raise NotImplementedError


#: What a function of the language means: its value from its arguments.
Meaning = Callable[[Reading, Arguments, Place], Value]
