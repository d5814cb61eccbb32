"""What an access loses between its source and the machine although its lanes are side by side in truth.

An access is asked under the kindest launch (``assume.py``): what is lost there is lost under every launch.
Kinds are those of ``Cost.limited_by``: "contiguity" (the compiler cannot prove the run), "alignment" (it can,
but a base or a pitch keeps vectors short), "mask" (the bound of the mask does).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from coalesce_lint.access import Access, Cost, Kernel
from coalesce_lint.culprits import Culprit, find_culprit
from coalesce_lint.hardware.graph import walk
from coalesce_lint.hardware.launch import SECTOR_BYTES, VECTOR_BYTES, WARP_LANES
from coalesce_lint.index.nodes import Node
from coalesce_lint.model import LaunchModel

_STRIDE = re.compile("stride", re.IGNORECASE)


@dataclass(frozen=True)
class Loss:
    """``axis``: the tile axis along which lanes are side by side. ``vector``, ``best``: elements of one
    instruction, and what the tile would allow. ``elsewhere``: the compiler puts the lanes along another axis
    or cannot tell the axes apart."""

    kind: str
    axis: int
    vector: int
    best: int
    elsewhere: bool = False
    culprit: Culprit | None = None


def _long(run: str) -> bool:
    """Whether a run of so many lanes is as good as one without end to a warp."""
    return run.isdecimal() and int(run) >= WARP_LANES


def loss_of(model: LaunchModel, access: Access, sure: bool = True) -> Loss | None:
    """What an access loses under one launch; None where nothing is, or where it cannot be told.

    ``sure``: not where it is the launch that decides which of two axes has the unit stride.
    """
    axis = _unit_axis(access, model, sure)
    op = model.proved(access) if axis is not None else None
    if axis is None or op is None or axis >= len(op.shape) or op.shape[axis] == 1:
        return None
    if op.elements < WARP_LANES or _undecided(access):
        return None
    run = op.pointer.contiguity[axis]
    share = max(op.elements // (WARP_LANES * model.launch.num_warps), 1)
    best = min(max(VECTOR_BYTES // op.element_bytes, 1), share, op.shape[axis])
    others = [c for k, c in enumerate(op.pointer.contiguity) if k != axis and op.shape[k] > 1]
    if any(c > run for c in others):
        # Another axis is a proven run: the lanes go there, and are side by side there.
        return None
    if run < best or (run == 1 and others):
        culprit = find_culprit(model, access, axis)
        elsewhere = run == 1 and bool(others)
        if not elsewhere and not _vectors_possible(model, access, axis, best):
            return None
        return Loss("contiguity", axis, run, best, elsewhere, culprit)
    aligned = max(op.pointer.divisibility[axis] // op.element_bytes, 1)
    if aligned < best:
        return Loss("alignment", axis, aligned, best)
    if op.mask is not None and op.mask.constancy[axis] < best:
        return Loss("mask", axis, max(op.mask.constancy[axis], 1), best)
    return None


def surest_loss(access: Access, kernel: Kernel) -> Loss | None:
    """What an access loses under every launch that is assumed for its kernel."""
    first: Loss | None = None
    for model in kernel.model.launches:
        loss = loss_of(model, access)
        if loss is None:
            return None
        first = first or loss
    return first


def short_runs(access: Access, kernel: Kernel) -> bool:
    """Whether the runs of neighbours along the lanes are shorter than a sector under every launch."""
    noted = [int(n[4:]) for n in access.notes if n.startswith("run=") and n[4:].isdecimal()]
    for model in kernel.model.launches:
        op = model.proved(access)
        if op is None or op.elements < WARP_LANES or access.lane_axis is None or access.site is None:
            return False
        extent = (access.site.address.shape or ())[access.lane_axis]
        if isinstance(extent, Node) and any(a.name in model.launch.guessed for a in arguments_of(extent)):
            return False
        if min([op.shape[access.lane_axis], *noted]) * op.element_bytes >= SECTOR_BYTES:
            return False
    return True


def conditional_wrap(access: Access, kernel: Kernel) -> tuple[str, Cost | None] | None:
    """The argument by which the lanes' index is wrapped so that the run is lost where it is no multiple of
    16, and the cost then; None where there is none."""
    model = kernel.model.launches[0]
    if access.site is None or _unit_axis(access, model, sure=False) is None:
        return None
    if loss_of(model, access, sure=False) is not None:
        return None
    for name in sorted({a.name for a in _moduli(access.site.address) if not a.constexpr}):
        odd = kernel.model.odd(model, name)
        loss = loss_of(odd, access, sure=False)
        if loss is not None and loss.kind == "contiguity" and loss.elsewhere:
            return name, odd.cost(access)
    return None


def _moduli(address: Node) -> Iterator[Any]:
    """The arguments that stand behind a ``%`` in an expression."""
    for node in walk([address]):
        if node.op == "mod":
            yield from arguments_of(node.args[1])


def _unit_axis(access: Access, model: LaunchModel, sure: bool = True) -> int | None:
    """The axis that has stride 1 or -1, or one stride argument that may be 1 and is taken for it.

    None where that holds only now and then: in runs, or in pairs of lanes that share an element. If it must
    be ``sure``, None too where another axis has a stride argument that the compiler sees: that one may well
    be the 1.
    """
    if any(n.startswith("repeat=") or (n.startswith("run=") and not _long(n[4:])) for n in access.notes):
        return None
    if access.pattern == "contiguous" and access.lane_stride in ("1", "-1"):
        return access.lane_axis
    if access.pattern != "parametric":
        return None
    if not sure:
        return access.lane_axis
    others = [a.stride for a in access.axes if a.axis != access.lane_axis and a.stride not in (None, "0")]
    hidden = {a.name for a in arguments_of(access.site.address) if not a.specialize} if access.site else set()
    hidden |= model.launch.variables
    seen = {name for text in others for name in re.findall(r"[^\W\d]\w*", text or "")} - hidden
    return None if any(_STRIDE.search(n) or n in others for n in seen) else access.lane_axis


def _undecided(access: Access) -> bool:
    """Whether a choice at compile time that no value decides stands in the address or the mask: the compiler
    sees one side only, and which is not known."""
    site = access.site
    roots = [n for n in (site.address, site.mask) if n is not None] if site is not None else []
    return any(n.op == "phi" and n.args[0] is not None and n.args[0].static for n in walk(roots))


def _vectors_possible(model: LaunchModel, access: Access, axis: int, best: int) -> bool:
    """Whether most aligned groups of ``best`` elements along ``axis`` are side by side in truth: the
    compiler is blamed for what it cannot prove, not for what is not so."""
    share = model.runs(access, axis, best)
    return share is not None and share >= 0.75


# -- what constants do to alignment


def odd_pitch(access: Access, best: int) -> str | None:
    """The stride of another axis that is a number and no multiple of ``best`` elements.

    Rows that lie closer than they are long overlap on purpose: such a stride is none that could be padded.
    """
    extents = dict(enumerate(access.extents))
    longest = extents.get(access.lane_axis or 0) or 2
    for axis in access.axes:
        text = (axis.stride or "").removeprefix("-")
        if axis.axis == access.lane_axis or axis.extent == "1" or not text.isdecimal():
            continue
        if int(text) % best and int(text) >= longest:
            return text
    return None


def odd_start(access: Access, best: int) -> int | None:
    """The number that is added to every offset where it is no multiple of ``best`` elements."""
    return access.start if access.start % best else None


def arguments_of(node: Node | None) -> Iterator[Any]:
    """The parameters in an expression."""
    for inner in walk([node] if node is not None else []):
        if inner.op == "param":
            yield inner.attr


_BOUNDS = frozenset(("lt", "le", "gt", "ge"))


def bound_of(model: LaunchModel, access: Access, axis: int) -> str | None:
    """The bound that cuts the mask's runs along ``axis``: a number that is no multiple of 16, or an argument
    that the kernel does not specialize. None where it is neither, so that nothing is proved."""
    mask = access.site.mask if access.site is not None else None
    for node in walk([mask] if mask is not None else []):
        if node.op != "cmp" or node.attr not in _BOUNDS or node.shape in ((), None):
            continue
        info = model.info(node)
        k = axis - (len(model.proved(access).shape) - len(node.shape))  # type: ignore[union-attr]
        if info is None or k < 0 or k >= info.rank or info.constancy[k] > 1:
            continue
        for side in node.args:
            while side.op in ("broadcast", "cast", "expand", "hint"):
                side = side.args[0]
            if side.op == "const" and isinstance(side.attr, int) and side.attr % 16:
                return str(side.attr)
            if side.op == "param" and not side.attr.constexpr and not side.attr.specialize:
                return str(side.attr.name)
    return None
