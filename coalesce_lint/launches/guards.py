"""Whether an access happens at all under a launch: branches on constexprs, tensors that are None."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

from coalesce_lint.access import Access, Kernel
from coalesce_lint.index.nodes import Node
from coalesce_lint.launches.records import Launch, Passed

#: A tensor stands for itself in comparisons with None.
_TENSOR = object()
_UNKNOWN = object()
_COMPARE: dict[str, Callable[[Any, Any], bool]] = {
    "eq": operator.eq,
    "ne": operator.ne,
    "lt": operator.lt,
    "le": operator.le,
    "gt": operator.gt,
    "ge": operator.ge,
}


def is_dead(access: Access, launch: Launch) -> bool:
    """Whether the launch's arguments keep control from getting to the access."""
    for name in access.pointer.split("|"):
        passed = launch.arguments.get(name)
        if passed is None or not (passed.kind in ("number", "default") and passed.value is None):
            break
    else:
        return True
    if access.site is None:
        return False
    for condition, holds in access.site.guards:
        value = value_of(condition, launch)
        if value is not _UNKNOWN and value is not _TENSOR and bool(value) != holds:
            return True
    return False


def never_runs(access: Access, kernel: Kernel) -> bool:
    """Whether launches of the kernel were read and each of them keeps control from getting to the access."""
    return bool(kernel.launches) and all(is_dead(access, launch) for launch in kernel.launches)


def value_of(node: Node, launch: Launch, depth: int = 0) -> Any:
    """The value of a scalar condition under the launch, ``_UNKNOWN`` where it is not known."""
    if depth > 20:
        return _UNKNOWN
    if node.op == "const":
        return node.attr
    if node.op == "param":
        return argument_value(launch.arguments.get(node.attr.name))
    if node.op in ("cast", "hint", "broadcast", "expand"):
        return value_of(node.args[0], launch, depth + 1)
    if node.op not in ("cmp", "and", "or", "not"):
        return _UNKNOWN
    parts = [value_of(a, launch, depth + 1) for a in node.args]
    if node.op == "not":
        return _UNKNOWN if parts[0] is _UNKNOWN else not parts[0]
    if node.op in ("and", "or"):
        short = node.op == "or"
        if any(p is not _UNKNOWN and bool(p) == short for p in parts):
            return short
        return _UNKNOWN if any(p is _UNKNOWN for p in parts) else not short
    return _compared(node.attr, *parts)


def _compared(how: str, a: Any, b: Any) -> Any:
    if a is _UNKNOWN or b is _UNKNOWN:
        return _UNKNOWN
    if _TENSOR in (a, b) and None in (a, b):
        return how == "ne"
    if _TENSOR in (a, b):
        return _UNKNOWN
    if how not in ("eq", "ne") and not (isinstance(a, (int, float)) and isinstance(b, (int, float))):
        return _UNKNOWN
    return _COMPARE[how](a, b)


def argument_value(passed: Passed | None) -> Any:
    """The value of an argument where it is one."""
    if passed is None:
        return _UNKNOWN
    if passed.kind in ("number", "default"):
        return passed.value
    if passed.kind == "config" and passed.value is not None:
        return passed.value
    if passed.kind == "tensor" and passed.tensor is not None and not passed.tensor.uncertain:
        return _TENSOR
    return _UNKNOWN
