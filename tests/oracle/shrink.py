"""Makes a failing kernel small: takes away statements and operands as long as the mistake stays the same."""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable, Iterator

from .dtypes import OracleUnsupported
from .generate import Case
from .soundness import case_of


def shrink(case: Case, fails: Callable[[Case], bool], tries: int = 1500) -> Case:
    """The smallest kernel found for which ``fails`` still holds."""
    best = case
    while tries > 0:
        for text in _smaller(best.text):
            tries -= 1
            if tries <= 0:
                break
            candidate = _read(text, case)
            if candidate is not None and fails(candidate):
                best = candidate
                break
        else:
            break
    return best


def _read(text: str, case: Case) -> Case | None:
    try:
        return case_of(text, case.kernel, case.seed)
    except (OracleUnsupported, SyntaxError):
        return None


def _smaller(text: str) -> Iterator[str]:
    """Kernels that are one step smaller, the big steps first."""
    tree = ast.parse(text)
    whole = ast.unparse(tree)
    for change in (*_without_definitions(tree), *_without_statements(tree), *_with_operands(tree)):
        smaller = ast.unparse(ast.fix_missing_locations(change))
        if len(smaller) < len(whole):
            yield smaller


def _without_definitions(tree: ast.Module) -> Iterator[ast.Module]:
    for k, node in enumerate(tree.body):
        if isinstance(node, ast.FunctionDef):
            used = {n.id for n in ast.walk(node) if isinstance(n, ast.Name)}
            for a, argument in enumerate(node.args.args):
                if argument.arg not in used and node.name == "kernel":
                    change = copy.deepcopy(tree)
                    del change.body[k].args.args[a]  # type: ignore[attr-defined]
                    yield change
            if node.name != "kernel":
                change = copy.deepcopy(tree)
                del change.body[k]
                yield change


def _without_statements(tree: ast.Module) -> Iterator[ast.Module]:
    """One statement gone, or a loop or branch replaced by its body."""
    for number, node in enumerate(ast.walk(tree)):
        for name in ("body", "orelse"):
            block = getattr(node, name, None)
            if not isinstance(block, list) or isinstance(node, ast.Module):
                continue
            for k, statement in enumerate(block):
                for replacement in (
                    [],
                    *([statement.body] if isinstance(statement, (ast.For, ast.If)) else []),
                ):
                    change = copy.deepcopy(tree)
                    twin = list(ast.walk(change))[number]
                    getattr(twin, name)[k : k + 1] = copy.deepcopy(replacement)
                    if name == "orelse" or getattr(twin, name):
                        yield change


def _with_operands(tree: ast.Module) -> Iterator[ast.Module]:
    """An expression replaced by one of its operands or by a small number."""
    for number, node in enumerate(ast.walk(tree)):
        for name, value in ast.iter_fields(node):
            if isinstance(value, ast.expr) and name != "func":
                for operand in _operands(value):
                    change = copy.deepcopy(tree)
                    setattr(list(ast.walk(change))[number], name, copy.deepcopy(operand))
                    yield change
            if isinstance(node, ast.Call) and name == "args" and "arange" not in ast.unparse(node.func):
                for k, argument in enumerate(value):
                    for operand in _operands(argument):
                        change = copy.deepcopy(tree)
                        list(ast.walk(change))[number].args[k] = copy.deepcopy(operand)  # type: ignore[attr-defined]
                        yield change
            if isinstance(node, ast.Call) and name == "keywords" and value:
                change = copy.deepcopy(tree)
                list(ast.walk(change))[number].keywords.pop()  # type: ignore[attr-defined]
                yield change


def _operands(node: ast.expr) -> list[ast.expr]:
    if isinstance(node, ast.BinOp):
        return [node.left, node.right]
    if isinstance(node, ast.UnaryOp):
        return [node.operand]
    if isinstance(node, ast.IfExp):
        return [node.body, node.orelse]
    if isinstance(node, ast.Subscript):
        return [node.value]
    if isinstance(node, ast.Call):
        inside = [node.func.value] if isinstance(node.func, ast.Attribute) else []
        return [*inside, *node.args]
    if isinstance(node, ast.Name) and node.id not in ("tl", "triton", "kernel"):
        return [ast.Constant(0)]
    return []
