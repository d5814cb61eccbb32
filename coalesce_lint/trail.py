"""How an address came to be: the assignments from ``tl.arange`` over the offset to the access.

Read from the source text alone, for whoever looks at a finding: of several assignments of a name the last one
above the use counts, whatever branch or loop it is in.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

from coalesce_lint.access import Place
from coalesce_lint.syntax import characters, parse

#: Steps back that are followed.
_DEPTH = 8


@dataclass(frozen=True)
class Step:
    """One assignment on the way to an address. ``role`` says what it holds, such as "lanes" or "offset"."""

    place: Place
    role: str


@dataclass
class Source:
    """The text of a file, for looking up trails in it."""

    path: str
    lines: Sequence[str]
    _definitions: dict[int, dict[str, list[ast.stmt]]] = field(default_factory=dict)

    @cached_property
    def _calls(self) -> dict[tuple[int, int], tuple[ast.Call, ast.FunctionDef]]:
        """The calls inside functions by line and column in characters, with the innermost function."""
        found: dict[tuple[int, int], tuple[ast.Call, ast.FunctionDef]] = {}
        try:
            tree = parse("\n".join(self.lines))
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return found
        for fn in [n for n in ast.walk(tree) if isinstance(n, ast.FunctionDef)]:
            for node in ast.walk(fn):
                if isinstance(node, ast.Call):
                    # functions inside come later in the walk and take over their calls
                    found[node.lineno, self._column(node.lineno, node.col_offset)] = (node, fn)
        return found

    def steps(self, place: Place) -> list[Step]:
        """The assignments that lead to the address of the call at ``place``, in the order of the lines."""
        known = self._calls.get((place.line, place.column))
        if known is None:
            return []
        call, fn = known
        found: dict[int, tuple[ast.stmt, str]] = {}
        self._follow(_address(call), call.lineno, fn, found, _DEPTH)
        ordered = sorted(found.values(), key=lambda item: item[0].lineno)
        return [Step(self._place(stmt), role) for stmt, role in ordered]

    def offset_lines(self, place: Place) -> set[int]:
        """The lines that assign the address of the call at ``place``, or a sum that is added to it."""
        known = self._calls.get((place.line, place.column))
        if known is None:
            return set()
        call, fn = known
        lines: set[int] = set()
        pending = [(s, call.lineno) for s in _summands(_address(call))]
        while pending:
            summand, before = pending.pop()
            stmt = self._definition(fn, summand.id, before) if isinstance(summand, ast.Name) else None
            value = getattr(stmt, "value", None)
            if stmt is None or not isinstance(value, ast.BinOp) or stmt.lineno in lines:
                continue
            lines |= set(range(stmt.lineno, (stmt.end_lineno or stmt.lineno) + 1))
            pending += [(s, stmt.lineno) for s in _summands(value)]
        return lines

    def _follow(
        self,
        expression: ast.expr,
        before: int,
        fn: ast.FunctionDef,
        found: dict[int, tuple[ast.stmt, str]],
        depth: int,
    ) -> None:
        if depth == 0:
            return
        for name in [n for n in ast.walk(expression) if isinstance(n, ast.Name)]:
            stmt = self._definition(fn, name.id, before)
            value = getattr(stmt, "value", None)
            if stmt is None or not isinstance(value, ast.expr) or id(stmt) in found:
                continue
            before_it: dict[int, tuple[ast.stmt, str]] = {}
            self._follow(value, stmt.lineno, fn, before_it, depth - 1)
            role = _role(value)
            if role or before_it:
                found[id(stmt)] = (stmt, role or "offset")
                found.update(before_it)

    def _definition(self, fn: ast.FunctionDef, name: str, before: int) -> ast.stmt | None:
        """The last statement of ``fn`` above line ``before`` that assigns ``name``."""
        if id(fn) not in self._definitions:
            table: dict[str, list[ast.stmt]] = {}
            for node in ast.walk(fn):
                if isinstance(node, (ast.Assign, ast.AnnAssign, ast.AugAssign)):
                    targets = node.targets if isinstance(node, ast.Assign) else [node.target]
                    for target in [n for t in targets for n in ast.walk(t) if isinstance(n, ast.Name)]:
                        table.setdefault(target.id, []).append(node)
            self._definitions[id(fn)] = table
        above = [s for s in self._definitions[id(fn)].get(name, ()) if s.lineno < before]
        return max(above, key=lambda s: s.lineno, default=None)

    def _column(self, line: int, column: int) -> int:
        return characters(self.lines, line, column)

    def _place(self, stmt: ast.stmt) -> Place:
        last = stmt.end_lineno or stmt.lineno
        return Place(
            self.path,
            stmt.lineno,
            self._column(stmt.lineno, stmt.col_offset),
            last,
            self._column(last, stmt.end_col_offset or 0),
        )


def _address(call: ast.Call) -> ast.expr:
    """The expression of a call that tells where it goes: its first argument, or what it is a method of."""
    return call.args[0] if call.args else call.func


def _summands(expression: ast.expr) -> list[ast.expr]:
    if isinstance(expression, ast.BinOp) and isinstance(expression.op, (ast.Add, ast.Sub)):
        return [*_summands(expression.left), *_summands(expression.right)]
    return [expression]


def _role(value: ast.expr) -> str:
    """What an assignment is to an address where its own text tells: "lanes" for a tl.arange, "program"."""
    called = {
        getattr(n.func, "attr", getattr(n.func, "id", "")) for n in ast.walk(value) if isinstance(n, ast.Call)
    }
    if "arange" in called:
        return "lanes"
    return "program" if "program_id" in called else ""
