"""The text of ``explain``: every access of every kernel, with axes, verdict and a drawing of its lanes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any

from coalesce_lint.access import PATTERNS, Access, Cost, Kernel, UnderLaunch
from coalesce_lint.model import badness
from coalesce_lint.output.lanes import ASSUMED_BYTES, draw
from coalesce_lint.output.text import Painter, printable

COLOURS = {
    "strided": "red",
    "unknown": "magenta",
    "gather": "yellow",
    "parametric": "cyan",
    "contiguous": "green",
    "uniform": "green",
}

LONGEST_SOURCE = 160
#: Launches that are shown for one access.
SHOWN_LAUNCHES = 6

LEGEND = f"""\
sectors: the lanes 0-9a-v of one warp along the lane axis. A box is a sector of 32 bytes, a dot an element
that is fetched and not asked for. Elements of {ASSUMED_BYTES} bytes are assumed where the type is not pinned
(--arg x_ptr=*fp16). A multiplier that is not a number is drawn as one lane a sector, a tile as if it began at
the edge of a sector.
"""


def render(kernels: Iterable[Kernel], colour: bool) -> str:
    """The explanation of ``kernels``, with the legend at the end where anything was drawn."""
    paint = Painter(colour)
    parts = [_kernel(k, paint) for k in kernels]
    if any("sectors  " in part for part in parts):
        parts.append(LEGEND)
    return "\n".join(parts)


def _kernel(kernel: Kernel, paint: Painter) -> str:
    counts = Counter(a.pattern for a in kernel.accesses)
    said = ", ".join(f"{counts[p]} {p}" for p in PATTERNS if counts[p])
    number = len(kernel.accesses)
    head = f"{printable(kernel.path)}:{kernel.line}: {paint(printable(kernel.name), bold=True)}: "
    head += f"{number} access{'' if number == 1 else 'es'}" + (f" ({said})" if said else "")
    accesses = ["\n" + _access(a, kernel, paint) for a in kernel.accesses]
    return "\n".join([head, *_assumptions(kernel), *accesses]) + "\n"


def _access(access: Access, kernel: Kernel, paint: Painter) -> str:
    where = f"{access.place.line}:{access.place.column + 1}"
    if access.place.path != kernel.path:
        where = f"{access.place.path}:{where}"
    verdict = paint(access.pattern, COLOURS.get(access.pattern), bold=True)
    lines = [f"  {printable(where)}: {access.op} {printable(access.pointer)}: {verdict}"]
    lines += [f"    {name:<8} {printable(text)}" for name, text in _facts(access, kernel)]
    return "\n".join(lines)


def _facts(access: Access, kernel: Kernel) -> list[tuple[str, str]]:
    """The lines below an access: what is known, in the order in which one reads it."""
    facts = [("source", _short(access.source))] if access.source else []
    facts.append(("offset", access.offset))
    if access.lane_axis is not None:
        term = access.lane_term or "not one term"
        step = access.lane_stride if access.lane_stride is not None else "?"
        facts.append(("lanes", f"{term}  (axis {access.lane_axis}, multiplier {step})"))
    facts += [
        (f"axis {a.axis}", f"extent {a.extent}, stride {'?' if a.stride is None else a.stride}")
        for a in access.axes
    ]
    if access.condition:
        facts.append(("if", access.condition))
    if access.reason:
        facts.append(("why", access.reason))
    if access.notes:
        facts.append(("notes", ", ".join(access.notes)))
    facts += [
        ("called", f"from {c.function} at {c.place.path}:{c.place.line}:{c.place.column + 1}")
        for c in access.call_chain
    ]
    facts += [("launch", _launch(u)) for u in access.launches[:SHOWN_LAUNCHES]]
    if len(access.launches) > SHOWN_LAUNCHES:
        facts.append(("launch", f"and {len(access.launches) - SHOWN_LAUNCHES} more"))
    facts.append(("sectors", draw(access)))
    if access.cost:
        facts.append(("cost", _cost(access.cost)))
    elif kernel.model is not None:
        facts += _assumed(kernel.model.costs(access))
    if access.compiled:
        facts += _compiled(access.compiled)
    return facts


def _launch(under: UnderLaunch) -> str:
    """Where a launch is, what it passes for the strides, and the verdict under it."""
    passed = [
        f"axis {a.axis}: {a.argument}"
        + (f" is {a.stride}" if a.stride and a.stride != a.argument else "")
        + ("" if a.stride else f" is open ({a.why})" if a.why else " is open")
        for a in under.axes
    ]
    given = f" ({'; '.join(passed)})" if passed else ""
    said = under.pattern + (", assumed" if under.basis == "assumed" else "")
    return f"{said} in {under.function} at {under.place.path}:{under.place.line}{given}"


def _short(source: str) -> str:
    return source if len(source) <= LONGEST_SOURCE else source[: LONGEST_SOURCE - 3] + "..."


def _cost(cost: Cost) -> str:
    if cost.sectors_per_request is None:
        sectors = f"up to {_number(cost.max_sectors_per_request)} sectors a request"
    else:
        sectors = f"{_number(cost.sectors_per_request)} sectors a request"
    parts = [
        f"{sectors} (ideal {_number(cost.ideal_sectors_per_request)})",
        f"{_number(cost.requests_per_warp)} requests a warp of {cost.vector_bytes} bytes a thread",
    ]
    if cost.efficiency is not None:
        parts.append(f"efficiency {100 * cost.efficiency:.1f} %")
    if cost.program_sectors is not None:
        parts.append(f"{cost.program_sectors} sectors a program")
    if cost.grid_sectors is not None:
        parts.append(f"{cost.grid_sectors} sectors the grid")
    return ", ".join(parts) + (f"; limited by {cost.limited_by}" if cost.limited_by else "")


STATUS = {
    "agrees": "the compiler agrees with the model",
    "differs": "the compiler differs from the model",
    "no model": "the launch does not say enough for the model",
    "merged": "the compiler found this access equal to another one and left it out",
    "descriptor": "moved as a box: no lane has an address of its own",
    "absent": "not in the compiled kernel",
}

#: The figures of ``compiled`` that are shown, with the words for them.
FIGURES = {
    "order": "order of axes",
    "elements_per_thread": "elements a thread",
    "vector_bytes": "vector bytes",
    "lane_axis": "lane axis",
    "requests_per_warp": "requests a warp",
    "sectors_per_request": "sectors a request",
}


def _compiled(compiled: Any) -> list[tuple[str, str]]:
    """The model's figures and the compiler's, one pair a line; those that differ are marked."""
    said = f"{STATUS[compiled.status]} (Triton {compiled.triton}, counted in {compiled.counted_in})"
    facts = [("compiled", said)]
    if compiled.status not in ("agrees", "differs", "no model"):
        return facts
    rows = [("", "model", "compiler", "")]
    for name, words in FIGURES.items():
        mark = "differs" if name in compiled.differs else ""
        model, compiler = (_figure(getattr(side, name)) for side in (compiled.model, compiled.compiler))
        rows.append((words, model, compiler, mark))
    if compiled.data_dependent:
        rows.append(("", "addresses come from loaded values, which are made up", "", ""))
    return facts + [("", f"{a:<18} {b:<9} {c:<9} {d}".rstrip()) for a, b, c, d in rows]


def _figure(value: Any) -> str:
    if value is None:
        return "-"
    if isinstance(value, tuple):
        return ", ".join(map(str, value)) or "scalar"
    return f"{value:g}"


def _assumed(costs: list[Cost]) -> list[tuple[str, str]]:
    """The cost under assumed launches: the kindest, and the worst where configurations differ."""
    if not costs:
        return []
    ordered = sorted(costs, key=badness)
    facts = [("cost", _cost(ordered[0]))]
    if badness(ordered[0]) != badness(ordered[-1]):
        facts.append(("to", f"{_cost(ordered[-1])} ({len(costs)} configurations)"))
    return facts


def _assumptions(kernel: Kernel) -> list[str]:
    """The line that says under which launch costs are told that no launch pins."""
    if kernel.model is None or not any(a.cost is None and kernel.model.costs(a) for a in kernel.accesses):
        return []
    launches = kernel.model.launches
    said = ", ".join(launches[0].launch.assumed)
    more = f" (the first of {len(launches)} configurations)" if len(launches) > 1 else ""
    return [f"  costs assume {printable(said)}{more}"]


def _number(value: float | None) -> str:
    return "?" if value is None else f"{value:g}"
