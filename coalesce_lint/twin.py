"""The kernel as the compiler sees it: constexprs and ints that became 1 are constants, other arguments stay
variables.

Verdicts are made with every pinned value put in; a layout depends on what the compiler can know, which is
less. So a kernel whose launch is pinned is read a second time, and the costs found there are handed to the
accesses of the first.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from coalesce_lint.access import Access, Cost, Kernel
from coalesce_lint.assume import is_integer_type, unaligned
from coalesce_lint.hardware.cost import cost_of_kernel
from coalesce_lint.hardware.launch import Launch, specialized_arguments

if TYPE_CHECKING:
    from coalesce_lint.kernels.modules import Resolver
    from coalesce_lint.kernels.source import Function
    from coalesce_lint.pins import Pins


def twin_kernel(fn: Function, resolver: Resolver, pins: Pins) -> tuple[Kernel, Launch]:
    """The kernel ``fn`` read with what a launch's compiler sees of ``pins``, and the launch."""
    from coalesce_lint.kernels.bare import bare_accesses
    from coalesce_lint.kernels.interpret import Interpreter

    launch = Launch.from_pins(pins)
    launch.values = {**defaults(fn), **launch.values}
    given = {**launch.values, **{n: v for n, v in pins.args.items() if n in launch.pointers}}
    constexprs = {p.name for p in fn.parameters if "constexpr" in p.annotation}
    launch.variables = {
        p.name
        for index, p in enumerate(fn.parameters)
        if index in fn.do_not_specialize or p.name in fn.do_not_specialize or is_integer_type(p.annotation)
    }
    launch.unaligned = set(unaligned(fn))
    it = Interpreter(fn, resolver, specialized_arguments(given, constexprs, launch.variables))
    it.run()
    kernel = Kernel(fn.module.path, fn.name, fn.line, list(bare_accesses(it)))
    return kernel, launch


def defaults(fn: Function) -> dict[str, object]:
    """The parameters' defaults that are plain values."""
    found: dict[str, object] = {}
    for parameter in fn.parameters:
        if isinstance(parameter.default, ast.Constant):
            found[parameter.name] = parameter.default.value
    return found


def twin_kernels(
    text: str, path: str, pins: Pins, name: str, roots: Sequence[Path] = ()
) -> list[tuple[Kernel, Launch]]:
    """The kernels called ``name`` of a source text, each with its launch."""
    from coalesce_lint.kernels.modules import Resolver
    from coalesce_lint.kernels.source import read_module

    module = read_module(text, path)
    resolver = Resolver(roots)
    return [twin_kernel(f, resolver, pins) for f in module.all_functions if f.name == name]


def add_costs(kernel: Kernel, fn: Function, resolver: Resolver, pins: Pins) -> None:
    """Fills ``access.cost`` of a kernel read with all ``pins``, from its twin."""
    twin, launch = twin_kernel(fn, resolver, pins)
    cost_of_kernel(twin, launch)
    known: dict[tuple[object, ...], list[Access]] = {}
    for access in twin.accesses:
        known.setdefault(key_of(access), []).append(access)
    for access in kernel.accesses:
        same = known.get(key_of(access))
        if same:
            # Several accesses at one place (an unrolled loop) follow each other in both.
            cost = (same.pop(0) if len(same) > 1 else same[0]).cost
            access.cost = None if cost is None else with_stride_of(access, cost)


def with_stride_of(access: Access, cost: Cost) -> Cost:
    """The cost with the lane stride in the words of the access, which has the pinned values put in."""
    stride = next((a.stride for a in access.axes if a.axis == cost.lane_axis), cost.lane_stride)
    return replace(cost, lane_stride=stride)


def key_of(access: Access) -> tuple[object, ...]:
    """What an access has in common with its twin: its operation, its place, the calls that led to it."""
    chain = tuple((c.function, c.place.line, c.place.column) for c in access.call_chain)
    return (access.op, access.place.path, access.place.line, access.place.column, chain)
