"""Mistakes in what is decided: choices of lanes, the verdict, the reading of source."""

from mutants.record import CHOICES, COMPARISON, CONDITIONS, VERDICT, Mutant

MUTANTS = [
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
        CONDITIONS,
        "_learn(p if holds else ONE - p, facts)",
        "_learn(ONE - p if holds else p, facts)",
    ),
    Mutant(
        "equality of a parameter with the opposite sign", CONDITIONS, "{m: -c * sign for", "{m: c * sign for"
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
    Mutant(
        "loaded rows hold lanes along every axis",
        CONDITIONS,
        "for axis in atom.lanes - atom.wild:",
        "for axis in atom.lanes if not atom.wild else ():",
    ),
    Mutant(
        "two staircases pass one another once",
        CONDITIONS,
        'if atom.attr == "equal" or len(moves) > 1:',
        'if atom.attr == "equal":',
    ),
    Mutant(
        "one row is as good as one lane",
        CHOICES,
        "if lone is not None and (out[0].offset - out[1].offset).lanes <= atom.lanes:",
        "if lone is not None:",
    ),
    Mutant(
        "runs of lanes that load the same choose as they like",
        CONDITIONS,
        "found += [steps.Jump(j.period) for s in held for j in s.jumps]",
        "pass",
    ),
    Mutant(
        "rows that loaded data shift are neighbours",
        VERDICT,
        "for k in _unit_axes(moves) & (alt.shifted if alt is not None else frozenset()):",
        "for k in ():",
    ),
    Mutant(
        "the beginnings of two buffers are one place",
        VERDICT,
        'if verdict.pattern == "uniform":  #',
        "if False:  #",
    ),
    Mutant(
        "a held value holds what stands beside it",
        "index/steps.py",
        "return replace(gather, held=False) if gather",
        "return gather if gather",
    ),
    Mutant(
        "what an index is multiplied with is not 0",
        CONDITIONS,
        "return 1 if straight and _never_zero(n, s.stride) else None",
        "return 1 if straight else None",
    ),
    Mutant(
        "any number of lanes may be left out",
        CHOICES,
        'atom.kind == "cmp" and lane_wise and not alt.lone',
        'atom.kind == "cmp" and lane_wise',
    ),
    Mutant(
        "the lane that is elsewhere is at the place of the others",
        VERDICT,
        "or any(a.lone for a in options)",
        "",
    ),
    Mutant(
        "a uniform branch makes the lanes of another one neighbours",
        VERDICT,
        'v.pattern in ("contiguous", "uniform") for v in verdicts)',
        'v.pattern == "contiguous" for v in verdicts)',
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
