"""Parsing source text of others."""

from __future__ import annotations

import ast
import warnings


def parse(text: str) -> ast.Module:
    """The syntax tree of a source text. Raises SyntaxError, ValueError, RecursionError or MemoryError.

    Python warns on standard error of odd texts (``"\\d"``, ``1if x``); that is not for whoever lints them, and
    where warnings are errors it would hide the file.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ast.parse(text)
