"""Whether ``tl.multiple_of``, ``tl.max_contiguous`` and ``tl.max_constancy`` say what is so.

The compiler believes all three unchecked. What they mean is what ``AxisInfo`` makes of them: along an axis,
max_contiguous(v): aligned groups of v elements count up by one; max_constancy(v): they are equal;
multiple_of(v): the first element of every run is a multiple of v, a run being what counts up by one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from coalesce_lint.access import Hint, Place
from coalesce_lint.index import steps
from coalesce_lint.index.carried import Resolver
from coalesce_lint.index.nodes import Node
from coalesce_lint.index.normalize import Normalizer
from coalesce_lint.index.poly import ONE, Atom, Poly, TooLarge, exact_quotient
from coalesce_lint.index.render import Renderer

Answer = tuple[str, str]  #: verdict and reason
LONGEST = 60  #: characters of an expression in a reason


class HintReader:
    """Judges the hints of one kernel. ``divisors``: what the kernel promises of parameters
    (``p % 16 == 0``)."""

    def __init__(
        self, n: Normalizer, resolve: Resolver, render: Renderer, divisors: Mapping[str, int]
    ) -> None:
        self.n = n
        self.resolve = resolve
        self.render = render
        self.divisors = divisors
        self.loops: dict[object, Node] = {}

    def hints(self, nodes: Iterable[Node]) -> Iterator[Hint]:
        """The hints among ``nodes``, each place and answer once."""
        seen = set()
        nodes = list(nodes)
        self.loops = {node.attr: node for node in nodes if node.op == "loopvar"}
        for node in nodes:
            if node.op != "hint" or node.pos is None:
                continue
            self.n.algebra.refuel()
            try:
                answer = self._judge(node)
            except (TooLarge, RecursionError):
                answer = "unproven", "the expression is too large"
            path, line, column = node.pos[:3]
            key = (path, line, column, *answer)
            if key not in seen:
                seen.add(key)
                yield Hint(Place(path, line, column, line, column), node.attr[0], *answer)

    def _judge(self, node: Node) -> Answer:
        """The worst answer over the axes."""
        kind, given = node.attr
        items = getattr(given, "items", None)
        values = [self.resolve(self.n(v)) for v in (items if isinstance(items, list) else [given])]
        p = self.resolve(self.n(node.args[0]))
        if kind == "multiple_of":
            answers = [self._multiple(p, v, node) for v in values[-1:]]
        else:
            rank = len(node.shape or ())
            one = self._contiguous if kind == "max_contiguous" else self._constant
            answers = [one(p, axis, v) for axis, v in zip(range(rank), values, strict=False) if v != ONE]
        return min(answers, key=lambda a: _RANK[a[0]], default=("proved", ""))

    # -- one axis

    def _contiguous(self, p: Poly, axis: int, v: Poly) -> Answer:
        moves = steps.along(self.n, p, axis)
        if moves.kind == "none":
            return "refuted", "the value does not change along the axis"
        if moves.kind != "regular":
            return "unproven", str(moves.reason) if moves.reason else "the lanes' values are loaded"
        if moves.stride != ONE or moves.repeat != ONE:
            constant = moves.stride.constant is not None and moves.repeat.constant is not None
            text = f"neighbours are {self.render.text(moves.stride)} apart"
            if moves.repeat != ONE:
                text = f"{self.render.text(moves.repeat)} neighbours share a value"
            return ("refuted" if constant and not moves.jumps else "unproven"), text
        return self._unbroken(moves, v)

    def _unbroken(self, moves: steps.Steps, v: Poly) -> Answer:
        """Whether no jump falls into a group of ``v``."""
        for jump in moves.jumps:
            period = jump.wrap if jump.wrap is not None else jump.period
            if exact_quotient(period, v) is None:
                text = self.render.text
                return "unproven", f"{text(period)} need not be a multiple of {text(v)}"
        return ("unproven", "a division may change its sign") if moves.turned else ("proved", "")

    def _constant(self, p: Poly, axis: int, v: Poly) -> Answer:
        moves = steps.along(self.n, p, axis)
        if moves.kind == "none":
            return "proved", ""
        if moves.kind == "regular" and not moves.jumps and moves.stride.constant:
            if exact_quotient(moves.repeat, v) is not None:
                return "proved", ""
            if moves.repeat == ONE:
                return "refuted", f"neighbours are {self.render.text(moves.stride)} apart"
        return "unproven", "neighbours need not be equal"

    # -- divisibility

    def _multiple(self, p: Poly, v: Poly, node: Node) -> Answer:
        """Every first element of a run a multiple of ``v``: lanes of runs are taken as 0."""
        wrapped = ""
        for axis in range(len(node.shape or ())):
            moves = steps.along(self.n, p, axis)
            if moves.kind == "regular" and moves.stride == ONE and moves.repeat == ONE:
                if moves.jumps:
                    answer = self._unbroken(moves, v)
                    wrapped = wrapped or answer[1]
                p = Poly({m: c for m, c in p.terms.items() if not _only_lane(m, axis)})
        if wrapped:
            return "unproven", wrapped
        rest = [(m, c) for m, c in p.terms.items() if not self._is_multiple(m, c, v)]
        if not rest:
            return "proved", ""
        text = self.render.text
        odd = self._never(rest, p, v)
        if odd is not None:
            return "refuted", f"{odd} is no multiple of {text(v)}"
        first = text(Poly(dict(rest[:1])))
        if len(first) > LONGEST:
            first = "an expression in it"
        return "unproven", f"{first} need not be a multiple of {text(v)}"

    def _is_multiple(self, m: tuple[Atom, ...], c: int, v: Poly) -> bool:
        term = Poly({m: c})
        if exact_quotient(term, v) is not None:
            return True
        for k, atom in enumerate(m):
            if atom.kind == "loopvar" and atom.attr in self.loops:
                # from a multiple on by multiples
                rest = Poly({(*m[:k], *m[k + 1 :]): c})
                start, _, step = self.loops[atom.attr].args
                ends = [rest * self.resolve(self.n(x)) for x in (start, step)]
                return all(self._is_multiple(n, d, v) for e in ends for n, d in e.terms.items())
        if v.constant:
            known = abs(c)
            for atom in m:
                known *= self.divisors.get(atom.attr.name, 1) if atom.kind == "param" else 1
            return known % v.constant == 0
        return False

    def _never(self, rest: list[tuple[tuple[Atom, ...], int]], p: Poly, v: Poly) -> str | None:
        """A value that the hinted one takes although it is no multiple of ``v``; None where none is sure.

        The first program's lanes are looked at: program ids are 0 there, and a lane is 0 or 1.
        """
        if not v.constant:
            return None
        lanes = {a for m, _ in rest for a in m if a.kind == "lane"}
        for chosen in [None, *sorted(lanes)]:
            value: int | None = 0
            for m, c in p.terms.items():
                if any(a.kind == "pid" or (a.kind == "lane" and a is not chosen) for a in m):
                    continue
                if any(a is not chosen for a in m):
                    value = None
                    break
                value = (value or 0) + c
            if value is not None and value % v.constant:
                return str(value)
        return None


_RANK = {"refuted": 0, "unproven": 1, "proved": 2}


def _only_lane(m: tuple[Atom, ...], axis: int) -> bool:
    return len(m) == 1 and m[0].kind == "lane" and axis in m[0].lanes
