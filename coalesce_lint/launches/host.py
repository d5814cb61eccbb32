"""The launches of one host module: its functions are read, each launch is bound to the kernels it names."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from coalesce_lint.access import Place
from coalesce_lint.launches import walk
from coalesce_lint.launches.bind import bind
from coalesce_lint.launches.callers import Callers
from coalesce_lint.launches.candidates import LAUNCH, lines_of
from coalesce_lint.launches.modules import HostFunction, HostModule, HostTree, dotted
from coalesce_lint.launches.records import Launch
from coalesce_lint.launches.strides import Questions
from coalesce_lint.launches.values import Bound, Choice, Facts, Reference, Tensor, Value
from coalesce_lint.syntax import characters

#: A target is followed so far through partial applications, choices and names.
DEEPEST = 6


def launches_of(module: HostModule, tree: HostTree, callers: Callers) -> Iterator[tuple[str, str, Launch]]:
    """Each launch in ``module`` with the path and the name of its kernel."""
    lines = launch_lines(module.text) + _kernel_lines(module)
    if not lines:
        return
    readers = [f for f in module.all_functions if f.outer is None and _holds(f, lines)]
    for fn in readers:
        yield from _of_function(fn, tree, callers)
    taken = [(f.node.lineno, f.node.end_lineno or f.node.lineno) for f in module.all_functions]
    taken += [(k.lineno, k.end_lineno or k.lineno) for k in module.kernels.values()]
    if any(not any(a <= n <= b for a, b in taken) for n in lines):
        yield from _of_function(_module_level(module), tree, callers)


def launch_lines(text: str) -> list[int]:
    """The lines in which the subscript of a call ends."""
    return lines_of(LAUNCH, text)


def _kernel_lines(module: HostModule) -> list[int]:
    """The lines in which a kernel of the module is subscripted, called there or later."""
    if not module.kernels:
        return []
    names = "|".join(dict.fromkeys(re.escape(k.name) for k in module.kernels.values()))
    return lines_of(re.compile(rf"\b(?:{names})\["), module.text)


def _holds(fn: HostFunction, lines: list[int]) -> bool:
    first, last = fn.node.lineno, fn.node.end_lineno or fn.node.lineno
    return any(first <= n <= last for n in lines)


def _module_level(module: HostModule) -> HostFunction:
    """The statements of the module itself, as a function without parameters."""
    body = [
        s
        for s in module.tree.body
        if not isinstance(s, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef))
    ]
    node = ast.FunctionDef(
        name="<module>",
        args=ast.arguments([], [], None, [], [], None, []),
        body=body,
        decorator_list=[],
        lineno=1,
        end_lineno=len(module.lines),
        col_offset=0,
    )
    return HostFunction(node, module)


def _of_function(fn: HostFunction, tree: HostTree, callers: Callers) -> Iterator[tuple[str, str, Launch]]:
    ev = callers.evaluator(fn)
    parameters = {v.parameter: v for v in ev.state.names.values() if isinstance(v, Tensor) and v.parameter}
    walk.block(ev, fn.node.body)
    if not ev.launches:
        return
    believed = {
        parameters[n].number: Facts(contiguous=why)
        for n, why in callers.believed(fn).items()
        if n in parameters
    }
    reached = callers.reached(fn)
    for raw in ev.launches:
        asked = ev.asked if raw.asked is None else raw.asked
        questions = Questions(raw.known, asked, ev.innermost, believed, ev.claimed, ev.objects)
        for target, bound in _targets(raw.target):
            found = tree.find(fn.module, target)
            if found is None:
                continue
            module, name = found
            kernel = module.kernels.get(name)
            if kernel is None:
                aliased = _aliased(tree, module, name)
                if aliased is None:
                    continue
                module, kernel, name = aliased
            node = raw.node
            last = node.end_lineno or node.lineno
            place = Place(
                fn.module.path,
                node.lineno,
                characters(fn.module.lines, node.lineno, node.col_offset),
                last,
                characters(fn.module.lines, last, node.end_col_offset or 0),
            )
            yield (
                module.path,
                name,
                Launch(place, raw.function.name, bind(raw, kernel, questions, bound), reached),
            )


def _targets(value: Value, depth: int = 0) -> Iterator[tuple[str, Bound | None]]:
    """The dotted names of the kernels that ``value`` may be, each with the partial application around it."""
    if depth > DEEPEST:
        return
    if isinstance(value, Reference):
        yield value.name, None
    elif isinstance(value, Choice):
        for option in value.options:
            yield from _targets(option, depth + 1)
    elif isinstance(value, Bound):
        for name, inner in _targets(value.target, depth + 1):
            if value.args or value.keywords:
                args = (*(inner.args if inner else ()), *value.args)
                keywords = {**(inner.keywords if inner else {}), **value.keywords}
                yield name, Bound(Reference(name), args, keywords)
            else:
                yield name, inner


def _aliased(tree: HostTree, module: HostModule, name: str) -> tuple[HostModule, ast.FunctionDef, str] | None:
    """The kernel behind ``tuned = triton.autotune(configs)(kernel)`` at a module's level."""
    for _ in range(DEEPEST):
        node = module.constants.get(name)
        while isinstance(node, ast.Call):
            node = node.args[0] if node.args else None
        path = dotted(node) if node is not None else ""
        found = tree.find(module, path) if path and path != name else None
        if found is None:
            return None
        module, name = found
        if name in module.kernels:
            return module, module.kernels[name], name
    return None
