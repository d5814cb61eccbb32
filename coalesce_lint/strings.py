"""Kernels inside string literals of a file, as torch.compile writes them, and their places in the file."""

from __future__ import annotations

import ast
import re
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass, replace

from coalesce_lint.access import FileReport, Place
from coalesce_lint.files import may_hold_kernel
from coalesce_lint.syntax import characters, parse

_OPENING = re.compile(r"[rRuU]?('''|\"\"\"|'|\")")


@dataclass(frozen=True)
class Literal:
    """A string literal that may hold kernels.

    ``text`` is its value, moved to the left margin. ``line`` (from 1) and ``column`` (in characters from 0)
    are where the literal begins in the file. ``margins`` has, for each line of ``text``, the column in the
    file at which it begins; None where lines of the value are not lines of the file (escapes, literals in a
    row): everything is then said to be where the literal begins.
    """

    text: str
    line: int
    column: int
    margins: tuple[int, ...] | None

    def put_into_file(self, report: FileReport) -> None:
        """Changes all places of ``report``, which is about ``text``, to those in the file."""
        path = report.path
        for kernel in report.kernels:
            kernel.end_line = self._line(kernel.end_line)
            kernel.line = self._line(kernel.line)
            kernel.first_line = self._line(kernel.first_line) if kernel.first_line else 0
            for access in kernel.accesses:
                access.place = self._moved(access.place, path)
                for call in access.call_chain:
                    call.place = self._moved(call.place, path)
                if access.box is not None and access.box.made_at is not None:
                    access.box.made_at = self._moved(access.box.made_at, path)
                if access.site is not None:
                    access.site.related = [(self._moved(p, path), what) for p, what in access.site.related]
        for error in report.errors:
            if error.path == path:
                error.column = self._column(error.line, error.column)
                error.line = self._line(error.line)

    def _line(self, line: int) -> int:
        return self.line if self.margins is None else self.line + line - 1

    def _column(self, line: int, column: int) -> int:
        if self.margins is None:
            return self.column
        return column + (self.margins[line - 1] if 0 < line <= len(self.margins) else 0)

    def _moved(self, place: Place, path: str) -> Place:
        if place.path != path:
            return place  # a helper in another file
        if self.margins is None:
            return Place(path, self.line, self.column, self.line, self.column + 1)
        return replace(
            place,
            line=self._line(place.line),
            column=self._column(place.line, place.column),
            end_line=self._line(place.end_line),
            end_column=self._column(place.end_line, place.end_column),
        )


def kernel_literals(text: str) -> Iterator[Literal]:
    """The string literals of a source text that may hold kernels, in no particular order.

    Nothing where the text is not Python; f-strings are no literals.
    """
    try:
        tree = parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return
    lines = text.split("\n")
    templates = [n for n in ast.walk(tree) if isinstance(n, ast.JoinedStr)]
    parts = {id(part) for t in templates for part in t.values}
    for node in ast.walk(tree):
        if id(node) in parts:
            continue
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and "\n" in node.value:
            value: str = node.value
            if may_hold_kernel(value.encode(errors="replace")) and "def " in value:
                yield _literal(node, value, lines)


def _literal(node: ast.Constant, value: str, lines: list[str]) -> Literal:
    column = characters(lines, node.lineno, node.col_offset)
    dedented = textwrap.dedent(value)
    opening = _OPENING.match(lines[node.lineno - 1], column)
    margins = None
    if opening is not None and _body(node, opening, lines) == value:
        begins = [opening.end(), *[0] * value.count("\n")]
        pairs = zip(value.split("\n"), dedented.split("\n"), strict=True)
        margins = tuple(b + len(whole) - len(cut) for b, (whole, cut) in zip(begins, pairs, strict=True))
    return Literal(dedented, node.lineno, column, margins)


def _body(node: ast.Constant, opening: re.Match[str], lines: list[str]) -> str:
    """What the file has between the first quotes and the end of the literal."""
    last = node.end_lineno or node.lineno
    end = characters(lines, last, node.end_col_offset or 0)
    taken = lines[node.lineno - 1 : last]
    taken[-1] = taken[-1][:end]
    taken[0] = taken[0][opening.end() :]
    return "\n".join(taken).removesuffix(opening[1])
