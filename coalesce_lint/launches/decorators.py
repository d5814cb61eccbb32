"""Decorators of host functions that make every tensor argument contiguous."""

from __future__ import annotations

import ast
import re

from coalesce_lint.launches.expressions import Evaluator
from coalesce_lint.launches.modules import HostFunction, HostTree, dotted
from coalesce_lint.launches.values import Facts, Tensor

#: A decorator that makes its function's arguments contiguous says so in its text.
_CONTIGUOUS = re.compile(r"\.contiguous\(\)")


def learn_from_decorators(ev: Evaluator, tree: HostTree) -> None:
    """Adds what the decorators of the evaluator's function say of its parameters."""
    made = _made_contiguous(ev.fn, tree)
    if made is None:
        return
    decorator, spared = made
    for a in ev.fn.parameters:
        value = ev.state.names.get(a.arg)
        if a.arg not in spared and isinstance(value, Tensor):
            ev.state.learn(value, Facts(contiguous=f"the decorator {decorator}"))


def _text(fn: HostFunction) -> str:
    return "\n".join(fn.module.lines[fn.node.lineno - 1 : fn.node.end_lineno or fn.node.lineno])


def _helpers(fn: HostFunction) -> list[HostFunction]:
    """The functions of the same module that ``fn`` calls by name."""
    called = {
        n.func.id for n in ast.walk(fn.node) if isinstance(n, ast.Call) and isinstance(n.func, ast.Name)
    }
    return [fn.module.functions[name] for name in sorted(called & set(fn.module.functions))]


def _made_contiguous(fn: HostFunction, tree: HostTree) -> tuple[str, set[str]] | None:
    """The decorator of ``fn`` that makes its tensor arguments contiguous, and the parameters it spares."""
    for node in fn.node.decorator_list:
        path = dotted(node.func if isinstance(node, ast.Call) else node)
        found = tree.find(fn.module, path) if path and "." not in path else None
        maker = found[0].functions.get(found[1]) if found is not None else None
        if maker is None:
            continue
        constants = [c.value for c in ast.walk(node) if isinstance(c, ast.Constant)]
        if True in constants:
            continue  # an option that turns something off, such as no_guard_contiguous=True
        if "args" in _text(maker) and any(_CONTIGUOUS.search(_text(f)) for f in [maker, *_helpers(maker)]):
            return path, {c for c in constants if isinstance(c, str)}
    return None
