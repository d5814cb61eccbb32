"""Source text of others: parsing it, and columns in it."""

from __future__ import annotations

import ast
import warnings
from collections.abc import Sequence


def parse(text: str) -> ast.Module:
    """The syntax tree of a source text. Raises SyntaxError, ValueError, RecursionError or MemoryError.

    Python warns on standard error of odd texts (``"\\d"``, ``1if x``); that is not for whoever lints them,
    and where warnings are errors it would hide the file.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ast.parse(text)


def characters(lines: Sequence[str], line: int, column: int) -> int:
    """The column in characters for a column of ``ast``, which counts bytes of UTF-8; both from 0."""
    text = lines[line - 1] if 0 < line <= len(lines) else ""
    return column if text.isascii() else len(text.encode()[:column].decode(errors="replace"))
