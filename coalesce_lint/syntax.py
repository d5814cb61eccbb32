"""Source text of others: parsing it, and columns in it."""

from __future__ import annotations

import ast
import functools
import warnings
from collections.abc import Sequence


@functools.lru_cache(maxsize=256)  # a file is read as host code, for its kernels, as a helper of other files
def parse(text: str) -> ast.Module:
    """The syntax tree of a source text. Raises SyntaxError, ValueError, RecursionError or MemoryError.

    Python warns on standard error of odd texts (``"\\d"``, ``1if x``); that is not for whoever lints them,
    and where warnings are errors it would hide the file. The tree is shared: nobody may change it.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ast.parse(text)


#: Fields that never hold an expression or a statement.
_NO_NODES = frozenset(
    (
        *("ctx", "op", "ops", "id", "attr", "module", "level", "asname", "conversion", "simple", "is_async"),
        *("kind", "type_comment", "type_ignores", "kwd_attrs"),
    )
)
_fields: dict[type, tuple[str, ...]] = {ast.Constant: (), ast.alias: ()}


def walk(root: ast.AST) -> list[ast.AST]:
    """``root`` and all nodes under it in the order of ``ast.walk``, without operators and contexts.

    Several times faster than that: whole files are walked more than once.
    """
    found = [root]
    for node in found:
        kind = type(node)
        names = _fields.get(kind)
        if names is None:
            names = _fields[kind] = tuple(f for f in kind._fields if f not in _NO_NODES)
        for name in names:
            value = getattr(node, name, None)
            if isinstance(value, ast.AST):
                found.append(value)
            elif isinstance(value, list):
                found += [v for v in value if isinstance(v, ast.AST)]
    return found


def characters(lines: Sequence[str], line: int, column: int) -> int:
    """The column in characters for a column of ``ast``, which counts bytes of UTF-8; both from 0."""
    text = lines[line - 1] if 0 < line <= len(lines) else ""
    return column if text.isascii() else len(text.encode()[:column].decode(errors="replace"))
