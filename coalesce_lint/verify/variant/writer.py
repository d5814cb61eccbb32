"""Writes changes into the source of a function, through libcst: all that is not changed stays as it was."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from typing import Any

import libcst as cst
from libcst.metadata import MetadataWrapper, PositionProvider

#: (line, column, end line, end column) within the function's text; columns count characters.
Span = tuple[int, int, int, int]
#: Line and column where a statement begins.
Start = tuple[int, int]


@dataclass
class Results:
    """Names for what a call of a helper's clone returns: the helper's own results, and further ones.

    ``is_tuple`` tells whether the helper's own return is written as a tuple.
    """

    own: list[str]
    is_tuple: bool
    further: list[str] = field(default_factory=list)

    def value(self) -> str:
        """What stands in for the call."""
        return "(" + ", ".join(self.own) + ",)" if self.is_tuple else self.own[0]


@dataclass
class Edits:
    """Changes of one function. Keys are spans of expressions and starts of statements.

    ``hoisted`` gives an expression a name that is assigned before its statement. ``start`` are statements
    for the beginning of a loop's body (or of the function). ``results`` take further results of a call,
    ``returns`` are further results of this function.
    """

    replaced: dict[Span, str] = field(default_factory=dict)
    hoisted: dict[Span, str] = field(default_factory=dict)
    before: dict[Start, list[str]] = field(default_factory=dict)
    after: dict[Start, list[str]] = field(default_factory=dict)
    start: dict[Start, list[str]] = field(default_factory=dict)
    calls: dict[Span, tuple[str, dict[str, str]]] = field(default_factory=dict)
    results: dict[Span, Results] = field(default_factory=dict)
    returns: list[str] = field(default_factory=list)
    parameters: list[str] = field(default_factory=list)
    name: str = ""


class Spans:
    """Spans of ``ast`` nodes, whose columns count bytes."""

    def __init__(self, source: str) -> None:
        self.lines = source.split("\n")

    def column(self, line: int, offset: int) -> int:
        text = self.lines[line - 1]
        return offset if text.isascii() else len(text.encode()[:offset].decode())

    def of(self, node: Any) -> Span:
        end = node.end_lineno or node.lineno
        return (
            node.lineno,
            self.column(node.lineno, node.col_offset),
            end,
            self.column(end, node.end_col_offset or 0),
        )


class _Writer(cst.CSTTransformer):
    METADATA_DEPENDENCIES = (PositionProvider,)

    def __init__(self, edits: Edits) -> None:
        super().__init__()
        self.edits = edits
        self.pending: list[list[str]] = []

    def span(self, node: cst.CSTNode) -> Span:
        at = self.get_metadata(PositionProvider, node)
        return (at.start.line, at.start.column, at.end.line, at.end.column)

    def on_visit(self, node: cst.CSTNode) -> bool:
        if isinstance(node, (cst.SimpleStatementLine, cst.BaseCompoundStatement)):
            self.pending.append([])
        return super().on_visit(node)

    def on_leave(self, original: cst.CSTNode, updated: Any) -> Any:
        updated = super().on_leave(original, updated)
        if isinstance(original, cst.BaseExpression):
            return self.expression(original, updated)
        if isinstance(original, (cst.SimpleStatementLine, cst.BaseCompoundStatement)):
            return self.statement(original, updated, self.pending.pop())
        if isinstance(original, cst.Return) and self.edits.returns:
            return self.returned(updated)
        return updated

    def returned(self, updated: cst.Return) -> cst.Return:
        """The return with further results; a tuple is made longer, for not every Triton nests them."""
        own = updated.value
        elements = own.elements if isinstance(own, cst.Tuple) else [cst.Element(own)] if own else []
        further = [cst.Element(cst.Name(name)) for name in self.edits.returns]
        value = cst.Tuple(without_comma([*elements, *further]), lpar=[], rpar=[])
        if isinstance(own, cst.Tuple) and own.lpar:
            value = value.with_changes(lpar=own.lpar, rpar=own.rpar)
        return updated.with_changes(value=value, whitespace_after_return=cst.SimpleWhitespace(" "))

    def expression(self, original: cst.BaseExpression, updated: Any) -> Any:
        span = self.span(original)
        if span in self.edits.calls and isinstance(updated, cst.Call):
            name, extra = self.edits.calls[span]
            arguments = [
                *updated.args,
                *cst.ensure_type(cst.parse_expression(keywords(extra)), cst.Call).args,
            ]
            updated = updated.with_changes(func=cst.Name(name), args=without_comma(arguments))
        if span in self.edits.results:
            results = self.edits.results[span]
            code = cst.Module([]).code_for_node(updated.with_changes(lpar=[], rpar=[]))
            self.pending[-1].append(f"{', '.join([*results.own, *results.further])} = {code}")
            updated = cst.parse_expression(results.value())
        if span in self.edits.replaced:
            updated = cst.parse_expression(self.edits.replaced[span])
        if span in self.edits.hoisted:
            name = self.edits.hoisted[span]
            bare = updated.with_changes(lpar=[], rpar=[])
            text = cst.Module([]).code_for_node(bare)
            self.pending[-1].append(f"{name} = ({text})" if "\n" in text else f"{name} = {text}")
            updated = cst.Name(name)
        return updated

    def statement(self, original: Any, updated: Any, hoisted: list[str]) -> Any:
        span = self.span(original)[:2]
        if isinstance(original, cst.While) and hoisted:
            raise ValueError("the condition of a while loop would have to be split")
        before = [*self.edits.before.get(span, []), *hoisted]
        start = self.edits.start.get(span, [])
        if start and hasattr(updated, "body"):
            updated = updated.with_changes(body=prepended(updated.body, start))
        if isinstance(original, cst.FunctionDef) and span[0] == self.function_line:
            return self.function(updated)
        after = self.edits.after.get(span, [])
        if not before and not after:
            return updated
        lines = [cst.parse_statement(text) for text in before]
        if lines and getattr(updated, "leading_lines", None):
            lines[0] = lines[0].with_changes(leading_lines=updated.leading_lines)
            updated = updated.with_changes(leading_lines=[])
        return cst.FlattenSentinel([*lines, updated, *(cst.parse_statement(text) for text in after)])

    def function(self, node: cst.FunctionDef) -> cst.FunctionDef:
        parameters = list(node.params.params)
        if self.edits.parameters:
            extra = f"def f({', '.join(self.edits.parameters)}): pass"
            added = cst.ensure_type(cst.parse_statement(extra), cst.FunctionDef).params.params
            target = node.params
            if target.kwonly_params or target.star_arg is not cst.MaybeSentinel.DEFAULT:
                target = target.with_changes(kwonly_params=[*target.kwonly_params, *added])
            elif any(p.default is not None for p in parameters):
                # A parameter without default may not follow one that has one; the launch names all of them.
                added_defaults = [p.with_changes(default=cst.Name("None")) for p in added]
                target = target.with_changes(params=[*parameters, *added_defaults])
            else:
                target = target.with_changes(params=without_comma([*parameters, *added], params=True))
            node = node.with_changes(params=target)
        return node.with_changes(name=cst.Name(self.edits.name)) if self.edits.name else node

    function_line = 1


def without_comma(arguments: list[Any], params: bool = False) -> list[Any]:
    """Commas between all, none that was left at what used to be the last."""
    return [
        a.with_changes(comma=cst.Comma(whitespace_after=cst.SimpleWhitespace(" ")))
        if a.comma is cst.MaybeSentinel.DEFAULT and k + 1 < len(arguments)
        else a
        for k, a in enumerate(arguments)
    ]


def keywords(extra: dict[str, str]) -> str:
    return "f(" + ", ".join(f"{k}={v}" for k, v in extra.items()) + ")"


def prepended(body: Any, texts: list[str]) -> Any:
    lines = [cst.parse_statement(text) for text in texts]
    if isinstance(body, cst.SimpleStatementSuite):
        return cst.IndentedBlock([*lines, cst.SimpleStatementLine(body.body)])
    statements = list(body.body)
    first = statements[0] if statements else None
    if isinstance(first, cst.SimpleStatementLine) and is_docstring(first):
        return body.with_changes(body=[first, *lines, *statements[1:]])
    return body.with_changes(body=[*lines, *statements])


def is_docstring(line: cst.SimpleStatementLine) -> bool:
    match line.body:
        case [cst.Expr(value=cst.SimpleString() | cst.ConcatenatedString()), *_]:
            return True
    return False


def apply(source: str, edits: Edits) -> str:
    """The function's source with the edits. Raises ValueError where they cannot be written."""
    wrapper = MetadataWrapper(cst.parse_module(source), unsafe_skip_copy=True)
    writer = _Writer(edits)
    tree = ast.parse(source)
    function = next(n for n in tree.body if isinstance(n, ast.FunctionDef))
    writer.function_line = function.lineno
    return wrapper.visit(writer).code
