"""Mistakes in what becomes of tiles: shapes, loops."""

from mutants.record import CARRIED, CHOICES, REARRANGED, STEPS, VERDICT, Mutant

MUTANTS = [
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
        "extra, odd = conditions.switches(n, atom.args[0], loaded=True)",
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
]
