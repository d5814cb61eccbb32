"""The proxy of an access that no permutation makes contiguous: same masks and bytes, contiguous addresses,
wrong values.

Its time is a bound, not a measurement: what the access would cost if its lanes walked memory. It is refused
where the wrong values would change what else the kernel does: addresses, masks, branches.
"""

from __future__ import annotations

import ast
from typing import Any

from coalesce_lint.verify.variant.build import Builder, Target, Variant
from coalesce_lint.verify.variant.follow import Follower
from coalesce_lint.verify.variant.forms import Refusal
from coalesce_lint.verify.variant.permutation import Permutation
from coalesce_lint.verify.variant.scope import Site
from coalesce_lint.verify.variant.values import roots_of

#: Position of the mask among the arguments of a memory call.
MASK_AT = {"load": 1, "store": 2, "atomic": 2}


class ProxyBuilder(Builder):
    """Rewrites the pointer of one load to walk its tensor tile by tile."""

    def __init__(
        self,
        follower: Follower,
        name: str,
        place: tuple[str, int, int],
        shape: tuple[int, ...],
        axis: int,
        length: int,
    ) -> None:
        nothing = Target((), Permutation(1, 1, 1, 1))
        super().__init__(follower, [nothing], name)
        self.at = place
        self.shape = shape
        self.axis = axis
        self.length = length

    def proxy(self) -> Variant:
        """The variant. Raises Refusal."""
        sites = [s for s in self.follower.sites if self.place(s) == self.at]
        if len(sites) != 1 or sites[0].scope.parent is not None:
            raise Refusal("the access lies in a helper")
        site = sites[0]
        if site.kind != "load":
            raise Refusal("a store to other places would be another computation")
        roots = [leaf for leaf in roots_of(site.value) if leaf.name is not None]
        if len(roots) != 1:
            raise Refusal("the tensor that it reads is not known")
        reached = reaches_control(site, self.follower)
        if reached:
            raise Refusal(f"its value reaches {reached}")
        span = self.spans(site.scope).of(site.pointer)
        self.edit(site.scope).replaced[span] = f"{roots[0].name} + ({self.walk(site)})"
        return self.written([self.at])

    def walk(self, site: Site) -> str:
        """Offsets of one tile of the tensor, another one for each program and each round of a loop around."""
        tile = 1
        for size in self.shape:
            tile *= size
        tiles = max(1, self.length // tile)
        if self.length < tile:
            raise Refusal("the tensor is smaller than the tile")
        number = (
            "tl.program_id(0) + tl.num_programs(0) * "
            "(tl.program_id(1) + tl.num_programs(1) * tl.program_id(2))"
        )
        for loop in loops_around(site.scope.tree, site.call):
            number = f"({number}) * 7 + {loop}"
        count = self.number(site.scope, tiles, literal=False)
        parts = [f"({number}) % {count} * {tile}"]
        step = 1
        order = [k for k in range(len(self.shape)) if k != self.axis]
        for axis in [self.axis, *reversed(order)]:
            view = ", ".join(":" if k == axis else "None" for k in range(len(self.shape)))
            suffix = f"[{view}]" if len(self.shape) > 1 else ""
            parts.append(f"tl.arange(0, {self.shape[axis]}){suffix}" + (f" * {step}" if step > 1 else ""))
            step *= self.shape[axis]
        return " + ".join(parts)


def loops_around(tree: ast.FunctionDef, call: ast.Call) -> list[str]:
    """The variables of the ``for`` loops around a call, outermost first."""
    return [
        node.target.id
        for node in ast.walk(tree)
        if isinstance(node, ast.For)
        and isinstance(node.target, ast.Name)
        and any(n is call for n in ast.walk(node))
    ]


def reaches_control(site: Site, follower: Follower) -> str | None:
    """What the value of a load reaches that it must not: "an address", "a mask" or "a branch"; None if
    nothing."""
    tree = site.scope.tree
    tainted: set[str] = set()

    def touched(node: ast.AST | None) -> bool:
        return node is not None and any(
            n is site.call or (isinstance(n, ast.Name) and n.id in tainted) for n in ast.walk(node)
        )

    while True:
        before = len(tainted)
        for node in ast.walk(tree):
            if isinstance(node, (ast.Assign, ast.AnnAssign, ast.AugAssign)) and touched(node.value):
                targets = node.targets if isinstance(node, ast.Assign) else [node.target]
                tainted |= {n.id for t in targets for n in ast.walk(t) if isinstance(n, ast.Name)}
        if len(tainted) == before:
            break
    for node in ast.walk(tree):
        if isinstance(node, (ast.If, ast.While, ast.IfExp)) and touched(node.test):
            return "a branch"
        if isinstance(node, ast.For) and touched(node.iter):
            return "a branch"
    return _memory(site, follower, touched)


def _memory(site: Site, follower: Follower, touched: Any) -> str | None:
    for other in follower.sites:
        if other.scope.tree is not site.scope.tree:
            call = other.scope.call
            if call is not None and any(touched(a) for a in [*call.args, *(k.value for k in call.keywords)]):
                return "a helper that accesses memory"
            continue
        if other.call is site.call:
            continue
        if touched(other.pointer):
            return "an address"
        masks = [k.value for k in other.call.keywords if k.arg == "mask"]
        at = MASK_AT[other.kind] - (other.pointer not in other.call.args)
        masks += other.call.args[at : at + 1]
        if any(touched(m) for m in masks):
            return "a mask"
    return None
