"""Mistakes in arithmetic: division, bounds, steps, bits."""

from mutants.record import BITS, DIVISION, RANGES, STEPS, VERDICT, Mutant

MUTANTS = [
    # -- division and modulo
    Mutant(
        "a remainder may reach the divisor",
        DIVISION,
        "nonneg(self, c - ONE - r_high)",
        "nonneg(self, c - r_high)",
    ),
    Mutant(
        "truncated division of what may be negative",
        DIVISION,
        'if mode == "trunc" and ranges.nonneg(self, x):',
        'if mode == "trunc":',
    ),
    Mutant(
        "numbers are divided rounding down",
        DIVISION,
        'if mode == "trunc" else n // k)',
        "if False else n // k)",
    ),
    Mutant("nested divisions: the sum is not scaled", DIVISION, "y + a * rest, a * c", "y + rest, a * c"),
    Mutant(
        "nested divisions: the divisors are added", DIVISION, "y + a * rest, a * c", "y + a * rest, a + c"
    ),
    Mutant(
        "nested truncated divisions with a sum",
        DIVISION,
        'if atom.attr != mode or (rest.terms and mode != "floor"):',
        "if atom.attr != mode:",
    ),
    Mutant(
        "a factor is cancelled with a rest as large", DIVISION, "number(g - 1) - high", "number(g) - high"
    ),
    Mutant("the rest of a division is lost", DIVISION, "return q + self.div(r, c, mode)", "return q"),
    Mutant("a remainder with the wrong sign", DIVISION, "out = x - c * q", "out = x + c * q"),
    Mutant(
        "a quotient of what may be negative is not negative",
        DIVISION,
        "atom.nonneg = ranges.nonneg(self, x)",
        "atom.nonneg = True",
    ),
    Mutant(
        "a division that leaves a rest counts as exact",
        "index/poly.py",
        "return q if not r.terms else None",
        "return q",
    ),
    # -- signs and bounds
    Mutant(
        "a lane stays two below its extent", RANGES, "return a.args[0] - ONE", "return a.args[0] - ONE - ONE"
    ),
    Mutant("any product is not negative", RANGES, "if not a.nonneg and m.count(a) % 2:", "if False:"),
    Mutant("any factor is at least one", RANGES, "if all(at_least_one(a) for a in rest):", "if True:"),
    Mutant(
        "the bound of a quotient is one short",
        RANGES,
        "return whole\n        above",
        "return whole - ONE\n        above",
    ),
    Mutant(
        "the bound of a minimum is that of the maximum",
        RANGES,
        'if a.attr == "min":',
        'if a.attr == "max":',
    ),
    Mutant(
        "a digit may be one larger",
        RANGES,
        "return bound + k * (modulus - ONE)",
        "return bound + k * (modulus - ONE - ONE)",
    ),
    # -- steps along an axis
    Mutant(
        "the step of a product of two lane terms", STEPS, "elif len(moving) > 1:", "elif len(moving) > 9:"
    ),
    Mutant(
        "loaded steps are not told from others",
        STEPS,
        "arbitrary = [a for a in moving if axis in a.wild]",
        "arbitrary = []",
    ),
    Mutant("the repeats inside a division are lost", STEPS, "inner.repeat * per", "per"),
    Mutant(
        "a quotient repeats the divisor's lanes whatever its step",
        STEPS,
        "inner.repeat * per",
        "inner.repeat * c",
    ),
    Mutant(
        "uneven rows may be as long as the step",
        STEPS,
        "if not _clearly_less(n, s.scale(sign), c):",
        "if False:",
    ),
    Mutant("the jumps of a part are lost", STEPS, "jumps += steps.jumps", "pass"),
    Mutant(
        "the coarsest repeat is the step",
        STEPS,
        "if smaller(n, other[0], best[0]):",
        "if smaller(n, best[0], other[0]):",
    ),
    Mutant(
        "a quotient that ends rows is regular",
        STEPS,
        "if any(j.wrap is None for j in inner.jumps):",
        "if False:",
    ),
    Mutant(
        "a step that varies by lane counts",
        VERDICT,
        "steps.unknown(Reason.VARYING) if s.stride.lanes else s",
        "s",
    ),
    Mutant(
        "the factor of a repeated step is lost",
        STEPS,
        "repeats.append((steps.repeat, factor * steps.stride,",
        "repeats.append((steps.repeat, steps.stride,",
    ),
    # -- bits
    Mutant("a flipped bit that is not taken back", BITS, "bit.scale(2 * k)", "bit.scale(k)"),
    Mutant(
        "any two values have disjoint bits",
        BITS,
        "return all(c % size == 0 for c in a.terms.values())",
        "return True",
    ),
    Mutant(
        "a mask of ones is the modulus",
        BITS,
        'return n.algebra.mod(x, number(k + 1), "floor")',
        'return n.algebra.mod(x, number(k), "floor")',
    ),
    Mutant("a shift to the left by one less", BITS, "return a.scale(1 << k)", "return a.scale(1 << k >> 1)"),
    Mutant(
        "a shift to the right by one more",
        BITS,
        'n.algebra.div(a, number(1 << k), "floor")',
        'n.algebra.div(a, number(2 << k), "floor")',
    ),
    Mutant(
        "bitwise not is negation",
        BITS,
        "return -n.aligned(node.args[0], node) - ONE",
        "return -n.aligned(node.args[0], node)",
    ),
    Mutant("or counts what both hold twice", BITS, "return a + b - _idempotent(a * b)", "return a + b"),
]
