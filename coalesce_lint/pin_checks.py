"""Pinned arguments that cannot be meant: names that no kernel has, values that its parameter cannot take."""

from __future__ import annotations

import ast
import difflib
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property

from coalesce_lint.access import FileError, FileReport, Kernel
from coalesce_lint.pins import MAX_TILE, PinnedValue, Pins, PointerPin

#: Operators and comparisons that no pointer takes part in.
_NUMBERS_ONLY = (ast.Mult, ast.FloorDiv, ast.Mod, ast.Div, ast.LShift, ast.RShift, ast.Pow)
_ORDER = (ast.Lt, ast.LtE, ast.Gt, ast.GtE)


@dataclass
class Checks:
    """Collects the files of a run and judges the pins in the end."""

    pins: Pins
    _files: list[FileReport] = field(default_factory=list)

    def seen(self, report: FileReport) -> None:
        """Takes note of a file that was read with the pins."""
        if self.pins.args and report.lines:
            self._files.append(report)

    def errors(self, shown: Iterable[Kernel]) -> list[FileError]:
        """One error for each pin that is wrong for every kernel of ``shown`` that has such a parameter."""
        if not self._files:
            return []
        signatures = list(self._signatures({(k.path, k.name) for k in shown}))
        if not signatures:
            return []
        found = []
        for name, value in self.pins.args.items():
            having = [s for s in signatures if name in s.parameters]
            wrong = [w for s in having if (w := s.wrong(name, value)) is not None]
            if not having:
                found.append(FileError(f"--arg {name}", 0, _no_such_name(name, signatures)))
            elif len(wrong) == len(having):
                found.append(FileError(f"--arg {name}", 0, wrong[0]))
        return found

    def _signatures(self, shown: set[tuple[str, str]]) -> Iterator[_Signature]:
        from coalesce_lint.kernels.source import read_module
        from coalesce_lint.strings import kernel_literals

        for report in self._files:
            text = "\n".join(report.lines)
            names = {name for path, name in shown if path == report.path}
            for part in (text, *(x.text for x in kernel_literals(text))):
                try:
                    module = read_module(part, report.path)
                except (SyntaxError, ValueError, RecursionError, MemoryError):
                    continue
                for fn in module.all_functions:
                    if fn.name in names:
                        yield _Signature(fn.node, part)


def _no_such_name(name: str, signatures: list[_Signature]) -> str:
    known = list(dict.fromkeys(p for s in signatures for p in s.parameters))
    close = difflib.get_close_matches(name, known, 1)
    hint = f"; did you mean {close[0]}?" if close else f"; there are {', '.join(known[:20])}" if known else ""
    return f"no kernel that is shown has a parameter of that name{hint}"


class _Signature:
    """One kernel's parameters, and what their use in its source says of them."""

    def __init__(self, node: ast.FunctionDef, text: str) -> None:
        self.node = node
        self.text = text
        arguments = node.args
        listed = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
        self.parameters = {a.arg: ast.unparse(a.annotation) if a.annotation else "" for a in listed}

    def wrong(self, name: str, value: PinnedValue) -> str | None:
        """Why the parameter ``name`` cannot be ``value``; None where it can, or where it is not sure."""
        if value is None:
            return None
        pointer = isinstance(value, PointerPin)
        if "constexpr" in self.parameters[name]:
            if pointer:
                return "a constexpr of the kernel, not a pointer"
            return _wrong_extent(value) if name in self._extents else None
        if name in self._numbers:
            if pointer:
                return "the kernel calculates with it as a number, it is no pointer"
            if isinstance(value, str):
                return f"expected a number, not '{value}'"
            if isinstance(value, float) and value.is_integer() and name in self._in_addresses:
                return f"expected an integer; write {int(value)}"
            return None
        if not pointer and name in self._pointers:
            return f"a pointer; pin its element type, such as {name}=*fp32"
        return None

    @cached_property
    def _own(self) -> set[str]:
        """The parameters whose names stand for nothing else in the body."""
        bound = {
            n.id for n in ast.walk(self.node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)
        }
        return set(self.parameters) - bound

    @cached_property
    def _numbers(self) -> set[str]:
        """The parameters that are used as no pointer can be."""
        found: set[str] = set()
        for node in ast.walk(self.node):
            operands: list[ast.expr] = []
            if isinstance(node, ast.BinOp) and isinstance(node.op, _NUMBERS_ONLY):
                operands = [node.left, node.right]
            elif isinstance(node, ast.Compare) and all(isinstance(op, _ORDER) for op in node.ops):
                operands = [node.left, *node.comparators]
            elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
                operands = [node.operand]
            found |= {o.id for o in operands if isinstance(o, ast.Name)}
        return found & self._own

    @cached_property
    def _extents(self) -> set[str]:
        """The parameters N of ``arange(0, N)``."""
        found = set()
        for node in ast.walk(self.node):
            if isinstance(node, ast.Call) and len(node.args) == 2 and not node.keywords:
                start, end = node.args
                called = getattr(node.func, "attr", getattr(node.func, "id", ""))
                from_zero = isinstance(start, ast.Constant) and start.value == 0
                if called == "arange" and from_zero and isinstance(end, ast.Name):
                    found.add(end.id)
        return found & self._own

    @cached_property
    def _unpinned(self) -> list[Kernel]:
        """The kernel with nothing pinned; asked for only where its source alone does not tell."""
        from coalesce_lint.engine import analyze_text

        return [k for k in analyze_text(self.text, "").kernels if k.name == self.node.name]

    @cached_property
    def _pointers(self) -> set[str]:
        return {root for k in self._unpinned for a in k.accesses for root in a.pointer.split("|")}

    @cached_property
    def _in_addresses(self) -> set[str]:
        offsets = " ".join(a.offset for k in self._unpinned for a in k.accesses)
        return set(re.findall(r"\w+", offsets))


def _wrong_extent(value: PinnedValue) -> str | None:
    if isinstance(value, int) and 0 < value <= MAX_TILE and value & (value - 1) == 0:
        return None
    return f"an extent of tl.arange, which must be a power of two up to {MAX_TILE}"
