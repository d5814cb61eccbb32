"""The addresses and the mask of an access in one program, as numbers."""

from __future__ import annotations

from dataclasses import dataclass, field

from coalesce_lint.hardware import tiles
from coalesce_lint.hardware.analysis import Analysis, Unresolved
from coalesce_lint.hardware.evaluate import Evaluator
from coalesce_lint.hardware.graph import walk
from coalesce_lint.index.nodes import Node


@dataclass
class Addresses:
    """``first`` is the address of the tile's first element, ``parts`` what the others have more, in elements.

    The rest is kept in parts, one for each set of axes on which terms vary, for sums over the whole tile are
    rarely needed. ``data_axes`` are the axes along which addresses depend on loaded values (None: nowhere);
    ``unseen`` the parts of which the assembler does not see where they are equal.
    """

    first: int
    parts: tiles.Parts
    data_axes: frozenset[int] | None = None
    unseen: set[tuple[int, ...]] = field(default_factory=set)


def addresses(evaluator: Evaluator, node: Node, rank: int) -> Addresses:
    """The addresses of a tile of ``rank`` axes, summed term by term. Raises Unresolved where a term is not
    known."""
    analysis = evaluator.analysis
    terms: list[Node] = []
    stack = [node]
    while stack:
        here = stack.pop()
        if here.op == "add" and len(analysis.shape(here)) == rank:
            stack.extend(here.args)
        elif here.op in ("broadcast", "hint") and len(analysis.shape(here.args[0])) in (0, rank):
            stack.append(here.args[0])
        else:
            terms.append(here)
    found = Addresses(0, {})
    by_dims: dict[tuple[int, ...], list[int]] = {}
    for term in terms:
        value = tiles.aligned(evaluator.value(term), rank)
        if value.taint_axes is not None:
            found.data_axes = value.taint_axes | (found.data_axes or frozenset())
        base = int(value.data[0])
        found.first += base
        if len(value.data) > 1:
            more = [int(x) - base for x in value.data]
            if not provable(term, analysis):
                found.unseen.add(value.dims)
            before = by_dims.get(value.dims)
            if before is not None:
                more = [a + b for a, b in zip(before, more, strict=True)]
            by_dims[value.dims] = more
    found.parts = {dims: tuple(data) for dims, data in by_dims.items()}
    return found


def provable(term: Node, analysis: Analysis) -> bool:
    """True where the assembler sees which values of a term are equal: only divisions by powers of two make
    them so."""
    for node in walk([term]):
        if node.op in ("min", "max", "where", "cmp"):
            return False
        if node.op in ("div", "mod"):
            value = analysis.info(node.args[1]).value
            if value is None or value <= 0 or value & (value - 1):
                return False
    return True


def mask_values(evaluator: Evaluator, mask: Node | None) -> tiles.Tile | None:
    """The mask's truth values, None where all are true; terms that depend on loaded data count as true."""
    if mask is None:
        return None
    parts: list[tiles.Tile] = []
    stack = [mask]
    while stack:
        here = stack.pop()
        if here.op == "and":
            stack.extend(here.args)
            continue
        try:
            value = evaluator.value(here)
        except Unresolved:
            continue
        if not value.tainted:
            parts.append(value)
    if not parts:
        return None
    total = parts[0]
    for part in parts[1:]:
        total = tiles.apply(lambda a, b: a and b, total, part)
    return None if all(total.data) else total
