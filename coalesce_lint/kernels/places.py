"""Where calls and loops stand in the file, for trees that libcst made from a part of it."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import fields
from typing import Any

import libcst as cst

from coalesce_lint.kernels.words import words
from coalesce_lint.syntax import characters, walk

#: First line (from 1), first column, last line, column behind the end. Columns count characters from 0.
Span = tuple[int, int, int, int]


def places_of(node: ast.FunctionDef, tree: cst.FunctionDef, lines: Sequence[str]) -> dict[int, Span]:
    """The span of each call and loop in the body of ``tree``, by ``id`` of its libcst node.

    ``node`` is the same function as ``ast`` sees it, in a file of these ``lines``. Both trees list the calls
    in the order of their closing parentheses and the loops in the order of their heads, so the k-th of one is
    the k-th of the other; libcst's own position pass costs more than parsing.
    """
    nodes = [n for stmt in node.body for n in walk(stmt)]
    calls = [n for n in nodes if isinstance(n, ast.Call)]
    calls.sort(key=lambda n: (n.end_lineno or 0, n.end_col_offset or 0))
    loops = [n for n in nodes if isinstance(n, (ast.For, ast.While))]
    loops.sort(key=lambda n: (n.lineno, n.col_offset))
    found_calls, found_loops = _calls_and_loops(tree.body)
    if len(found_calls) != len(calls) or len(found_loops) != len(loops):
        return {}
    pairs: list[tuple[Any, Any]] = [
        *zip(found_calls, calls, strict=True),
        *zip(found_loops, loops, strict=True),
    ]
    return {id(c): _span(a, lines) for c, a in pairs}


def _span(node: Any, lines: Sequence[str]) -> Span:
    return (
        node.lineno,
        characters(lines, node.lineno, node.col_offset),
        node.end_lineno,
        characters(lines, node.end_lineno, node.end_col_offset),
    )


_SKIP = tuple(
    words(
        "whitespace lpar rpar comma lines_after leading_lines header footer semicolon equal operator colon "
        "lbracket rbracket lbrace rbrace asname async indent dot annotation star first_colon second_colon "
        "trailing"
    )
)
_fields: dict[type[cst.CSTNode], tuple[str, ...]] = {}
_NO_NODE = frozenset((type(None), str, bool, cst.MaybeSentinel))
_LEAVES = (cst.Name, cst.Integer, cst.Float, cst.SimpleString, cst.Pass, cst.Break, cst.Continue)


def _fields_of(kind: type[cst.CSTNode]) -> tuple[str, ...]:
    if kind not in _fields:
        if issubclass(kind, cst.AnnAssign):
            chosen = ["target", "annotation", "value"]
        elif issubclass(kind, cst.Annotation):
            chosen = ["annotation"]
        elif issubclass(kind, cst.FunctionDef):
            chosen = ["decorators", "params", "returns", "body"]
        elif issubclass(kind, cst.Param):
            chosen = ["annotation", "default"]
        else:
            chosen = [f.name for f in fields(kind) if not f.name.startswith(_SKIP)]
        _fields[kind] = tuple(chosen)
    return _fields[kind]


def _calls_and_loops(root: cst.CSTNode) -> tuple[list[cst.Call], list[Any]]:
    """The calls under ``root`` in the order in which they end in the text, the loops by their heads."""
    out: list[cst.Call] = []
    loops: list[Any] = []
    stack: list[tuple[Any, bool]] = [(root, False)]
    while stack:
        node, done = stack.pop()
        if done:
            out.append(node)
            continue
        kind = type(node)
        if kind in _LEAVES:
            continue
        if kind is cst.Call:
            stack.append((node, True))
        elif kind is cst.For or kind is cst.While:
            loops.append(node)
        children: list[Any] = []
        if kind is cst.IfExp:
            children = [node.body, node.test, node.orelse]
        elif kind in (cst.ListComp, cst.SetComp, cst.GeneratorExp):
            children = [node.elt, node.for_in]
        elif kind is cst.Comparison:
            children = [node.left, *(t.comparator for t in node.comparisons)]
        else:
            for name in _fields_of(kind):
                value = getattr(node, name)
                if isinstance(value, (tuple, list)):
                    children += value
                elif type(value) not in _NO_NODE:  # isinstance of an abstract class costs more than the walk
                    children.append(value)
        stack.extend((c, False) for c in reversed(children))
    return out, loops
