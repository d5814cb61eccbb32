"""The offset algebra against plain integers: what it simplifies has the same value for every assignment.

Random values (sums, products, quotients, remainders, comparisons, choices, extremes) are built with the
algebra and beside it with Python's integers; both must agree wherever the atoms lie within what the algebra
may assume of them: lanes in [0, extent), program ids not negative, parameters positive, data anything.
"""

import random
from itertools import pairwise, product

import pytest

from coalesce_lint.index import ranges, steps
from coalesce_lint.index.normalize import Normalizer
from coalesce_lint.index.poly import ONE, ZERO, Atom, Poly, divide, exact_quotient, number, of_atom
from coalesce_lint.index.terms import Algebra

CASES = 3000
ASSIGNMENTS = 12
EXTENTS = (2, 4, 6, 16)


def quotient(x: int, c: int, mode: str) -> int:
    if mode == "floor":
        return x // c
    size = abs(x) // abs(c)
    return size if (x >= 0) == (c > 0) else -size


def value(p: Poly, at: dict[Atom, int]) -> int:
    """The number that a polynomial is where its leaves are those of ``at``."""
    total = 0
    for m, c in p.terms.items():
        for a in m:
            c *= _atom_value(a, at)
        total += c
    return total


def _atom_value(a: Atom, at: dict[Atom, int]) -> int:
    if a in at:
        return at[a]
    args = [None if x is None else value(x, at) for x in a.args]
    if a.kind == "div":
        return quotient(args[0], args[1], a.attr)
    if a.kind == "cmp":
        return int(args[0] < args[1] if a.attr == "less" else args[0] == 0)
    if a.kind == "select":
        return args[1] if args[0] else args[2]
    assert a.kind == "extreme"
    return min(args) if a.attr == "min" else max(args)


class Undefined(Exception):
    """A division by zero under the assignment at hand."""


