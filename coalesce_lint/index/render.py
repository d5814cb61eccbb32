"""Polynomials as text, through sympy: digits folded back to ``%``, common factors taken out.

Names: lanes are ``i0, i1, ...`` by axis, program ids ``pid0, pid1, ...``, loop variables and parameters their
own.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import sympy
from sympy.printing.str import StrPrinter

from coalesce_lint.index.poly import Atom, Poly, TooLarge, exact_quotient, of_atom
from coalesce_lint.index.terms import Algebra

_FACTOR_LIMIT = 12
#: Terms of more symbols than this get a name of their own.
_LONGEST = 300
_COMPOUND = frozenset(("div", "cmp", "select", "extreme"))


class FloorDiv(sympy.Function):
    """``a // b``, printed as Python writes it."""

    nargs = 2


class Modulo(sympy.Function):
    """``a % b``, printed as Python writes it."""

    nargs = 2


class Less(sympy.Function):
    """``a < b`` as a number, 0 or 1."""

    nargs = 2


class Equal(sympy.Function):
    """``a == b`` as a number, 0 or 1."""

    nargs = 2


class _Printer(StrPrinter):
    def _operand(self, e: Any) -> str:
        text = self._print(e)
        return (
            text
            if e.is_Atom or (e.is_Function and not isinstance(e, (FloorDiv, Modulo, Less, Equal)))
            else f"({text})"
        )

    def _print_FloorDiv(self, e: Any) -> str:
        return f"({self._operand(e.args[0])}//{self._operand(e.args[1])})"

    def _print_Modulo(self, e: Any) -> str:
        return f"({self._operand(e.args[0])} % {self._operand(e.args[1])})"

    def _print_Less(self, e: Any) -> str:
        return f"({self._operand(e.args[0])} < {self._operand(e.args[1])})"

    def _print_Equal(self, e: Any) -> str:
        return f"({self._operand(e.args[0])} == {self._operand(e.args[1])})"


_PRINTER = _Printer({"order": "none"})


@lru_cache(maxsize=4096)
def _symbol(name: str) -> sympy.Symbol:
    return sympy.Symbol(name, integer=True)


