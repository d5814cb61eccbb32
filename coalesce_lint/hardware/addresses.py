"""The addresses and the mask of an access in one program, as numbers."""

from __future__ import annotations

import operator
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
    once = evaluator.arithmetic.once
    for term in terms:
        value = tiles.aligned(evaluator.value(term), rank)
        if value.taint_axes is not None:
            found.data_axes = value.taint_axes | (found.data_axes or frozenset())
        if value.single:
            found.first += int(value.base)
            continue
        relative = value.relative
        found.first += int(value.base + relative[0])
        more = once(("first", id(relative)), relative, lambda r=relative: [int(x - r[0]) for x in r])  # type: ignore[misc]
        if not provable(term, analysis):
            found.unseen.add(value.dims)
        before = found.parts.get(value.dims)
        if before is not None:
            key = ("parts", id(before), id(more))
            more = once(key, (before, more), lambda b=before, m=more: list(map(operator.add, b, m)))  # type: ignore[misc]
        found.parts[value.dims] = more
    return found


def provable(term: Node, analysis: Analysis) -> bool:
    """True where the assembler sees which values of a term are equal: only divisions by powers of two make
    them so."""
    known = analysis.provable.get(id(term))
    if known is None:
        known = analysis.provable[id(term)] = all(_provable(n, analysis) for n in walk([term]))
    return known


def _provable(node: Node, analysis: Analysis) -> bool:
    if node.op in ("div", "mod"):
        value = analysis.info(node.args[1]).value
        return value is not None and value > 0 and not value & (value - 1)
    return node.op not in ("min", "max", "where", "cmp")


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
        total = evaluator.arithmetic.conjunction(total, part)
    if total.single:
        return None if total.base else total
    return None if evaluator.arithmetic.range(total.data)[0] else total
