"""Questions about a tensor: the stride of a dimension, whether it is contiguous, and on what ground."""

from __future__ import annotations

from collections.abc import Mapping, Set
from dataclasses import dataclass, field, replace

from coalesce_lint.launches import extents, views
from coalesce_lint.launches.values import NOTHING, Facts, Known, Tensor

#: Views of views and joins of joins are followed so far.
DEEPEST = 24
#: The stride of a dimension of size 1 is never used.
FREE = "a dimension of size 1"
#: Begins the reason where only the dimensions that are asked for say that one is not the last.
GUESSED = "not the highest dimension that is asked for"


@dataclass(frozen=True)
class Stride:
    """What is known of a stride. ``one``: it is 1, is not, or None; ``basis`` "proved" or "assumed"."""

    one: bool | None = None
    basis: str = ""
    why: str = ""
    value: int | None = None  #: in elements, where it is a number


@dataclass
class Questions:
    """Answers about tensors of one host function, under what is ``known`` at one point of it.

    ``asked`` holds the highest dimension whose stride the function asks of a tensor: where nothing says how
    many dimensions it has, that one is taken to be the last. ``innermost`` is the policy: the last dimension
    of a tensor that comes from elsewhere has stride 1.
    """

    known: Known
    asked: Mapping[int, int] = field(default_factory=dict)
    innermost: bool = True
    believed: Known = field(default_factory=dict)  #: what holds for every caller that was found
    claimed: Known = field(default_factory=dict)  #: what the function asserts, if only on some of its paths
    objects: Set[int] = frozenset()  #: numbers of objects with a stride() that are no plain tensors

    def facts(self, tensor: Tensor) -> Facts:
        return self.known.get(tensor.number, NOTHING)

    def under(self, more: Known) -> Questions:
        """The same with what is known at another point of the function, too."""
        if not more or more is self.known:
            return self
        merged = dict(self.known)
        for number, facts in more.items():
            merged[number] = facts.both(merged[number]) if number in merged else facts
        return Questions(merged, self.asked, self.innermost, self.believed, self.claimed, self.objects)

    def rank(self, tensor: Tensor, depth: int = 0) -> int | None:
        """The number of dimensions, None where it is not known."""
        known = self.facts(tensor).rank
        if known is None:
            known = tensor.rank
        if known is not None or depth > DEEPEST:
            return known
        if tensor.origin == "join":
            ranks = {self.under(k).rank(t, depth + 1) for t, k in self._arms(tensor)}
            return ranks.pop() if len(ranks) == 1 else None
        if tensor.parent is None:
            return None
        inner = self.rank(tensor.parent, depth + 1)
        view = tensor.view or ("same",)
        if view[0] == "order":
            return len(view[1])
        if view[0] == "strides":
            return len(view[1])
        if view[0] == "grow":
            return len(view[1]) if view[1] is not None else None
        if inner is None or view[0] == "reform":
            return None
        if view[0] == "new":
            return inner + 1
        if view[0] == "drop":
            return inner - 1
        if view[0] == "items":
            items = views.full(view[1], inner)
            return sum(i != "one" for i in items)
        return inner

    def _arms(self, tensor: Tensor) -> tuple[tuple[Tensor, Known], ...]:
        """The tensors that a "join" may be, each with what is known of it there."""
        arm = self.facts(tensor).arm
        return tensor.arms if arm is None else tensor.arms[arm : arm + 1]

    def contiguous(self, tensor: Tensor, depth: int = 0) -> str | None:
        """Why the tensor is contiguous, None where that is not known."""
        known = self.facts(tensor).contiguous
        if known or depth > DEEPEST:
            return known
        if tensor.origin in ("fresh", "copy"):
            return tensor.why
        if tensor.origin == "join":
            whys = [self.under(k).contiguous(t, depth + 1) for t, k in self._arms(tensor)]
            return whys[0] if whys and all(whys) else None
        if tensor.parent is None:
            return None
        if tensor.origin == "like":
            return self.contiguous(self._dense(tensor.parent), depth + 1)
        if views.keeps_order(tensor.view):
            return self.contiguous(tensor.parent, depth + 1)
        return self._turned_back(tensor, depth)

    def makers(self, tensor: Tensor, depth: int = 0) -> frozenset[str]:
        """The unknown functions that made the tensor of contiguous ones ("" where it is contiguous itself);
        none where it may come from anywhere."""
        if depth > DEEPEST:
            return frozenset()
        if self.contiguous(tensor, depth):
            return frozenset(("",))
        if tensor.origin == "join":
            found = [self.under(k).makers(t, depth + 1) for t, k in self._arms(tensor)]
            return frozenset().union(*found) if all(found) else frozenset()
        if tensor.maker:
            return frozenset((tensor.maker,))
        if tensor.parent is None or not (tensor.origin == "like" or views.keeps_order(tensor.view)):
            return frozenset()
        return self.makers(tensor.parent, depth + 1)

    def _turned_back(self, tensor: Tensor, depth: int) -> str | None:
        """Why the transpose of a transpose is contiguous."""
        parent = tensor.parent
        twice = parent is not None and tensor.view[:1] == parent.view[:1] == ("swap",)
        if not twice or parent is None or parent.parent is None:
            return None
        same = set(tensor.view[1:]) == set(parent.view[1:])
        return self.contiguous(parent.parent, depth + 1) if same else None

    def disordered(self, tensor: Tensor, depth: int = 0) -> tuple[str, str] | None:
        """Why the tensor is not contiguous and the basis of that, None where it may be contiguous."""
        if depth > DEEPEST or self.contiguous(tensor):
            return None
        if tensor.origin == "join":
            found = [self.under(k).disordered(t, depth + 1) for t, k in self._arms(tensor)]
            return found[0] if found and all(found) else None
        if tensor.parent is None:
            return None
        parent = tensor.parent
        if tensor.origin == "like":
            return self.disordered(self._dense(parent), depth + 1)
        if tensor.view[0] in ("same", "new"):
            return self.disordered(parent, depth + 1)
        if self.disordered(parent, depth + 1) is not None:
            return None  # a view of a view may put the order right
        said = views.disorder(tensor.view, self.rank(parent))
        if said is None and tensor.view[0] == "grow" and parent.view[:1] in (("new",), ("items",)):
            wide = parent.view[0] == "new" or "new" in parent.view[1]
            said = "expanded (stride 0)" if wide else None
        if said is None:
            return None
        return said, "proved" if self.contiguous(parent) else "assumed"

    def _dense(self, tensor: Tensor) -> Tensor:
        """The tensor whose order of dimensions ``empty_like`` takes: gaps are closed, the order is kept."""
        while tensor.parent is not None and tensor.view[:1] in (("items",), ("part",), ("drop",), ("grow",)):
            tensor = tensor.parent
        return tensor

    def stride(self, tensor: Tensor, k: int, depth: int = 0) -> Stride:
        """The stride of dimension ``k``."""
        if depth > DEEPEST:
            return Stride(why="not followed further")
        rank = self.rank(tensor)
        if rank is None and k >= 0 and tensor.parent is not None and self.innermost:
            return self._of_guessed_rank(tensor, k, depth)
        last = views.normal(k, rank) == -1
        for dim, said in self.facts(tensor).unit.items():
            if dim == k or views.normal(dim, rank) == views.normal(k, rank):
                return Stride(True, "proved", said, 1)
            if rank is None and self._counted(tensor, dim) == self._counted(tensor, k):
                return Stride(True, "assumed", said, 1)
        why = self.contiguous(tensor)
        if why is not None:
            if last:
                return Stride(True, "proved", why, 1)
            if rank is not None or k < 0:
                outer = f"an outer dimension of a contiguous tensor: {why}"
                return self._of_outer(tensor, k, "proved", outer)
            return self._by_number(tensor, k, "proved", why)
        claim = self._of_claimed(tensor, k, rank)
        if claim is not None:
            return claim
        if tensor.origin == "join":
            return self._joined(tensor, k, depth)
        if tensor.parent is not None:
            return self._of_view(tensor, k, rank, depth)
        if not self.innermost:
            return Stride(why="nothing says what it is")
        if tensor.number in self.objects:
            return Stride(why=f"{tensor.text} is an object of a class that chooses the layout")
        unit = self.facts(tensor).unit
        if unit and (last or (rank is None and k >= self.asked.get(tensor.number, k))):
            return Stride(why="another dimension is known to have stride 1")
        if last:
            return Stride(True, "assumed", f"the last dimension of {tensor.text}", 1)
        if rank is not None or k < 0:
            return Stride(False, "assumed", f"an outer dimension of {tensor.text}")
        return self._by_number(tensor, k, "assumed", f"of {tensor.text}")

    def _counted(self, tensor: Tensor, k: int) -> int:
        """``k`` from the end, where the highest dimension that is asked for is the last."""
        highest = self.asked.get(tensor.number)
        return views.normal(k, None if highest is None else highest + 1)

    def _of_outer(self, tensor: Tensor, k: int, basis: str, why: str) -> Stride:
        """The stride of a dimension that is not the last, of a tensor without gaps."""
        one = extents.all_one_behind(self, tensor, k)
        if one is None or (one and basis != "proved"):  # the last stride of what was reshaped may be another
            return Stride(why=f"the dimensions behind it may be of size 1: {tensor.text}")
        return Stride(one, basis, why, 1 if one else None)

    def _of_claimed(self, tensor: Tensor, k: int, rank: int | None) -> Stride | None:
        """The stride by what the function asserts of the tensor, if only under a switch."""
        facts = self.claimed.get(tensor.number)
        if facts is None or not self.innermost:
            return None
        dims = {views.normal(dim, rank): why for dim, why in facts.unit.items()}
        if len(dims) != 1:
            return None  # each path asserts another: which of them is taken is not known
        ((dim, why),) = dims.items()
        if views.normal(k, rank) == dim:
            return Stride(True, "assumed", why, 1)
        last = views.normal(k, rank) == -1
        return Stride(why="another dimension is asserted to have stride 1") if last else None

    def _by_number(self, tensor: Tensor, k: int, basis: str, why: str) -> Stride:
        """Where the rank is not known: the highest dimension that is asked for is taken to be the last."""
        highest = self.asked.get(tensor.number)
        if not self.innermost or highest is None:
            return Stride(why="the number of dimensions is not known")
        if k >= highest:
            return Stride(True, "assumed", f"the highest dimension that is asked for, {why}", 1)
        return Stride(False, "assumed", f"{GUESSED}, {why}")

    def _of_guessed_rank(self, tensor: Tensor, k: int, depth: int) -> Stride:
        """The stride of a view with as many dimensions as the highest that is asked for."""
        highest = max(self.asked.get(tensor.number, k), k)
        known = self.facts(tensor).with_(rank=highest + 1)
        guess = replace(self, known={**self.known, tensor.number: known}, innermost=True)
        found = guess.stride(tensor, k, depth + 1)
        return replace(found, basis="assumed") if found.basis else found

    def _asking(self, tensor: Tensor, like: Tensor) -> Questions:
        """The same, with what is known of the dimensions of ``like`` said of ``tensor``, too."""
        known, asked = self.known, self.asked
        rank = self.facts(like).rank
        if rank is not None and self.rank(tensor) is None:
            known = {**known, tensor.number: self.facts(tensor).with_(rank=rank)}
        highest = asked.get(like.number)
        if highest is not None and asked.get(tensor.number, -1) < highest:
            asked = {**asked, tensor.number: highest}
        return Questions(known, asked, self.innermost, self.believed, self.claimed, self.objects)

    def _joined(self, tensor: Tensor, k: int, depth: int) -> Stride:
        arms = [(t, self._asking(t, tensor).under(known)) for t, known in self._arms(tensor)]
        return agreed([questions.stride(t, k, depth + 1) for t, questions in arms])

    def _of_view(self, tensor: Tensor, k: int, rank: int | None, depth: int) -> Stride:
        assert tensor.parent is not None
        view = tensor.view or ("same",)
        source = views.source_of(view, k, rank, self.rank(tensor.parent))
        if source is None and view[0] == "reform" and self.innermost:
            return self._of_outer(tensor, k, "assumed", f"an outer dimension of {tensor.text}")
        if source is None:
            return Stride(why=f"the view {tensor.text} is not followed")
        if source[0] == "value":
            value = source[1]
            return Stride(value == 1, "proved", tensor.text, value)
        if source[0] == "free":
            return Stride(why=FREE)
        asking = self._asking(tensor.parent, tensor) if view[0] == "same" else self
        inner = asking.stride(tensor.parent, source[1], depth + 1)
        if source[0] == "step" and inner.one is not None:
            return Stride(False, inner.basis, f"a step of {source[2]}", source[2] if inner.one else None)
        if view[0] == "reform" and inner.one is not True:
            return Stride(why=f"the view {tensor.text} is not followed")
        return inner


def agreed(found: list[Stride]) -> Stride:
    """What holds where any of ``found`` may be the stride."""
    found = [s for s in found if s.why != FREE] or found
    ones = {s.one for s in found}
    if len(ones) != 1 or None in ones:
        return next((s for s in found if s.one is None), Stride(why="1 in one branch, not in another"))
    basis = "proved" if all(s.basis == "proved" for s in found) else "assumed"
    values = {s.value for s in found}
    why = next((s.why for s in found if s.basis == basis), "")
    return Stride(found[0].one, basis, why, values.pop() if len(values) == 1 else None)
