"""Abstract interpretation of a kernel's body, statement by statement.

Both sides of a branch are read and joined; a loop's body is read once, with the names it changes standing for
any iteration. What is not understood becomes an opaque value with a reason, never an exception.
"""

from __future__ import annotations

import time
from typing import Any

from coalesce_lint.access import Call
from coalesce_lint.index.nodes import Node, Param, const
from coalesce_lint.kernels.build import Budget, Builder
from coalesce_lint.kernels.inlining import Inlining
from coalesce_lint.kernels.modules import Resolver
from coalesce_lint.kernels.reading import Frame, LoopFrame
from coalesce_lint.kernels.record import RawSite
from coalesce_lint.kernels.source import Function, Module, Parameter
from coalesce_lint.kernels.statements import Statements
from coalesce_lint.kernels.values import Value

#: Seconds after which the rest of a kernel is given up however little was read, so that nothing hangs on a
#: slow machine.
TIME_LIMIT = 30.0


class Interpreter(Statements, Inlining):
    """Reads one kernel and collects its accesses in ``sites``."""

    def __init__(self, kernel: Function, resolver: Resolver, pins: dict[str, Any] | None = None) -> None:
        self.kernel = kernel
        self.resolver = resolver
        self.pins = pins or {}
        self.build = Builder()
        self.sites: list[RawSite] = []
        self.guards: list[tuple[Node, bool]] = []
        self.assumed: list[Node] = []
        self.loops: list[LoopFrame] = []
        self.chain: list[Call] = []
        self.frames: list[Frame] = []
        self.spent: str | None = None  #: why the end of the kernel was not read
        self.inlined: set[Function] = set()
        self.dead_sites: list[RawSite] = []  #: accesses of helpers in branches that are dead for this kernel
        self.in_dead = False
        self.sources: dict[str, Module] = {kernel.module.path: kernel.module}
        self.deadline = time.thread_time() + TIME_LIMIT
        self.lambda_depth = 0
        self.statements = 0
        self.global_symbols, self.elements, self.unknown_tiles = {}, {}, {}
        self.host_descriptors = {}

    def run(self) -> None:
        """Reads the kernel with its parameters unknown or pinned."""
        env: dict[str, Value] = {}
        for index, p in enumerate(self.kernel.parameters):
            env[p.name] = self.parameter(p, index)
        frame = Frame(self.kernel, env)
        self.frames.append(frame)
        try:
            self.block(self.kernel.node.body)
        except Budget:
            self.spent = "too large to be read to its end; accesses further down are not judged"
        except RecursionError:
            self.spent = "nested too deeply to be read to its end; accesses further down are not judged"
        self.frames.pop()

    def parameter(self, p: Parameter, index: int) -> Value:
        """The value of a kernel parameter."""
        if p.name in self.pins and isinstance(self.pins[p.name], (bool, int, float, str, type(None))):
            return const(self.pins[p.name])
        pointer = (
            True
            if p.name in self.pins or "pointer" in p.annotation or p.annotation.startswith("'*")
            else None
        )
        constexpr = "constexpr" in p.annotation
        name = p.name
        special = index not in self.kernel.do_not_specialize and name not in self.kernel.do_not_specialize
        attr = Param(name, constexpr, None, False if constexpr else pointer, index, special)
        # an annotated argument has the type of its annotation whatever the launch passes
        wide = "i64" if p.annotation.strip("'\"").endswith(("int64", "i64")) else None
        return Node("param", (), attr, (), wide, None, constexpr)
