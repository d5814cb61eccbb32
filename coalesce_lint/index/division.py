"""Floor division and modulo in the offset algebra, simplified where bounds prove it.

Triton's ``//`` on tensors truncates and its ``%`` follows it, Python's (and sympy's) round down. Both agree
where the dividend is not negative, so a division keeps its mode ("trunc" or "floor") until that is proved.
``x % c`` is written ``x - c*(x // c)``, an identity in both modes, so that splits of an index cancel by
themselves when they are put together again.
"""

from __future__ import annotations

from coalesce_lint.index import ranges
from coalesce_lint.index.atoms import Atoms
from coalesce_lint.index.poly import ONE, ZERO, Poly, divide, exact_quotient, number, of_atom
from coalesce_lint.reasons import Reason

#: Dividends of more terms are not looked at twice: the proof would cost more than it brings.
_FEW = 6


class Division(Atoms):
    """Quotients and remainders."""

    def div(self, x: Poly, c: Poly, mode: str) -> Poly:
        """x // c. ``mode`` is "trunc" for tensors and runtime scalars, "floor" for Python integers."""
        self.burn(10 + len(x.terms))
        k = c.constant
        if k == 1:
            return x
        if c.terms and all(v < 0 for v in c.terms.values()):
            return self.div(-x, -c, mode)  # both modes divide the same quotient
        if k == 0:
            return of_atom(self.leaf("opaque", ("division by zero", x), reason=Reason.DIVISION_BY_ZERO.why))
        n = x.constant
        if n is not None and k is not None:
            size = abs(n) // abs(k)
            same = (n >= 0) == (k > 0)
            return number((size if same else -size) if mode == "trunc" else n // k)
        if not x.terms:
            return ZERO
        whole = exact_quotient(x, c)
        if whole is not None:
            return whole
        positive = k > 0 if k is not None else ranges.nonneg(self, c)
        if not positive:
            return of_atom(self._compound("div", mode, (x, c)))
        if mode == "trunc" and ranges.nonneg(self, x):
            mode = "floor"
        if mode == "trunc" and len(x.terms) <= _FEW and self._below(x, c) and self._below(-x, c):
            return ZERO
        if mode == "floor":
            q, r = divide(x, c)
            # floor((q*c + r) / c) = q + floor(r / c); r is kept free of multiples of c
            if q.terms:
                return q + self.div(r, c, mode)
            r_low, r_high = ranges.nonneg(self, r), ranges.upper(self, r)
            if r_low and r_high is not None and ranges.nonneg(self, c - ONE - r_high):
                return ZERO
        return self._div_atom(x, c, mode)

    def _below(self, x: Poly, c: Poly) -> bool:
        """True where x < c is sure."""
        top = ranges.upper(self, x)
        return top is not None and ranges.nonneg(self, c - ONE - top)

    def _div_atom(self, x: Poly, c: Poly, mode: str) -> Poly:
        x, c = self._merge_nested(x, c, mode)
        x, c = self._cancel_common(x, c, mode)
        if c.constant == 1:
            return x
        atom = self._compound("div", mode, (x, c))
        if mode == "floor" and not atom.nonneg:
            atom.nonneg = ranges.nonneg(self, x)
        if mode == "floor" and atom not in self.digits:
            self.digits[atom] = [(x - c * of_atom(atom), c)] if ranges.nonneg(self, x) else []
        return of_atom(atom)

    def _merge_nested(self, x: Poly, c: Poly, mode: str) -> tuple[Poly, Poly]:
        """(x // a + b) // c = (x + a*b) // (a*c): floor always, trunc where b = 0."""
        inner = [(m, v) for m, v in x.terms.items() if len(m) == 1 and m[0].kind == "div" and v == 1]
        if len(inner) != 1:
            return x, c
        atom = inner[0][0][0]
        rest = x - of_atom(atom)
        y, a = atom.args
        if atom.attr != mode or (rest.terms and mode != "floor"):
            return x, c
        if any(b.lanes for b in rest.atoms()):
            return x, c
        if not ranges.nonneg(self, a):
            return x, c
        return self._merge_nested(y + a * rest, a * c, mode)

    def _cancel_common(self, x: Poly, c: Poly, mode: str) -> tuple[Poly, Poly]:
        """(g*y + r) // (g*d) = (y + r//g) // d where 0 <= r < g, g a number."""
        one = c.single()
        if one is None or abs(one[1]) == 1:
            return x, c
        k = one[1]
        best = 1
        for g in _divisors(k):
            q = Poly({m: v // g for m, v in x.terms.items() if v % g == 0})
            r = Poly({m: v for m, v in x.terms.items() if v % g})
            if not q.terms or g <= best:
                continue
            if not r.terms:
                best = g
                continue
            high = ranges.upper(self, r)
            if (
                mode == "floor"
                and ranges.nonneg(self, r)
                and high is not None
                and ranges.nonneg(self, number(g - 1) - high)
            ):
                best = g
        if best == 1:
            return x, c
        q = Poly({m: v // best for m, v in x.terms.items() if v % best == 0})
        return q, Poly({one[0]: k // best})

    def mod(self, x: Poly, c: Poly, mode: str) -> Poly:
        """x % c = x - c*(x // c), remembered as a digit 0 <= digit < c where that holds."""
        q = self.div(x, c, mode)
        out = x - c * q
        if (mode == "floor" or ranges.nonneg(self, x)) and ranges.nonneg(self, c):
            for m, v in out.terms.items():
                for a in m if v < 0 else ():
                    known = self.digits.setdefault(a, []) if a.kind == "div" else None
                    if known is not None and (out, c) not in known and len(known) < 6:
                        known.append((out, c))
        return out


def _divisors(k: int) -> list[int]:
    k = abs(k)
    out, d = [], 2
    while d <= k and d <= 4096:
        if k % d == 0:
            out.append(d)
        d += 1
    if k > 4096:
        out.append(k)
    return out
