"""Mapped offsets as source text: each coefficient replaced by what the permutation makes of it."""

from __future__ import annotations

from typing import Any

from coalesce_lint.verify.variant.follow import Follower
from coalesce_lint.verify.variant.forms import Form, Item, Leaf, Number
from coalesce_lint.verify.variant.names import Namer
from coalesce_lint.verify.variant.permutation import Permutation
from coalesce_lint.verify.variant.scope import Accumulator, BlockPointer, Scope


class Renderer(Namer):
    """Writes forms under one permutation; ``ambiguous`` tells whether a step could be meant in two ways."""

    def __init__(self, follower: Follower, folded: bool = False) -> None:
        super().__init__(follower)
        self.folded = folded
        self.ambiguous = False
        self.permutation: Permutation
        self.runtime = False

    def moved(self, number: Number) -> int:
        self.ambiguous |= self.permutation.is_ambiguous(number.value)
        return self.permutation.step(number.value, self.folded)

    def step(self, number: Number) -> tuple[int, bool]:
        """The mapped number, and whether it may be written out."""
        found = self.moved(number)
        return found, not number.runtime and (found == number.value or not self.runtime)

    def ratio(self, form: Form, number: Number) -> int | None:
        """K with ``step(number * c) == K * c`` for every coefficient in ``form``; None where there is
        none."""
        found: set[int | None] = set()
        for item, factor in form.terms.items():
            whole = number * factor
            inner: int | None
            if item.form is not None:
                inner = self.ratio(item.form, whole)
            elif item.leaf.origin is not None:
                inner = self.accumulator_ratio(item.leaf.origin, whole)
            else:
                inner = self.moved(whole)
            found.add(None if inner is None else exact(inner, factor.value))
        if form.const.value:
            found.add(exact(self.moved(number * form.const), form.const.value))
        return found.pop() if len(found) == 1 else None

    def accumulator_ratio(self, accumulator: Accumulator, number: Number) -> int | None:
        parts = [accumulator.start, *(u.delta for u in accumulator.updates)]
        ratios = {self.ratio(p, number) for p in parts if p.terms or p.const.value}
        return ratios.pop() if len(ratios) == 1 else None

    def text(self, scope: Scope, form: Form, root: Leaf | None = None) -> str:
        """The mapped form as source text within ``scope``; ``root`` stands in for the pointer it begins
        with."""
        parts: list[str] = []
        base: list[str] = []
        self.add(scope, form, Number(1), parts, base, root)
        if form.root is not None and not base:
            base.append(self.name_of(scope, root or form.root))
        if not parts:
            return base[0] if base else "0"
        joined = " + ".join(parts)
        return f"{base[0]} + ({joined})" if base and len(parts) > 1 else " + ".join([*base, *parts])

    def add(
        self, scope: Scope, form: Form, factor: Number, parts: list[str], base: list[str], root: Leaf | None
    ) -> None:
        """Appends the texts of the mapped terms to ``parts``, and to ``base`` a pointer that is walked
        along."""
        for item, number in form.terms.items():
            whole = number * factor
            accumulator = item.leaf.origin
            if accumulator is not None and accumulator.start.root is not None:
                base.append(item.render(self.shadow(scope, accumulator, whole, root)))
                continue
            if accumulator is not None:
                ratio = self.accumulator_ratio(accumulator, whole)
                if ratio is None:
                    parts.append(item.render(self.shadow(scope, accumulator, whole, None)))
                    continue
                name = accumulator.name
                if accumulator.scope is not scope:
                    name = self.name_of(scope, item.leaf)
                literal = not whole.runtime and (ratio == whole.value or not self.runtime)
                parts.append(self.product(scope, item, ratio, literal, name))
                continue
            if item.form is not None:
                ratio = self.ratio(item.form, whole)
                if ratio is None:
                    self.add(scope, item.form, whole, parts, base, root)
                    continue
                literal = not whole.runtime and (ratio == whole.value or not self.runtime)
                parts.append(self.product(scope, item, ratio, literal))
                continue
            step, literal = self.step(whole)
            parts.append(self.product(scope, item, step, literal))
        const = form.const * factor
        if const.value:
            step, literal = self.step(const)
            parts.append(self.number(scope, step, literal))

    def product(self, scope: Scope, item: Item, step: int, literal: bool, name: str | None = None) -> str:
        leaf = item.render(name or self.name_of(scope, item.leaf))
        return leaf if step == 1 else f"{leaf} * {self.number(scope, step, literal)}"

    def shadow(self, scope: Scope, accumulator: Accumulator, number: Number, root: Leaf | None) -> str:
        """A variable that goes along with an accumulator and holds ``number`` times its value, mapped."""
        owner = accumulator.scope
        key = (owner, (accumulator, number.value, root, self.permutation))
        if key not in self.names:
            self.names[key] = self.fresh("_p" if accumulator.start.root is not None else "_v")
            name = self.names[key]
            edits, spans = self.edit(owner), self.spans(owner)
            start = self.text(owner, accumulator.start.times(number), root)
            edits.before.setdefault(spans.of(accumulator.loop)[:2], []).append(f"{name} = {start}")
            for update in accumulator.updates:
                delta = self.text(owner, update.delta.times(number))
                edits.after.setdefault(spans.of(update.statement)[:2], []).append(
                    f"{name} = {name} + {delta}"
                )
        if owner is scope:
            return self.names[key]
        return self.name_of(scope, Leaf(owner, self.names[key], None, None))

    # whether the stride was a runtime number

    def stride_is_runtime(self, value: Any) -> bool:
        if isinstance(value, BlockPointer):
            return any(self.stride_is_runtime(v) for v in value.strides) or any(
                v.const.runtime and self.multiple(v.const) for v in value.strides if isinstance(v, Form)
            )
        if not isinstance(value, Form):
            return False
        return any(
            (n.runtime and self.multiple(n))
            or (i.form is not None and self.stride_is_runtime(i.form.times(n)))
            or (i.leaf.origin is not None and self.accumulates_runtime(i.leaf.origin, n))
            for i, n in value.terms.items()
        )

    def accumulates_runtime(self, accumulator: Accumulator, number: Number) -> bool:
        parts = [accumulator.start, *(u.delta for u in accumulator.updates)]
        return any(
            self.stride_is_runtime(p.times(number)) or (p.const.runtime and self.multiple(p.const))
            for p in parts
            if not any(leaf.origin is accumulator for leaf in p.leaves())
        )

    def multiple(self, number: Number) -> bool:
        return number.value % self.permutation.stride == 0


def exact(product: int, factor: int) -> int | None:
    return product // factor if factor and product % factor == 0 else None
