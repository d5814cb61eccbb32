"""Questions about what a variable holds."""

from __future__ import annotations

import ast
from typing import Any

from coalesce_lint.verify.variant.forms import Form, Leaf
from coalesce_lint.verify.variant.scope import BlockPointer, Broken, Plain, Several


def single_leaf(value: Any) -> Leaf | None:
    """The leaf, or the bare pointer, that a value is and nothing more."""
    if not isinstance(value, Form) or value.const.value:
        return None
    if not value.terms:
        return value.root
    if len(value.terms) == 1 and value.root is None:
        ((item, number),) = value.terms.items()
        if number.value == 1 and not item.views and item.leaf.origin is None:
            return item.leaf
    return None


def is_stale(value: Form) -> bool:
    """True where a sum holds an accumulator as it was before a step that has been taken since."""
    return any(leaf.origin is not None and leaf.origin.current is not leaf for leaf in value.leaves())


def no_root(value: Any) -> bool:
    return not isinstance(value, Form) or value.is_number


def same(a: Any, b: Any) -> bool:
    return a is b or (isinstance(a, Form) and a.same(b)) or (isinstance(a, Plain) and a == b)


def runtime(value: Any) -> bool:
    return (isinstance(value, Form) and value.const.runtime) or bool(getattr(value, "runtime", False))


def roots_of(value: Any) -> set[Leaf]:
    """The pointer parameters behind a value."""
    match value:
        case Form(root=root) if root is not None:
            return {root}
        case Broken(roots=roots):
            return set(roots)
        case Several(values=values):
            return {r for v in values for r in roots_of(v)}
        case BlockPointer(base=base):
            return roots_of(base)
    return set()


def within(node: ast.AST, outer: ast.AST) -> bool:
    return any(n is node for n in ast.walk(outer))
