"""What an access loses between its source and the machine although its lanes are side by side in truth.

An access is asked under the kindest launch (``assume.py``): what is lost there is lost under every launch.
Kinds are those of ``Cost.limited_by``: "contiguity" (the compiler cannot prove the run), "alignment" (it can,
but a base or a pitch keeps vectors short), "mask" (the bound of the mask does).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from coalesce_lint.access import Access, Cost, Kernel
from coalesce_lint.hardware.graph import walk
from coalesce_lint.hardware.launch import SECTOR_BYTES, VECTOR_BYTES, WARP_LANES
from coalesce_lint.index.nodes import Node
from coalesce_lint.model import LaunchModel

#: What a culprit is called in messages, by operation.
_NAMES = {
    "mod": "a wrap by %",
    "div": "a division",
    "reshape": "a reshape",
    "xor": "^",
    "or": "|",
    "and": "&",
    "min": "a clamp (minimum)",
    "max": "a clamp (maximum)",
    "where": "a tl.where",
    "phi": "a choice between two offsets",
    "shl": "a shift",
    "shr": "a shift",
}


@dataclass(frozen=True)
class Culprit:
    """The operation at which the compiler loses a run. ``argument``: the parameter that does it, if one."""

    op: str
    name: str
    argument: str | None = None

    @property
    def words(self) -> str:
        return f"{self.name} {self.argument}" if self.argument else self.name


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
        if op is None or op.elements < WARP_LANES or access.lane_axis is None:
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
    names = sorted({a.name for a in _moduli(access.site.address) if not a.constexpr})
    if not names:
        return None
    odd = kernel.model.odd(model, tuple(names))
    loss = loss_of(odd, access, sure=False)
    if loss is None or loss.kind != "contiguity" or not loss.elsewhere:
        return None
    return " and ".join(names), odd.cost(access)


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
    return None if any((s or "").isidentifier() and s not in hidden for s in others) else access.lane_axis


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


# -- where a run is lost


def find_culprit(model: LaunchModel, access: Access, axis: int) -> Culprit | None:
    """The operation below which the address still is a run along ``axis`` for the compiler; None where there
    is none to name."""
    node: Node | None = access.site.address if access.site is not None else None
    k: int | None = axis
    while node is not None and k is not None:
        found = _culprit_at(model, node, k)
        if isinstance(found, Culprit):
            return found
        node, k = found
    return None


def _culprit_at(model: LaunchModel, node: Node, axis: int) -> Culprit | tuple[Node | None, int | None]:
    """The culprit where ``node`` is it, else the operand to go on with and the axis there."""
    op = node.op
    if op in ("hint", "cast", "carried"):
        return node.args[0], axis
    if op == "broadcast":
        return _lowered(model, node.args[0], node, axis)
    if op == "expand":
        return (node.args[0], None if axis == node.attr else axis - (axis > node.attr))
    if op == "trans":
        return node.args[0], node.attr[axis]
    moving = [(x, k) for x in node.args for y, k in [_lowered(model, x, node, axis)] if _varies(model, y, k)]
    if op in ("add", "mul", "sub"):
        if len(moving) == 1:
            operand, k = moving[0]
            other = node.args[1] if operand is node.args[0] else node.args[0]
            if op == "sub" and operand is node.args[1]:
                return Culprit(op, "a descending index")
            if op == "mul" and _run(model, operand, k) > 1:
                factor = other.attr.name if other.op == "param" else None
                return Culprit(op, "a multiplication by" if factor else "a multiplication", factor)
            return operand, k
        return Culprit(op, "a sum of two parts that both move with the lanes") if moving else (None, None)
    if op in ("load", "data", "opaque", "sort", "scan"):
        return None, None
    for operand, k in moving:
        if _run(model, operand, k) <= 1 and operand.op not in ("const", "param"):
            return operand, k
    return Culprit(op, _NAMES.get(op, op), _argument(node))


def _lowered(model: LaunchModel, operand: Node, node: Node, axis: int) -> tuple[Node | None, int | None]:
    """``operand`` of ``node`` with the axis that becomes ``axis`` by implicit broadcasting; None for scalars
    and repeated axes."""
    if operand.shape is None or node.shape is None:
        return None, None
    k = axis - (len(node.shape) - len(operand.shape))
    if k < 0 or (isinstance(operand.shape[k], int) and operand.shape[k] == 1):
        return None, None
    return operand, k


def _varies(model: LaunchModel, node: Node | None, axis: int | None) -> bool:
    info = model.info(node) if node is not None and axis is not None else None
    if info is None or node is None or axis is None or axis >= info.rank:
        return False
    shape = model.shape(node)
    return shape is not None and info.constancy[axis] < shape[axis]


def _run(model: LaunchModel, node: Node, axis: int | None) -> int:
    info = model.info(node)
    return 1 if info is None or axis is None or axis >= info.rank else info.contiguity[axis]


def _argument(node: Node) -> str | None:
    """The parameter that is the second operand, where it is one."""
    for operand in node.args[1:]:
        while operand.op in ("broadcast", "cast", "expand"):
            operand = operand.args[0]
        if operand.op == "param":
            return str(operand.attr.name)
    return None


# -- what constants do to alignment


def odd_pitch(access: Access, best: int) -> str | None:
    """The stride of another axis that is a number and no multiple of ``best`` elements."""
    for axis in access.axes:
        text = (axis.stride or "").removeprefix("-")
        if axis.axis != access.lane_axis and text.isdecimal() and int(text) % best and axis.extent != "1":
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


def bound_of(model: LaunchModel, access: Access, axis: int) -> str | None:
    """The bound that cuts the mask's runs along ``axis``: a number that is no multiple of 16, or an argument
    that the kernel does not specialize. None where it is neither, so that nothing is proved."""
    mask = access.site.mask if access.site is not None else None
    for node in walk([mask] if mask is not None else []):
        if node.op != "cmp" or node.shape in ((), None):
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
