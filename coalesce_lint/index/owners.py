"""Which scalar walks in steps of one beside the lanes: the owner of the unit stride."""

from __future__ import annotations

from coalesce_lint.index.poly import Atom, Monomial, Poly, of_atom


def unit_owner(offset: Poly) -> Poly | None:
    """The scalar term made of program ids and loop variables that has coefficient 1, or None."""
    for m, c in offset.terms.items():
        if abs(c) == 1 and len(m) == 1 and _walks_by_one(m[0]):
            return Poly({m: c, **_rest_of_digit(offset, m[0], c)})
    return None


def _walks_by_one(a: Atom) -> bool:
    """True for program ids, loop variables and what is made of them in steps of one."""
    if not a.walks or a.lanes or a.data:
        return False
    if a.kind in ("pid", "loopvar", "iter", "div"):
        return True
    if a.kind in ("select", "extreme"):
        arms = a.args[1:] if a.kind == "select" else a.args
        return any(unit_owner(arm) is not None for arm in arms)
    return False


def _rest_of_digit(offset: Poly, atom: Atom, sign: int) -> dict[Monomial, int]:
    """The other term of ``pid % n``, which is written ``pid - n * (pid // n)``."""
    for m, c in offset.terms.items():
        for a in m:
            if (
                a.kind == "div"
                and a.args[0] == of_atom(atom)
                and Poly({m: c}) == (a.args[1] * of_atom(a)).scale(-sign)
            ):
                return {m: c}
    return {}
