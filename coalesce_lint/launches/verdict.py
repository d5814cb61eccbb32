"""What each launch of a kernel makes of its accesses."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping
from functools import lru_cache

from coalesce_lint.access import Access, Kernel, LaunchAxis, UnderLaunch
from coalesce_lint.launches.guards import is_dead
from coalesce_lint.launches.records import Launch, Passed, nested_name
from coalesce_lint.launches.strides import Stride


def attach(kernels: Iterable[Kernel], launches: Mapping[str, list[Launch]], every: bool = False) -> None:
    """Gives each kernel its launches, and its parametric accesses (``every``: all) the verdict under each."""
    for kernel in kernels:
        nested = nested_name(kernel.name, kernel.line)
        kernel.launches = launches[nested] if nested in launches else launches.get(kernel.name, [])
        for access in kernel.accesses:
            if every or access.pattern == "parametric":
                found = (under(access, launch) for launch in kernel.launches)
                access.launches = [f for f in found if f is not None]


def under(access: Access, launch: Launch) -> UnderLaunch | None:
    """The verdict on ``access`` under ``launch``; None where it does not happen then."""
    if is_dead(access, launch):
        return None
    axes: list[LaunchAxis] = []
    found: list[Stride] = []
    open_axes = [a for a in access.axes if a.stride is None and a.axis != access.lane_axis]
    for axis in access.axes:
        if axis.stride == "0":
            continue
        text = axis.stride
        if text is None and axis.axis == access.lane_axis:
            text = access.lane_stride  # branches differ on the axis; this is the stride of the worst
        if text is None:
            # gathered rows are no unit stride; anything else without one stride may be
            rows = "rows=gather" in access.notes and len(open_axes) == 1
            found.append(Stride(False, "proved", "gathered") if rows else Stride(why="no single stride"))
            continue
        names = _names(text)
        if not any(n in launch.arguments for n in names):
            value = int(text) if text.lstrip("-").isdecimal() else None
            found.append(Stride(value in (1, -1), "proved", "", value))
            continue
        stride = evaluated(text, launch.arguments)
        found.append(stride)
        argument = ", ".join(launch.arguments[n].text for n in names if n in launch.arguments)
        axes.append(LaunchAxis(axis.axis, argument, _shown(stride, argument), stride.why))
    pattern, basis = access.pattern, "proved"
    if pattern == "parametric":
        pattern, basis = _judged(found)
    return UnderLaunch(launch.place, pattern, basis, axes, launch.function)


def _judged(found: list[Stride]) -> tuple[str, str]:
    """The pattern by the best of the axes, and on what ground."""
    ones = [s.basis for s in found if s.one]
    if ones:
        return "contiguous", min(ones, key=("proved", "assumed").index)
    if any(s.one is None for s in found):
        return "parametric", "proved"
    moving = [s for s in found if s.value != 0]
    basis = "assumed" if any(s.basis == "assumed" for s in found) else "proved"
    return ("strided" if moving else "uniform"), basis


def _shown(stride: Stride, argument: str) -> str | None:
    if stride.value is not None:
        return str(stride.value)
    return argument if stride.one is False else None


@lru_cache(maxsize=4096)
def _parsed(text: str) -> ast.expr | None:
    try:
        return ast.parse(text, mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _names(text: str) -> list[str]:
    tree = _parsed(text)
    return [] if tree is None else [n.id for n in ast.walk(tree) if isinstance(n, ast.Name)]


def evaluated(text: str, arguments: Mapping[str, Passed]) -> Stride:
    """What is known of an expression in the kernel's parameters under the arguments of a launch."""
    tree = _parsed(text)
    return _value(tree, arguments) if tree is not None else Stride(why="not understood")


def _value(node: ast.expr, arguments: Mapping[str, Passed]) -> Stride:
    match node:
        case ast.Constant(value=int(number)):
            return Stride(number in (1, -1), "proved", "", number)
        case ast.Name(id=name):
            return as_stride(arguments.get(name))
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            inner = _value(operand, arguments)
            value = None if inner.value is None else -inner.value
            return Stride(inner.one, inner.basis, inner.why, value)
        case ast.BinOp(left=left, op=ast.Mult(), right=right):
            return _product(_value(left, arguments), _value(right, arguments))
    return Stride(why="an expression of several arguments")


def as_stride(passed: Passed | None) -> Stride:
    """What is known of an argument where it is a stride."""
    if passed is None:
        return Stride(why="not a parameter of the kernel")
    if passed.kind == "config" and passed.values:
        numbers = [v for v in passed.values if isinstance(v, int)]
        if len(numbers) == len(passed.values) and all(n > 1 for n in numbers):
            return Stride(False, "proved", passed.text)
    if passed.stride.one is None and passed.reason:
        return Stride(why=passed.reason)
    return passed.stride


def _product(a: Stride, b: Stride) -> Stride:
    basis = "assumed" if "assumed" in (a.basis, b.basis) else "proved"
    if a.value is not None and b.value is not None:
        value = a.value * b.value
        return Stride(value in (1, -1), basis, a.why or b.why, value)
    for one, other in ((a, b), (b, a)):
        if one.one:
            return Stride(other.one, basis if other.basis else "", other.why, other.value)
    for one in (a, b):
        if one.one is False:  # a product of whole numbers is 1 only where both are
            return Stride(False, one.basis, one.why)
    return a if a.one is None else b
