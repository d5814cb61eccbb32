"""The analysis of one file: its kernels and the verdict on each access. Never raises on bad input."""

from __future__ import annotations

import ast
import functools
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from coalesce_lint.access import Access, FileError, FileReport, Kernel
from coalesce_lint.assume import Assumptions, assumed_launches
from coalesce_lint.failures import debugging, describe
from coalesce_lint.kernels.modules import Resolver
from coalesce_lint.kernels.source import Function, Module, read_module
from coalesce_lint.model import KernelModel

if TYPE_CHECKING:
    from coalesce_lint.kernels.finish import Finisher
    from coalesce_lint.pins import Pins

#: Expressions of generated code nest a few thousand deep.
_RECURSION = 6000


def analyze_text(
    text: str,
    path: str,
    pins: Pins | None = None,
    roots: Sequence[Path] = (),
    resolver: Resolver | None = None,
    assumptions: Assumptions | None = None,
) -> FileReport:
    """All kernels of a source text with their accesses; a syntax error is a FileError in the report.

    ``pins`` fixes arguments of a launch; ``roots`` are folders in which imported helpers are looked for.
    Where no launch is pinned, each kernel gets a ``model`` of launches that ``assumptions`` describe.
    """
    report = FileReport(path)
    try:
        module = read_module(text, path)
    except SyntaxError as e:
        report.errors.append(
            FileError(path, e.lineno or 1, e.msg or "invalid syntax", max((e.offset or 1) - 1, 0))
        )
        return report
    except (ValueError, RecursionError, MemoryError) as e:
        report.errors.append(FileError(path, 1, _plain(e)))
        return report
    report.lines = module.lines
    if sys.getrecursionlimit() < _RECURSION:
        # after parsing: what Python's parser takes with its usual limit nests a few thousand deep at most
        sys.setrecursionlimit(_RECURSION)
    resolver = resolver or Resolver(roots)
    reached = _Reached()
    assumptions = assumptions or Assumptions()
    entries = _entry_points(module)
    for fn in entries:
        _one_kernel(fn, module, resolver, pins, assumptions, report, reached)
    for fn in module.all_functions:
        if fn not in reached.functions and not fn.static:
            _one_kernel(fn, module, resolver, pins, assumptions, report, reached)
    for kernel, finisher in reached.finishers:
        for access in finisher.accesses(dead=True):
            if _at(access) not in reached.places:
                reached.places.add(_at(access))
                kernel.accesses.append(access)
    module.forget_functions()
    for kernel in report.kernels:
        kernel.accesses.sort(key=lambda a: (a.place.path != path, a.place.path, a.place.line, a.place.column))
    report.kernels.sort(key=lambda k: k.line)
    return report


@dataclass
class _Reached:
    """What the kernels of a file have reached: functions and places of accesses."""

    functions: set[Function] = field(default_factory=set)
    places: set[tuple[str, int, int]] = field(default_factory=set)
    finishers: list[tuple[Kernel, Finisher]] = field(default_factory=list)


def _plain(e: BaseException) -> str:
    if isinstance(e, RecursionError):
        return "nested too deeply to be parsed"
    if isinstance(e, MemoryError):
        return "too large to be parsed"
    return str(e) or type(e).__name__


def _one_kernel(
    fn: Function,
    module: Module,
    resolver: Resolver,
    pins: Pins | None,
    assumptions: Assumptions,
    report: FileReport,
    reached: _Reached,
) -> None:
    """Reads one kernel; a failure becomes an error of the report, the other kernels go on."""
    # imported here: a file without kernels does not need sympy
    from coalesce_lint.kernels.finish import Finisher
    from coalesce_lint.kernels.interpret import Interpreter

    kernel = Kernel(
        module.path, fn.name, fn.line, end_line=fn.node.end_lineno or fn.line, first_line=fn.first_line
    )
    reached.functions.add(fn)
    try:
        it = Interpreter(fn, resolver, dict(pins.args) if pins is not None else None)
        it.run()
        if it.spent is not None:
            report.errors.append(_kernel_error(fn, it.spent))
        reached.functions |= it.inlined
        finisher = Finisher(it)
        kernel.accesses = list(finisher.accesses())
        kernel.hints = list(finisher.hints())
        kernel.sizes = finisher.sizes()
        kernel.parameters = tuple(p.name for p in fn.parameters)
        reached.places.update(_at(a) for a in kernel.accesses)
        if pins is not None:
            from coalesce_lint.twin import add_costs

            add_costs(kernel, fn, resolver, pins)
        launches = functools.partial(assumed_launches, fn, kernel, assumptions, pins)
        kernel.model = KernelModel(kernel, launches, assumptions.min_waste)
        if it.dead_sites:
            reached.finishers.append((kernel, finisher))
    except RecursionError:
        report.errors.append(_kernel_error(fn, "nested too deeply to be read"))
    except Exception as e:
        if debugging():
            raise
        told = f"internal error: {describe(e)}; the kernel was not read to its end"
        report.errors.append(_kernel_error(fn, told))
    report.kernels.append(kernel)


def _kernel_error(fn: Function, message: str) -> FileError:
    return FileError(fn.module.path, fn.line, message, kernel=fn.name)


def _at(access: Access) -> tuple[str, int, int]:
    return (access.place.path, access.place.line, access.place.column)


def _entry_points(module: Module) -> list[Function]:
    """The functions that are launched: those that no other kernel of the file calls, and those seen in
    ``f[grid]``.
    """
    called: set[str] = set()
    for fn in module.all_functions:
        for call in module.calls_in(fn):
            if isinstance(call.func, ast.Name) and call.func.id != fn.name:
                called.add(call.func.id)
            else:
                values = [*call.args, *(k.value for k in call.keywords)]
                called.update(a.id for a in values if isinstance(a, ast.Name))
    return [
        f
        for f in module.all_functions
        if not f.static and (f.name not in called or f.name in module.launched)
    ]


def explain_dict(report: FileReport) -> dict[str, Any]:
    """The report as in the JSON contract."""
    from coalesce_lint import __version__

    return {
        "schema": 1,
        "tool": f"coalesce-lint {__version__}",
        "kernels": [k.as_dict() for k in report.kernels],
        "errors": [e.as_dict() for e in report.errors],
    }