class Renderer:
    """Prints the polynomials of one kernel."""

    def __init__(self, algebra: Algebra) -> None:
        self.algebra = algebra
        self._names: dict[str, int] = {}
        self._loops: dict[Any, str] = {}
        self._memo: dict[Poly, str] = {}
        self._exprs: dict[Poly, Any] = {}
        self._sizes: dict[Poly, int] = {}

    def text(self, p: Poly) -> str:
        """The polynomial as a Python expression."""
        if p not in self._memo:
            k = p.constant
            a = p.single_atom()
            if k is not None:
                self._memo[p] = str(k)
            elif a is not None and a.kind not in _COMPOUND:
                self._memo[p] = self.name(a)
            elif (plain := self._plain_product(p)) is not None:
                self._memo[p] = plain
            else:
                text = _PRINTER.doprint(self.expression(p))
                if text.startswith("(") and text.endswith(")") and _balanced(text[1:-1]):
                    text = text[1:-1]
                self._memo[p] = text
        return self._memo[p]

    def _plain_product(self, p: Poly) -> str | None:
        """A product of symbols, which needs no sympy."""
        one = p.single()
        if one is None or len(set(one[0])) < len(one[0]) or any(a.kind in _COMPOUND for a in one[0]):
            return None
        names = [self.name(a) for a in one[0]]
        sign = {1: [], -1: ["-"]}.get(one[1])
        return "".join(sign) + "*".join(names) if sign is not None else "*".join([str(one[1]), *names])

    def expression(self, p: Poly) -> Any:
        """The polynomial as a sympy expression, digits folded and factored where it is small."""
        if p not in self._exprs:
            rest, digits = self._digits(p)
            terms = [self._product(m, c) for m, c in sorted(rest.terms.items(), key=_term_order)]
            terms += digits
            e = sympy.Add(*terms)
            if 1 < len(rest.terms) <= _FACTOR_LIMIT:
                e = _factored(e)
            self._exprs[p] = e
        return self._exprs[p]

    def _product(self, m: tuple[Atom, ...], c: int) -> Any:
        return sympy.Mul(sympy.Integer(c), *(self._atom(a) for a in m))

    def _digits(self, p: Poly) -> tuple[Poly, list[Any]]:
        """p = rest + multiples of digits ``x % c``."""
        found: list[Any] = []
        for _ in range(6):
            try:
                step = self._one_digit(p)
            except TooLarge:
                break  # products of the parts are longer than a polynomial may be: shown as they are
            if step is None:
                break
            p, term = step
            found.append(term)
        return p, found

    def _one_digit(self, p: Poly) -> tuple[Poly, Any] | None:
        for m, c in p.terms.items():
            if c > 0:
                continue
            for a in m:
                if a.kind != "div":
                    continue
                x, modulus = a.args
                digit = x - modulus * of_atom(a)
                known = [(digit, x, modulus)]
                for d, dc in self.algebra.digits.get(a, ()):
                    known.append((d, None, dc))
                for d, value, dc in known:
                    for dm, dv in d.terms.items():
                        k = exact_quotient(Poly({m: c}), Poly({dm: dv})) if dv < 0 else None
                        if k is None or any(v < 0 for v in k.terms.values()):
                            continue
                        rest = p - k * d
                        if len(rest.terms) <= len(p.terms) - len(d.terms):
                            whole = value if value is not None else self._dividend(d, dc)
                            if whole is None:
                                continue
                            return rest, self.expression(k) * Modulo(
                                self.expression(whole), self.expression(dc)
                            )
        return None

    def _dividend(self, digit: Poly, modulus: Poly) -> Poly | None:
        """x of the digit x - modulus * q, where the part with the modulus is exactly the negative terms."""
        negative = Poly({m: v for m, v in digit.terms.items() if v < 0})
        if exact_quotient(negative, modulus) is None:
            return None
        return digit - negative

    def _size(self, p: Poly) -> int:
        """How many symbols the polynomial has when written out."""
        if p not in self._sizes:
            self._sizes[p] = 1
            self._sizes[p] = sum(
                1 + sum(self._size(x) for x in a.args if isinstance(x, Poly))
                for m in p.terms
                for a in m
                if a.kind != "lane"
            )
        return self._sizes[p]

    def _atom(self, a: Atom) -> Any:
        if a.kind in _COMPOUND and sum(self._size(x) for x in a.args if isinstance(x, Poly)) > _LONGEST:
            return _symbol(self._numbered("value", a))  # shared parts written out grow exponentially
        if a.kind == "div":
            return FloorDiv(self.expression(a.args[0]), self.expression(a.args[1]))
        if a.kind == "extreme":
            name = sympy.Function("min" if a.attr == "min" else "max")
            return name(*(self.expression(x) for x in a.args))
        if a.kind == "select":
            cond, x, y = a.args
            c = _symbol("branch") if cond is None else self.expression(cond)
            return sympy.Function("where")(c, self.expression(x), self.expression(y))
        if a.kind == "cmp" and a.attr == "less":
            return Less(*(self.expression(x) for x in a.args))
        if a.kind == "cmp":
            (d,) = a.args
            left = Poly({m: c for m, c in d.terms.items() if c > 0})
            right = Poly({m: -c for m, c in d.terms.items() if c < 0})
            return Equal(self.expression(left), self.expression(right))
        return _symbol(self.name(a))

    def name(self, a: Atom) -> str:
        """A readable name for a leaf."""
        if a.kind == "lane":
            return f"i{a.attr}"
        if a.kind == "param":
            return a.attr.name
        if a.kind == "pid":
            return f"pid{a.attr}" if isinstance(a.attr, int) and a.attr < 3 else self._numbered("pid", a)
        if a.kind == "npid":
            return (
                f"num_programs{a.attr}"
                if isinstance(a.attr, int) and a.attr < 3
                else self._numbered("npid", a)
            )
        if a.kind in ("loopvar", "iter"):
            if a.kind == "loopvar" and a.attr.variable not in ("", "_"):
                return a.attr.variable
            return f"turn{a.attr.line}"  # the iteration of the loop in that line
        if a.kind == "load":
            return self._numbered("loaded", a)
        if a.kind == "const":
            return str(a.attr).strip("'\"") or "const"
        return self._numbered("value", a)

    def _numbered(self, base: str, a: Atom) -> str:
        key = f"{base}:{a.number}"
        if key not in self._names:
            self._names[key] = sum(k.startswith(base + ":") for k in self._names)
        return f"{base}{self._names[key]}"


def _term_order(item: tuple[tuple[Atom, ...], int]) -> tuple[Any, ...]:
    m, _ = item
    return (len(m) == 0, any(a.lanes for a in m), tuple(a.number for a in m))


def _factored(e: Any) -> Any:
    """Common factors taken out: ``256*n*p + n*i`` becomes ``n*(256*p + i)``."""
    return sympy.factor_terms(e)


def _balanced(text: str) -> bool:
    depth = 0
    for ch in text:
        depth += (ch == "(") - (ch == ")")
        if depth < 0:
            return False
    return depth == 0
