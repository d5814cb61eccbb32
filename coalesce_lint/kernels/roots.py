"""The root pointer of an access, apart from its offset; several where the kernel chooses between pointers."""

from __future__ import annotations

from coalesce_lint.index.nodes import Node, Param
from coalesce_lint.index.poly import Atom, Poly
from coalesce_lint.index.render import Renderer
from coalesce_lint.index.terms import Algebra
from coalesce_lint.kernels.usage import Usage, leading_param

_MAX_ROOTS = 8


class Roots:
    """Finds the root pointers in the addresses of one kernel."""

    def __init__(self, algebra: Algebra, usage: Usage, render: Renderer) -> None:
        self.algebra = algebra
        self.usage = usage
        self.render = render

    def of(self, node: Node, address: Poly) -> tuple[list[tuple[str, Poly]], list[Poly]]:
        """The root pointers an access may have, each with the offset from it in elements; and the conditions
        by which lanes choose between them one by one.
        """
        lanewise: list[Poly] = []
        return self._of(address, leading_param(node, self.usage), lanewise), lanewise

    def _of(self, address: Poly, lead: Param | None, lanewise: list[Poly]) -> list[tuple[str, Poly]]:
        out: list[tuple[str, Poly]] = []
        todo = [address]
        while todo and len(out) < _MAX_ROOTS:
            p = todo.pop()
            root = self._root_atom(p, lead)
            if root is not None:
                name = root.attr.name if root.kind == "param" else f"*{self.render.name(root)}"
                out.append((name, p - Poly({(root,): 1})))
                continue
            choice = self._pointer_choice(p)
            if choice is None:
                out.append((lead.name if lead is not None else "?", p))
                continue
            condition, a, b = choice.args
            arms = [self.algebra.rebuild(p, {choice: arm}) for arm in (a, b)]
            if condition is not None and condition.lanes:
                lanewise.append(condition)
                inner = [found for arm in arms for found in self._of(arm, lead, lanewise)]
                if len(inner) == 2:  # each lane has its own root: one offset for all
                    offset = self.algebra.choose(condition, choice.attr, inner[0][1], inner[1][1])
                    inner = [("|".join(dict.fromkeys(name for name, _ in inner)), offset)]
                out += inner
                continue
            todo.extend(reversed(arms))
        return out

    def _root_atom(self, p: Poly, lead: object) -> Atom | None:
        units = [m[0] for m, c in p.terms.items() if len(m) == 1 and c == 1]
        names = [
            a for a in units if a.kind == "param" and not a.attr.constexpr and a.attr.pointer is not False
        ]
        for a in names:
            if a.attr is lead:
                return a
        sure = [a for a in names if a.attr.pointer or not self.usage.is_number(a.attr)]
        if sure and self._pointer_choice(p) is None:
            return sure[0]
        if names and self._pointer_choice(p) is None and lead is None:
            return names[0]
        if names or self._pointer_choice(p) is not None:
            return None
        loaded = [a for a in units if a.kind in ("load", "data") and a.data and not a.lanes]
        return loaded[0] if loaded else None

    def _pointer_choice(self, p: Poly) -> Atom | None:
        """A choice between pointers among the terms of an address."""
        for m, c in p.terms.items():
            if len(m) == 1 and c == 1 and m[0].kind == "select":
                for arm in m[0].args[1:]:
                    units = [n[0] for n, v in arm.terms.items() if len(n) == 1 and v == 1]
                    if any(
                        (a.kind == "param" and not a.attr.constexpr and not self.usage.is_number(a.attr))
                        or (a.kind == "select" and self._pointer_choice(arm) is not None)
                        for a in units
                    ):
                        return m[0]
        return None
