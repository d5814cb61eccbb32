"""Tensors, sequences and names at one point of a host function."""

from __future__ import annotations

import ast
from dataclasses import replace
from typing import Any

from coalesce_lint.launches.modules import dotted
from coalesce_lint.launches.strides import Questions
from coalesce_lint.launches.torch_args import integer
from coalesce_lint.launches.values import (
    Choice,
    Each,
    Facts,
    Items,
    ShapeOf,
    SizeOf,
    Star,
    State,
    StrideOf,
    StridesOf,
    Table,
    Tensor,
    Unknown,
    Value,
)

#: A value has at most so many alternatives.
MOST_OPTIONS = 4
#: The text of a tensor that a forward pass saved, before it gets a name.
SAVED = "a saved tensor"


class Names:
    """What the names of a host function hold, and the values that are made for them."""

    state: State
    asked: dict[int, int]  #: the highest dimension that is asked for, by the tensor's number
    innermost: bool
    copies: list[Tensor]
    claimed: dict[int, Facts]  #: what is asserted anywhere in the function, by the tensor's number
    objects: set[int]  #: the numbers of what has attributes that no tensor has
    _count: int

    def expr(self, node: ast.expr | None) -> Value:
        """The value of an expression."""
        raise NotImplementedError

    def text(self, node: ast.expr) -> str:
        """The source of an expression."""
        raise NotImplementedError

    def tensor(self, text: str, origin: str, line: int, **kw: Any) -> Tensor:
        made = Tensor(self.fresh_number(), text, origin, line, **kw)
        if origin == "copy":
            self.copies.append(made)
        return made

    def fresh_number(self) -> int:
        self._count += 1
        return self._count

    def given(self, text: str, line: int, **kw: Any) -> Tensor:
        """A tensor (if it is one) of which nothing is known but how it is written."""
        return self.tensor(text, "given", line, guessed=True, **kw)

    def questions(self) -> Questions:
        return Questions(self.state.known, self.asked, self.innermost, {}, self.claimed, self.objects)

    def stride_of(self, t: Tensor, k: int) -> StrideOf:
        self.has_dimension(t, k)
        return StrideOf(t, k, self.state.known)

    def size_of(self, t: Tensor, k: int) -> SizeOf:
        self.has_dimension(t, k)
        return SizeOf(t, k)

    def has_dimension(self, t: Tensor, k: int) -> None:
        """The host code asks for dimension ``k`` of ``t``: it has so many at least.

        Where the number of dimensions is known, the question adds nothing, and may be that of one branch.
        """
        if self.questions().rank(t) is not None:
            return
        highest = k if k >= 0 else -k - 1
        self.asked[t.number] = max(self.asked.get(t.number, highest), highest)

    def length(self, value: Value) -> int | None:
        """How many elements a shape, a tuple or the strides of a tensor have; None where not known."""
        if isinstance(value, Items):
            lengths = [self.length(i.value) if isinstance(i, Star) else 1 for i in value.items]
            return None if None in lengths else sum(n or 0 for n in lengths)
        if isinstance(value, (ShapeOf, StridesOf)):
            return self.questions().rank(value.tensor)
        return None

    def elements(self, value: Value, count: int | None) -> tuple[Value, ...] | None:
        """The elements of a sequence, of which there are ``count`` where that is said."""
        if isinstance(value, (ShapeOf, StridesOf)):
            t = value.tensor
            rank = self.questions().rank(t)
            if rank is None and count is not None:
                self.state.learn(t, Facts(rank=count))
            number = count if count is not None else rank
            if number is None:
                return None
            if isinstance(value, ShapeOf):
                return tuple(SizeOf(t, k) for k in range(number))
            return tuple(self.stride_of(t, k) for k in range(number))
        if isinstance(value, Each) and count is not None:
            return tuple(self.again(value.element) for _ in range(count))
        if isinstance(value, Items):
            return self._spread(value, count)
        if isinstance(value, Choice) and count is not None:
            columns = [self.elements(o, count) for o in value.options]
            if all(c is not None for c in columns):
                return tuple(self.choice(parts) for parts in zip(*(c or () for c in columns), strict=True))
        return None

    def _spread(self, value: Items, count: int | None) -> tuple[Value, ...] | None:
        """A tuple with its starred parts written out."""
        stars = [i for i in value.items if isinstance(i, Star)]
        open_ones = [s for s in stars if self.length(s.value) is None]
        if len(open_ones) > 1 or (open_ones and count is None):
            return None
        left = None
        if count is not None:
            taken = sum(1 if not isinstance(i, Star) else self.length(i.value) or 0 for i in value.items)
            left = count - taken
            if left < 0 or (left and not open_ones):
                return None
        out: list[Value] = []
        for item in value.items:
            if not isinstance(item, Star):
                out.append(item)
                continue
            inner = self.elements(item.value, left if item in open_ones else None)
            if inner is None:
                inner = (Unknown("a starred value"),) * (left or 0)
            out += inner
        return tuple(out)

    def again(self, value: Value) -> Value:
        """Another object like ``value``: two parts of a chunked tensor are not the same tensor."""
        if isinstance(value, Tensor):
            return replace(value, number=self.fresh_number())
        return value

    def choice(self, values: tuple[Value, ...]) -> Value:
        """One of ``values``, by a condition that is not known."""
        flat: list[Value] = []
        for v in values:
            flat += v.options if isinstance(v, Choice) else (v,)
        different = list(dict.fromkeys(flat))
        if len(different) == 1:
            return different[0]
        if all(isinstance(v, Tensor) for v in different):
            return self.joined([(v, self.state.known) for v in different if isinstance(v, Tensor)])
        if len(different) > MOST_OPTIONS:
            return Unknown("too many branches")
        return Choice(tuple(different))

    def joined(self, arms: list[tuple[Tensor, Any]]) -> Value:
        if len(arms) > MOST_OPTIONS:
            return self.given(arms[0][0].text, arms[0][0].line)
        first = arms[0][0]
        return self.tensor(first.text, "join", first.line, arms=tuple(arms),
                           guessed=all(t.guessed for t, _ in arms))  # fmt: skip

    def bind(self, target: ast.expr, value: Value) -> None:
        """Assigns a value to a name, an attribute or the names of a tuple."""
        if isinstance(target, (ast.Name, ast.Attribute)):
            path = dotted(target)
            if isinstance(value, Tensor) and value.text == SAVED:
                value.text = path
            if path:
                self.forget(path)
                self.state.names[path] = value
        elif isinstance(target, (ast.Tuple, ast.List)):
            star = next((k for k, e in enumerate(target.elts) if isinstance(e, ast.Starred)), None)
            spread = self.elements(value, len(target.elts) if star is None else None)
            if star is not None and spread is not None:
                tail = len(target.elts) - star - 1
                middle = Items(spread[star : len(spread) - tail])
                spread = (*spread[:star], middle, *spread[len(spread) - tail :])
            for k, element in enumerate(target.elts):
                inner = element.value if isinstance(element, ast.Starred) else element
                if spread is not None and k < len(spread):
                    self.bind(inner, spread[k])
                else:
                    self.bind(inner, self.given(self.text(inner), inner.lineno))
        elif isinstance(target, ast.Subscript):
            base, key = target.value, target.slice
            held = self.state.names.get(dotted(base)) if dotted(base) else None
            if isinstance(held, Table) and isinstance(key, ast.Constant) and isinstance(key.value, str):
                self.state.names[dotted(base)] = Table({**held.items, key.value: value}, held.complete)
            elif isinstance(held, (Items, Each, ShapeOf, StridesOf, Choice, Table)):
                self.state.names[dotted(base)] = self._replaced(held, integer(self.expr(key)), value)

    def _replaced(self, held: Value, k: int | None, value: Value) -> Value:
        """A list in which one element was assigned."""
        spread = self.elements(held, None)
        if spread is None or k is None or not -len(spread) <= k < len(spread):
            return Unknown("a list that is changed")
        changed = list(spread)
        changed[k] = value
        return Items(tuple(changed))

    def forget(self, path: str) -> None:
        """``path`` is assigned anew: what was known of its attributes is gone."""
        for name in [n for n in self.state.names if n.startswith(path + ".")]:
            del self.state.names[name]
