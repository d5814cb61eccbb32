"""Accesses without a verdict, for what only counts: the hardware model needs expressions, not algebra."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from coalesce_lint.access import Access, Site

if TYPE_CHECKING:
    from coalesce_lint.index.nodes import Node
    from coalesce_lint.kernels.interpret import Interpreter


def bare_accesses(it: Interpreter) -> Iterator[Access]:
    """Every access that the interpreter saw, one for each call that led to it, with its expressions only."""
    for site in it.sites:
        yield Access(
            place=site.place,
            op=site.op,
            pointer=root_name(site.address),
            offset="",
            pattern="unknown",
            lane_axis=None,
            lane_stride=None,
            condition=None,
            axes=[],
            notes=[],
            reason=None,
            kernel=it.kernel.name,
            call_chain=list(site.chain),
            source="",
            lane_term=None,
            loop_depth=len(site.loops),
            site=Site(
                site.address, site.mask, site.value, site.guards, len(site.loops), site.loops, site.options
            ),
        )


def root_name(address: Node) -> str:
    """The parameter that an address starts from, the first one where several can be meant; "?" for none."""
    stack = [address]
    for _ in range(200):
        if not stack:
            break
        node = stack.pop()
        if node.op == "param" and (node.type == "ptr" or node.attr.pointer):
            return str(node.attr.name)
        if node.op in ("add", "sub", "where", "phi"):
            stack += reversed(node.args)
        else:
            stack += node.args[:1]
    return "?"
