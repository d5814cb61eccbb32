"""Where in an expression the compiler loses a run of neighbours."""

from __future__ import annotations

from dataclasses import dataclass

from coalesce_lint.access import Access
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
