"""Ways to break the analyzer, one at a time: a file, a piece of its source, and what stands there instead.

Each is a mistake that somebody could make: a bound off by one, a sign, a guard that is dropped, a wrong axis.
The piece must occur once in the file; ``mutate.py`` says so loudly where the source has changed.
"""

from __future__ import annotations

from typing import NamedTuple


class Mutant(NamedTuple):
    name: str
    file: str  #: under coalesce_lint/
    old: str
    new: str


DIVISION, RANGES, STEPS = "index/division.py", "index/ranges.py", "index/steps.py"
CHOICES, VERDICT, BITS = "index/choices.py", "index/verdict.py", "index/bits.py"
REARRANGED, COMPARISON, CARRIED = "index/rearranged.py", "index/comparison.py", "index/carried.py"

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
    Mutant("any product is not negative", RANGES, "return not odd", "return True"),
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
    # -- choices and conditions
    Mutant(
        "a minimum is its first part",
        CHOICES,
        "return [(atom, x) for x in atom.args] if",
        "return [(atom, atom.args[0])] if",
    ),
    Mutant(
        "held lanes that move share one address",
        CHOICES,
        "if all(_stands_still(n, free.offset, still.offset, axis) for axis in atom.lanes):",
        "if True:",
    ),
    Mutant(
        "choices do not differ by lane",
        CHOICES,
        "return atom.args[0].lanes if atom.args[0] is not None else frozenset()",
        "return frozenset()",
    ),
    Mutant(
        "a comparison is always true", CHOICES, "return [(atom, ZERO), (atom, ONE)]", "return [(atom, ONE)]"
    ),
    Mutant(
        "only the first arm of a branch counts",
        CHOICES,
        "for k, (a, image) in enumerate(images):",
        "for k, (a, image) in enumerate(images[:1]):",
    ),
    Mutant(
        "what holds in a branch is taken for false",
        CHOICES,
        "_learn(p if holds else ONE - p, facts)",
        "_learn(ONE - p if holds else p, facts)",
    ),
    Mutant(
        "equality of a parameter with the opposite sign", CHOICES, "{m: -c * sign for", "{m: c * sign for"
    ),
    Mutant(
        "less or equal for less", COMPARISON, "if ranges.nonneg(self, d - ONE):", "if ranges.nonneg(self, d):"
    ),
    Mutant(
        "the other arm for a condition that is known",
        COMPARISON,
        "return a if cond.constant else b",
        "return b if cond.constant else a",
    ),
    Mutant(
        "the smaller of two is the maximum",
        COMPARISON,
        'return a if op == "min" else b',
        'return b if op == "min" else a',
    ),
    Mutant(
        "a minimum is not negative if one part is not",
        COMPARISON,
        'any(low) if op == "max" else all(low)',
        "any(low)",
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
    # -- shapes
    Mutant("expand_dims at the axis behind", REARRANGED, "k + (k >= at)", "k + (k > at)"),
    Mutant(
        "a transposition the other way round",
        REARRANGED,
        "{old: new for new, old in",
        "{new: old for new, old in",
    ),
    Mutant(
        "casts that wrap",
        "index/normalize.py",
        "if node.type in _LARGEST and node.op in _WRAPPING",
        "if False and node.op in _WRAPPING",
    ),
    Mutant("a cast wraps too late", "index/normalize.py", '"i8": 127', '"i8": 255'),
    Mutant(
        "unsigned sums with numbers that may be negative",
        "kernels/build.py",
        "return known.type if known.type in _UNSIGNED and _is_number(other) else None",
        "return None",
    ),
    Mutant(
        "a truncated division in short wraps is regular",
        STEPS,
        'if atom.attr == "trunc" and any(_few_groups',
        "if False and any(_few_groups",
    ),
    Mutant(
        "lanes held by turns walk on",
        CHOICES,
        "extra, odd = switches(n, atom.args[0])",
        "extra, odd = [], None",
    ),
    Mutant(
        "one side of a minimum only",
        CHOICES,
        'return [(atom, x) for x in atom.args] if atom.kind == "extreme"',
        'return [(atom, x) for x in atom.args][:1] if atom.kind == "extreme"',
    ),
    Mutant(
        "a clamp is not said", VERDICT, 'worst.notes[:] = [*_jumps_of_all(worst, verdicts), "clamp"]', "pass"
    ),
    Mutant(
        "the sign that turns in a truncated division is not said",
        STEPS,
        'turned or steps.turned or atom.attr == "trunc"',
        "turned or steps.turned",
    ),
    Mutant(
        "both halves of a split are the first",
        REARRANGED,
        "image[axis] = number(node.attr)",
        "image[axis] = number(0)",
    ),
    Mutant(
        "a join the other way round",
        REARRANGED,
        "return a + (b - a) * of_atom(n.algebra.lane(axis, number(2)))",
        "return b + (b - a) * of_atom(n.algebra.lane(axis, number(2)))",
    ),
    Mutant(
        "interleave with the parts behind each other", REARRANGED, "image[axis] = half", "image[axis] = lane"
    ),
    Mutant(
        "a reduction keeps its axis",
        REARRANGED,
        "k - (k > axis) for k in source.lanes if k != axis",
        "k for k in source.lanes if k != axis",
    ),
    Mutant(
        "a reshape in column order",
        "index/shapes.py",
        "flat = flat * news[k] + lane",
        "flat = flat + news[k] * lane",
    ),
    Mutant(
        "a reshape divides by the axis in front",
        "index/shapes.py",
        'flat = n.algebra.div(flat, olds[k], "floor")',
        'flat = n.algebra.div(flat, olds[k - 1], "floor")',
    ),
    Mutant(
        "lower ranks are padded behind",
        "index/normalize.py",
        "{k: k + pad for k in range(len(a.shape))}",
        "{k: k for k in range(len(a.shape))}",
    ),
    Mutant(
        "an arange starts at 0",
        "index/leaves.py",
        "return start + of_atom(n.algebra.lane(0, extent))",
        "return of_atom(n.algebra.lane(0, extent))",
    ),
    # -- loops
    Mutant(
        "a carried value stays at its start", CARRIED, "return start + of_atom(count) * step", "return start"
    ),
    Mutant(
        "a carried step that changes in its loop",
        CARRIED,
        "if not any(loop in a.loops for a in step.atoms()):",
        "if True:",
    ),
    Mutant(
        "the first iteration is the only one",
        CARRIED,
        'return self.n.algebra.choose(None, ("first", loop), start, out)',
        "return start",
    ),
    Mutant(
        "a value that a loop multiplies",
        CARRIED,
        "return self._arbitrary(node, start + step, start.lanes | step.lanes)",
        "return start",
    ),
    Mutant(
        "ends of iterations by continue are forgotten",
        "kernels/loops.py",
        "ends = frame.exits + (",
        "ends = (",
    ),
    # -- the verdict
    Mutant(
        "the best of the branches counts",
        VERDICT,
        "worst = min(\n        verdicts",
        "worst = max(\n        verdicts",
    ),
    Mutant("sizes are stride arguments", VERDICT, "return None if is_size(atom) else atom", "return atom"),
    Mutant(
        "any constexpr is a stride argument",
        VERDICT,
        "return atom if _STRIDE_NAME.search(atom.attr.name) else None",
        "return atom",
    ),
    Mutant("reversed lanes are no unit stride", VERDICT, "s.stride in (ONE, -ONE))", "s.stride == ONE)"),
    Mutant(
        "any coefficient owns the unit stride",
        "index/owners.py",
        "if abs(c) == 1 and len(m) == 1",
        "if len(m) == 1",
    ),
    Mutant(
        "literals and parameters own the unit stride",
        "index/owners.py",
        "if not a.walks or a.lanes or a.data:",
        "if a.lanes or a.data:",
    ),
    Mutant(
        "the largest stride serves best", "index/order.py", "return abs(x) < abs(y)", "return abs(x) > abs(y)"
    ),
    Mutant(
        "the first of several unit axes",
        "index/order.py",
        "not regular[k].jumps, k))",
        "not regular[k].jumps, -k))",
    ),
    Mutant(
        "only the first lanes are looked at",
        "index/lanes.py",
        "starts = [number(0)] if extent.constant == count else [number(0), window]",
        "starts = [number(0)]",
    ),
    Mutant(
        "runs too short to be runs",
        "index/lanes.py",
        "if min(inner) < (2 if abs(common) == 1 else 4):",
        "if False:",
    ),
    Mutant(
        "the rarest difference is the step",
        "index/lanes.py",
        "counts.most_common(1)[0]",
        "counts.most_common()[-1]",
    ),
    Mutant(
        "a descriptor is judged by its first stride",
        "kernels/finish.py",
        "descriptor.strides[-1]",
        "descriptor.strides[0]",
    ),
    # -- the source
    Mutant(
        "make_block_ptr: the shape for the strides", "kernels/memory.py", '(2, "strides")', '(1, "strides")'
    ),
    Mutant(
        "a block pointer's offsets are forgotten",
        "kernels/addresses.py",
        'index = it.build.binary("add", lane, _scalar(it, offsets[k])) if k < len(offsets) else lane',
        "index = lane",
    ),
    Mutant(
        "a block pointer's strides from behind",
        "kernels/addresses.py",
        "_scale(it, index, strides[k])",
        "_scale(it, index, strides[-1 - k])",
    ),
    Mutant(
        "advance does nothing",
        "kernels/memory.py",
        "return BlockPtr(p.base, p.shape, p.strides, moved,",
        "return BlockPtr(p.base, p.shape, p.strides, p.offsets,",
    ),
    Mutant("arange is as long as its end", "kernels/shaping.py", 'it.build.binary("sub", b, a)', "b"),
    Mutant(
        "a branch keeps one side", "kernels/control.py", 'return build.choose("phi", cond, a, b)', "return a"
    ),
    Mutant(
        "tensors divide rounding down",
        "kernels/build.py",
        '("floor" if a.static and b.static else "trunc")',
        '"floor"',
    ),
    Mutant(
        "the maximum for the minimum",
        "kernels/arithmetic.py",
        '"minimum": _two("min")',
        '"minimum": _two("max")',
    ),
    Mutant(
        "cdiv rounds down",
        "kernels/arithmetic.py",
        'up = it.build.binary("sub", it.build.binary("add", a, b), const(1))',
        "up = a",
    ),
    Mutant(
        "only the last end of an iteration counts",
        "kernels/loops.py",
        "outs = [e[name] for e in ends if name in e]",
        "outs = [self.env[name] for e in ends[:1] if name in e]",
    ),
    Mutant(
        "a helper's default is not its caller's",
        "kernels/inlining.py",
        "elif position < len(args.positional):",
        "elif position < len(args.positional) - 1:",
    ),
    Mutant(
        "keywords of a call are lost", "kernels/inlining.py", "elif p.name in args.keywords:", "elif False:"
    ),
    Mutant("a bound is no size", "kernels/usage.py", "sizes |= _additive(n.args[1])", "pass"),
]
