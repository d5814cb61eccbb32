"""Values of a kernel's variables as sums of multiples of leaves, with the numbers of one launch put in.

A leaf is a value that the variant can name: a parameter, a loop variable, or an expression that is neither a
sum nor a product by a number. Whether a number came from a runtime argument is kept beside it (``runtime``),
for the variant must not get from the compiler what the original did not get.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any


class Refusal(Exception):
    """The variant cannot be built; ``str()`` is the reason, one line."""


@dataclass(frozen=True)
class Number:
    value: int
    runtime: bool = False

    def __add__(self, other: Number) -> Number:
        return Number(self.value + other.value, self.runtime or other.runtime)

    def __mul__(self, other: Number) -> Number:
        return Number(self.value * other.value, self.runtime or other.runtime)

    def __neg__(self) -> Number:
        return Number(-self.value, self.runtime)


ZERO, ONE = Number(0), Number(1)


@dataclass(frozen=True, eq=False)
class Leaf:
    """A value with a name, or one that gets a name when it is needed.

    ``scope`` is the function it belongs to. ``node`` is the expression to be named, None for what ``name``
    names already. ``rank`` is the number of tile axes (0: a scalar, None: not known).
    """

    scope: Any
    name: str | None
    node: Any = None
    rank: int | None = None
    origin: Any = None  #: the loop and version of an accumulator


@dataclass(frozen=True)
class Item:
    """A leaf, or a variable that holds a sum (``form``), seen through views such as ``[:, None]``.

    A view is a text with ``{}`` for what it is applied to.
    """

    leaf: Leaf
    views: tuple[str, ...] = ()
    form: Form | None = field(default=None, compare=False)

    def render(self, name: str) -> str:
        for view in self.views:
            name = view.format(name)
        return name


@dataclass
class Form:
    """``root + const + sum of number * item``; ``root`` is the leaf of a pointer parameter, None for
    integers."""

    terms: dict[Item, Number] = field(default_factory=dict)
    const: Number = ZERO
    root: Leaf | None = None

    @classmethod
    def of(cls, leaf: Leaf) -> Form:
        return cls({Item(leaf): ONE})

    @property
    def is_number(self) -> bool:
        return not self.terms and self.root is None

    def plus(self, other: Form) -> Form:
        if self.root is not None and other.root is not None:
            raise Refusal("two pointers are added")
        terms = dict(self.terms)
        for item, number in other.terms.items():
            terms[item] = terms[item] + number if item in terms else number
        terms = {i: n for i, n in terms.items() if n.value}
        return Form(terms, self.const + other.const, self.root or other.root)

    def times(self, number: Number) -> Form:
        return Form(
            {i: n * number for i, n in self.terms.items() if (n * number).value},
            self.const * number,
            self.root,
        )

    def through(self, view: str, keeps_scalars: bool = True) -> Form:
        """The form with a view applied to each item; scalars stay as they are where ``keeps_scalars``."""
        terms: dict[Item, Number] = {}
        for item, number in self.terms.items():
            if not (keeps_scalars and rank_of(item) == 0):
                inner = item.form.through(view, keeps_scalars) if item.form else None
                item = Item(item.leaf, (*item.views, view), inner)
            terms[item] = terms[item] + number if item in terms else number
        return Form(terms, self.const, self.root)

    def leaves(self) -> Iterable[Leaf]:
        for item in self.terms:
            yield item.leaf
            if item.form is not None:
                yield from item.form.leaves()
        if self.root is not None:
            yield self.root

    def same(self, other: Any) -> bool:
        return (
            isinstance(other, Form)
            and self.root is other.root
            and self.const.value == other.const.value
            and {i: n.value for i, n in self.terms.items()} == {i: n.value for i, n in other.terms.items()}
        )


def rank_of(item: Item) -> int | None:
    """The rank below the views; a variable that holds a sum has that of its largest item."""
    if item.form is None:
        return item.leaf.rank
    ranks = [rank_of(Item(i.leaf, (), i.form)) for i in item.form.terms]
    known = [r for r in ranks if r is not None]
    return None if len(known) < len(ranks) else max(known, default=0)


def flat(form: Form, depth: int = 20) -> dict[Item, Number]:
    """The terms with every variable replaced by the sum that it holds."""
    terms: dict[Item, Number] = {}
    for item, number in form.terms.items():
        inner = flat(item.form, depth - 1) if item.form is not None and depth else {item: ONE}
        for key, factor in inner.items():
            terms[key] = terms[key] + factor * number if key in terms else factor * number
    return terms
