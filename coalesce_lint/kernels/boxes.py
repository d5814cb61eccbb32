"""The facts of block pointers and descriptors that rules ask for."""

from __future__ import annotations

from coalesce_lint.access import Box
from coalesce_lint.index.carried import Resolver
from coalesce_lint.index.nodes import Node
from coalesce_lint.index.normalize import Normalizer
from coalesce_lint.index.poly import Poly, exact_quotient, number
from coalesce_lint.index.render import Renderer
from coalesce_lint.kernels.record import RawSite
from coalesce_lint.kernels.values import BlockPtr, Desc


def promised_divisors(assumed: list[Node]) -> dict[str, int]:
    """Parameters of which an assume or assert says ``p % k == 0``, with k."""
    found: dict[str, int] = {}
    for cond in assumed:
        if cond.op == "cmp" and cond.attr == "eq" and cond.args[1].op == "const" and cond.args[1].attr == 0:
            rest = cond.args[0]
            if rest.op == "mod" and rest.args[0].op == "param" and isinstance(rest.args[1].attr, int):
                found[rest.args[0].attr.name] = rest.args[1].attr
    return found


def box_of(
    n: Normalizer, resolve: Resolver, render: Renderer, site: RawSite, promised: dict[str, int]
) -> Box | None:
    """The box of an access through a block pointer or a descriptor, None for a plain pointer."""
    source = site.options.get("block_ptr") or site.options.get("descriptor")
    if not isinstance(source, (BlockPtr, Desc)):
        return None

    def polys(values: list[object]) -> list[Poly]:
        return [resolve(n(v)) if isinstance(v, Node) else number(int(str(v))) for v in values]

    shape, strides, block = polys(list(source.shape)), polys(list(source.strides)), polys(list(source.block))
    block_ptr = isinstance(source, BlockPtr)
    return Box(
        kind="block_ptr" if block_ptr else "descriptor",
        host=isinstance(source, Desc) and source.host,
        shape=[render.text(p) for p in shape],
        strides=[render.text(p) for p in strides],
        stride_values=[p.constant for p in strides],
        block=[render.text(p) for p in block],
        block_values=[p.constant for p in block],
        fits=[exact_quotient(s, b) is not None for s, b in zip(shape, block, strict=False)],
        order=source.order if isinstance(source, BlockPtr) else None,
        boundary_check=site.options.get("boundary_check"),
        padding=site.options.get("padding_option"),
        promised=promised,
        made_at=source.place,
    )
