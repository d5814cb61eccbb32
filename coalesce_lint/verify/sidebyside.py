"""The static model and the compiler side by side: what each says of one access of a launch.

Pairs the accesses of a kernel that was read with the sites of a ``Prediction`` by operation and place, and
compares the axis order, the elements a thread, the vector bytes, the lane axis, requests and sectors. Pure
bookkeeping: neither torch nor triton is imported here.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from coalesce_lint.access import Access, Cost
from coalesce_lint.hardware.graph import walk
from coalesce_lint.hardware.linear_layout import LinearLayout
from coalesce_lint.verify.compiled import Prediction, SiteCost

#: How far requests and sectors may be apart and still agree, as a share of the compiler's.
TOLERANCE = 0.03

Key = tuple[Any, ...]


@dataclass(frozen=True)
class Figures:
    """What one side says of an access; None where it does not say.

    ``order`` lists the tile's axes from the fastest to the slowest, ``elements_per_thread`` is the run that
    a thread holds along the fastest one.
    """

    order: tuple[int, ...] | None = None
    elements_per_thread: int | None = None
    vector_bytes: int | None = None
    lane_axis: int | None = None
    requests_per_warp: float | None = None
    sectors_per_request: float | None = None


@dataclass
class Compiled:
    """The ``compiled`` of an access: the compiler's figures beside the model's.

    ``status``: "agrees", "differs" (in the figures named by ``differs``), "no model" (the launch does not say
    enough for the model), "merged" (the compiler found the access equal to another one and left it out),
    "descriptor" (moved as a box, by no lane), "absent" (no such access in the compiled kernel).
    ``data_dependent``: addresses, masks or the number of iterations come from loaded values. These are made
    up, so what they decide is not compared: sectors, and requests where it is a mask or a loop.
    """

    status: str
    compiler: Figures = field(default_factory=Figures)
    model: Figures = field(default_factory=Figures)
    differs: list[str] = field(default_factory=list)
    data_dependent: bool = False
    triton: str = ""
    counted_in: str = ""

    def as_dict(self) -> dict[str, Any]:
        """As in the JSON contract: the compiler's figures themselves, the model's within ``model``."""
        return {
            "status": self.status,
            **vars(self.compiler),
            "model": vars(self.model),
            "differs": self.differs,
            "data_dependent": self.data_dependent,
            "triton": self.triton,
            "counted_in": self.counted_in,
        }


def kind_of(access: Access) -> str:
    return "atomic" if access.is_atomic else "store" if access.is_write else "load"


def access_key(access: Access) -> Key:
    """Operation and places, innermost first, as a site of the oracle has them."""
    places = [access.place, *(c.place for c in reversed(access.call_chain))]
    return (kind_of(access), *((os.path.realpath(p.path), p.line, p.column) for p in places))


def site_key(site: SiteCost) -> Key:
    return (site.kind, *((os.path.realpath(p[0]), p[1], p[2]) for p in site.places))


def pair(accesses: Sequence[Access], prediction: Prediction) -> list[Compiled]:
    """The comparison of each access with what became of it in the compiled kernel.

    Several accesses at one place are copies of an unrolled loop: their mean is compared.
    """
    sites = {site_key(s): s for s in prediction.sites}
    same: dict[Key, list[Access]] = {}
    for access in accesses:
        same.setdefault(access_key(access), []).append(access)
    found = []
    for access in accesses:
        site = sites.get(access_key(access))
        compiled = compare(same[access_key(access)], site, prediction)
        compiled.triton, compiled.counted_in = prediction.triton, prediction.counted_in
        found.append(compiled)
    return found


def compare(copies: Sequence[Access], site: SiteCost | None, prediction: Prediction) -> Compiled:
    """The comparison of an access (all its copies) with its site."""
    if copies[0].op.startswith("descriptor"):
        return Compiled("descriptor")
    if site is None or not site.executions:
        return Compiled("absent")
    costs = [a.cost for a in copies if a.cost is not None]
    operations = operations_of(site, prediction)
    model = model_figures(costs, operations) if costs else Figures()
    if not any(o["emitted"] for o in operations):
        return Compiled("merged", model=model)
    compiler = compiler_figures(operations, site)
    decided = decided_by_data(copies[0])
    compiled = Compiled("no model", compiler, model, data_dependent=site.data_dependent or decided)
    if costs:
        compiled.differs = differing(model, compiler, costs[0], operations)
        made_up = {"sectors_per_request"} if compiled.data_dependent else set()
        made_up |= {"requests_per_warp"} if decided else set()
        compiled.differs = [name for name in compiled.differs if name not in made_up]
        compiled.status = "differs" if compiled.differs else "agrees"
    return compiled


def decided_by_data(access: Access) -> bool:
    """True where loaded values decide which lanes take part, or how often."""
    site = access.site
    if site is None:
        return False
    bounds = [node for loop in site.loops for node in loop.bounds or ()]
    conditions = [condition for condition, _ in site.guards]
    roots = [n for n in (site.predicate, *conditions, *bounds) if n is not None]
    return any(node.op == "load" for node in walk(roots))


def operations_of(site: SiteCost, prediction: Prediction) -> list[dict[str, Any]]:
    """The compiled operations behind a site; of a pipelined loop those within it, for they stand for all."""
    found = [o for o in prediction.operations if o["serial"] in site.operations]
    deepest = {s: max(o["depth"] for o in found if o["serial"] == s) for s in {o["serial"] for o in found}}
    return [o for o in found if o["depth"] == deepest[o["serial"]]]


def model_figures(costs: Sequence[Cost], operations: Sequence[dict[str, Any]]) -> Figures:
    """The model's figures; requests are the mean over copies of the access.

    An access that is made in several layouts shows the one that the compiler's first operation has.
    """
    cost = costs[0]
    compiled = next((layout_of(o) for o in operations if o["emitted"]), None)
    same = [pair for pair in cost.layouts if pair[0] == compiled]
    layout, vector_bytes = [*same, *cost.layouts, (None, cost.vector_bytes)][0]
    requests = sum(c.requests_per_warp for c in costs) / len(costs)
    sectors: float | None = None
    if all(c.sectors_per_request is not None for c in costs) and requests:
        touched = sum(c.requests_per_warp * (c.sectors_per_request or 0) for c in costs)
        sectors = touched / len(costs) / requests
    return Figures(
        order=layout.order if layout is not None else (),
        elements_per_thread=run_of(layout),
        vector_bytes=vector_bytes,
        lane_axis=None if layout is None else layout.lane_axis,
        requests_per_warp=requests,
        sectors_per_request=sectors,
    )


def compiler_figures(operations: Sequence[dict[str, Any]], site: SiteCost) -> Figures:
    """The compiler's figures of an access, by the first operation made of it."""
    first = next(o for o in operations if o["emitted"])
    layout = layout_of(first)
    return Figures(
        order=tuple(first["order"] or ()),
        elements_per_thread=run_of(layout),
        vector_bytes=max(first["vector"], 1) * max(first["element_bits"] // 8, 1),
        lane_axis=layout.lane_axis if layout is not None else None,
        requests_per_warp=site.requests_per_warp,
        sectors_per_request=None if site.data_dependent else site.sectors_per_request,
    )


def layout_of(operation: dict[str, Any]) -> LinearLayout | None:
    """The layout of a compiled operation as it came over JSON; None for a scalar."""
    if operation["layout"] is None:
        return None
    register, lane, warp = (tuple(map(tuple, bases)) for bases in operation["layout"])
    return LinearLayout(tuple(operation["shape"]), register, lane, warp)


def run_of(layout: LinearLayout | None) -> int:
    """Elements that a thread holds side by side along the fastest axis of its layout."""
    if layout is None or not layout.shape:
        return 1
    return layout.contiguous_registers(layout.order[0])


def differing(
    model: Figures,
    compiler: Figures,
    cost: Cost,
    operations: Sequence[dict[str, Any]],
) -> list[str]:
    """The names of the figures that do not agree.

    Axes of extent 1 have no place in an order. Layouts that are equal as maps agree whatever they are called.
    """
    names = []
    compiled = [layout_of(o) for o in operations if o["emitted"]]
    equal = any(c is not None and c == layout for c in compiled for layout, _ in cost.layouts)
    if not equal:
        shape = tuple(operations[0]["shape"])
        if wide_axes(model.order, shape) != wide_axes(compiler.order, shape):
            names.append("order")
        if model.elements_per_thread != compiler.elements_per_thread:
            names.append("elements_per_thread")
        if model.lane_axis != compiler.lane_axis:
            names.append("lane_axis")
    if model.vector_bytes != compiler.vector_bytes:
        names.append("vector_bytes")
    if not near(model.requests_per_warp, compiler.requests_per_warp):
        names.append("requests_per_warp")
    if not near(model.sectors_per_request, compiler.sectors_per_request):
        names.append("sectors_per_request")
    return names


def wide_axes(order: tuple[int, ...] | None, shape: tuple[int, ...]) -> list[int]:
    return [a for a in order or () if a < len(shape) and shape[a] > 1]


def near(model: float | None, compiler: float | None) -> bool:
    if model is None or compiler is None:
        return model is compiler
    return abs(model - compiler) <= TOLERANCE * compiler