class Maker:
    """Makes random values of one algebra, each as a polynomial and as the function that it stands for."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self.algebra = Algebra()
        a = self.algebra
        self.n = a.leaf("param", "n", nonneg=True)
        self.pid = a.leaf("pid", 0, nonneg=True)
        self.data = a.free("data", "data", (), data=True)
        self.lanes = [a.lane(0, number(rng.choice(EXTENTS))), a.lane(1, of_atom(self.n))]
        self.leaves = [self.n, self.pid, self.data, *self.lanes]

    def assignment(self) -> dict[Atom, int]:
        n = self.rng.choice((1, 2, 3, 4, 6, 9))
        return {
            self.n: n,
            self.pid: self.rng.randrange(0, 9),
            self.data: self.rng.randrange(-9, 10),
            self.lanes[0]: self.rng.randrange(self.lanes[0].args[0].constant),
            self.lanes[1]: self.rng.randrange(n),
        }

    def make(self, depth: int):
        """(polynomial, function from an assignment to its value)."""
        kind = self.rng.choice(KINDS) if depth else "leaf"
        if kind == "leaf":
            if self.rng.random() < 0.25:
                k = self.rng.randrange(-7, 8)
                return number(k), lambda at: k
            leaf = self.rng.choice(self.leaves)
            return of_atom(leaf), lambda at: at[leaf]
        if kind == "nested":
            return self.nested()
        p, f = self.make(depth - 1)
        q, g = self.divisor() if kind in ("div", "mod") else self.make(self.rng.randrange(depth))
        mode = self.rng.choice(("floor", "trunc"))
        if kind == "div":
            return self.algebra.div(p, q, mode), lambda at: quotient(f(at), g(at), mode)
        if kind == "mod":
            return self.algebra.mod(p, q, mode), lambda at: f(at) - g(at) * quotient(f(at), g(at), mode)
        if kind == "sum":
            k = self.rng.choice((-8, -3, -1, 1, 1, 2, 4, 12))
            return p.scale(k) + q, lambda at: k * f(at) + g(at)
        if kind == "product":
            return p * q, lambda at: f(at) * g(at)
        if kind == "less":
            return self.algebra.less(p, q), lambda at: int(f(at) < g(at))
        if kind == "equal":
            return self.algebra.equal(p, q), lambda at: int(f(at) == g(at))
        if kind == "choose":
            cond, holds = self.condition()
            return self.algebra.choose(cond, None, p, q), lambda at: f(at) if holds(at) else g(at)
        op, function = self.rng.choice((("min", min), ("max", max)))
        return self.algebra.extreme(op, p, q), lambda at: function(f(at), g(at))

    def nested(self):
        """A quotient of a quotient and something more, and one whose factors can be cancelled."""
        rng = self.rng
        leaf, other = rng.sample(self.leaves, 2)
        k, b, c = rng.choice((-3, -1, 1, 2)), rng.randrange(-4, 5), rng.randrange(2, 7)
        a, mode = rng.randrange(2, 7), rng.choice(("floor", "trunc"))
        if rng.random() < 0.5:
            inner = self.algebra.div(of_atom(leaf).scale(k), number(a), mode)
            return self.algebra.div(inner + number(b), number(c), mode), lambda at: quotient(
                quotient(k * at[leaf], a, mode) + b, c, mode
            )
        top = of_atom(leaf).scale(a * abs(k)) + of_atom(other)
        return self.algebra.div(top, number(a * c), mode), lambda at: quotient(
            a * abs(k) * at[leaf] + at[other], a * c, mode
        )

    def split(self) -> Poly:
        """Quotients and remainders of a lane, put together as kernels do."""
        rng, a = self.rng, self.algebra
        lane, pid = of_atom(self.lanes[0]), of_atom(self.pid)
        p = lane.scale(rng.choice((1, 1, 1, 2, 3, 4, -1))) + pid.scale(rng.choice((0, 0, 4, 16)))
        for _ in range(rng.choice((0, 1, 1, 2))):
            c = number(rng.choice((2, 3, 4, 6, 8, -4)))
            mode = rng.choice(("floor", "trunc"))
            p = a.div(p, c, mode) if rng.random() < 0.5 else a.mod(p, c, mode)
            p = p.scale(rng.choice((1, 1, 2, 5))) + number(rng.choice((0, 0, 1, 3)))
            if rng.random() < 0.3:
                p = p + lane.scale(rng.choice((1, 2, 4)))
        return p

    def divisor(self):
        k = self.rng.choice((2, 3, 4, 4, 6, 8, 12, -4))
        choice = self.rng.randrange(4)
        n = self.n
        if choice == 0:
            return of_atom(n), lambda at: at[n]
        if choice == 1:
            return of_atom(n).scale(abs(k)), lambda at: at[n] * abs(k)
        return number(k), lambda at: k

    def condition(self):
        p, f = self.make(1)
        q, g = self.make(1)
        return self.algebra.less(p, q), lambda at: f(at) < g(at)


KINDS = ("sum", "sum", "sum", "product", "div", "div", "nested", "mod", "less", "equal", "choose", "extreme")


@pytest.mark.parametrize("batch", range(6))
def test_a_value_is_what_it_was_made_of(batch):
    for seed in range(batch * CASES // 6, (batch + 1) * CASES // 6):
        rng = random.Random(seed)
        maker = Maker(rng)
        p, f = maker.make(rng.choice((1, 2, 3, 4)))
        for _ in range(ASSIGNMENTS):
            at = maker.assignment()
            assert value(p, at) == f(at), (seed, p, at)


def test_signs_and_bounds_hold():
    proved = bounded = 0
    for seed in range(CASES):
        rng = random.Random(seed)
        maker = Maker(rng)
        p, _ = maker.make(rng.choice((1, 2, 3)))
        high = ranges.upper(maker.algebra, p)
        positive = ranges.nonneg(maker.algebra, p)
        proved, bounded = proved + positive, bounded + (high is not None)
        for _ in range(ASSIGNMENTS):
            at = maker.assignment()
            assert not positive or value(p, at) >= 0, (seed, p, at)
            assert high is None or value(p, at) <= value(high, at), (seed, p, high, at)
    assert proved > CASES // 10
    assert bounded > CASES // 3


def test_a_division_term_by_term_leaves_what_it_says():
    for seed in range(CASES):
        rng = random.Random(seed)
        maker = Maker(rng)
        p, _ = maker.make(2)
        c, _ = maker.divisor()
        q, r = divide(p, c)
        assert q * c + r == p
        whole = exact_quotient(p, c)
        assert (whole is not None) == (not r.terms)
        if whole is not None:
            assert whole * c == p


def test_an_image_of_a_lane_is_put_into_every_term():
    for seed in range(CASES // 3):
        rng = random.Random(seed)
        maker = Maker(rng)
        p, f = maker.make(3)
        lane = maker.lanes[0]
        for k in range(lane.args[0].constant):
            moved = maker.algebra.rebuild(p, {lane: number(k)})
            at = {**maker.assignment(), lane: k}
            assert value(moved, at) == f(at), (seed, p, k, at)


def test_regular_steps_are_the_differences():
    """Every difference is the stride; where there are repeats and jumps, at the distances that are told."""
    plain = repeated = jumped = 0
    for seed in range(CASES):
        rng = random.Random(seed)
        maker = Maker(rng)
        n = Normalizer()
        n.algebra = maker.algebra
        lane = maker.lanes[0]
        p = maker.split()
        s = steps.along(n, p, 0)
        for _ in range(3):
            at = maker.assignment()
            row = [value(p, {**at, lane: k}) for k in range(lane.args[0].constant)]
            if s.kind == "none":
                assert len(set(row)) == 1, (seed, p, at)
            if s.kind != "regular" or s.turned:
                continue
            stride, repeat = value(s.stride, at), value(s.repeat, at)
            periods = [value(j.period, at) for j in s.jumps]
            moved = [b - a for a, b in pairwise(row)]
            told = (seed, p, at, moved, s)
            if repeat > 1 and not periods:
                places = [k for k, d in enumerate(moved) if d]
                assert {moved[k] for k in places} <= {stride}, told
                assert all(b - a == repeat for a, b in pairwise(places)), told
                repeated += 1
            elif not periods:
                assert set(moved) == {stride}, told
                plain += 1
            elif len(periods) == 1 and repeat == 1 and periods[0] > 1:
                breaks = [k for k, d in enumerate(moved) if d != stride]
                assert all(b - a >= periods[0] for a, b in pairwise(breaks)), told
                jumped += 1
    assert min(plain, repeated, jumped) > CASES // 10


@pytest.mark.parametrize(("x", "c"), list(product((-9, -7, -1, 0, 1, 7, 9), (-4, -2, 2, 3, 4))))
def test_numbers_divide_as_the_language_does(x, c):
    a = Algebra()
    for mode in ("floor", "trunc"):
        assert a.div(number(x), number(c), mode) == number(quotient(x, c, mode))
        assert a.mod(number(x), number(c), mode) == number(x - c * quotient(x, c, mode))


def test_a_split_index_is_put_together_again():
    a = Algebra()
    lane = of_atom(a.lane(0, number(128)))
    for k in (3, 4, 7):
        high, low = a.div(lane, number(k), "trunc"), a.mod(lane, number(k), "trunc")
        assert high.scale(k) + low == lane
    assert a.div(lane, number(128), "trunc") == ZERO
    assert a.less(lane, ZERO) == ZERO
    assert a.less(ZERO, lane + ONE) == ONE
