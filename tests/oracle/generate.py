"""Seeded random kernels: source text, its parameters, and bindings to run it with.

``generate(seed)`` always gives the same kernel for one seed; ``bindings(case, count)`` the same arguments.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from typing import Any

from .execute import Launch, PointerArg
from .expressions import HELPERS, SPLIT_INDEX, Axis, Expr, Parameter, Scope, scalar
from .forms import FORMS
from .writer import Writer

PRIMES = (3, 5, 7, 11, 13, 17, 31, 37, 61, 97)
POWERS = (4, 8, 16, 32, 64, 128)
EXTENTS = {1: (4, 8, 16, 32, 64, 128), 2: (4, 8, 16, 32), 3: (4, 8)}  #: by the number of block parameters
LARGE = {1: 256, 2: 128, 3: 32}  #: by the number of block parameters
LARGE_SIZE = 521
STRIDES = (2, 3, 5, 8, 17, 64, 96, 1000)


@dataclass
class Case:
    """A generated kernel."""

    seed: int
    text: str
    parameters: list[Parameter] = field(default_factory=list)
    kernel: str = "kernel"


def generate(seed: int) -> Case:
    """The kernel of ``seed``."""
    rng = random.Random(seed)
    scope = Scope(rng)
    writer = Writer(scope)
    for axis in range(rng.choices((1, 2, 3), (6, 3, 1))[0]):
        name = f"pid_{'mnk'[axis]}" if axis else "pid"
        writer.line(f"{name} = tl.program_id({axis})")
        scope.scalars.append(Expr(name, (), 4))
    for _ in range(rng.randint(0, 2)):
        value = scalar(scope, 2)
        name = scope.fresh("s")
        writer.line(f"{name} = {value.text}")
        scope.scalars.append(Expr(name, (), value.bound))
    names = list(FORMS)
    for _ in range(rng.choices((1, 2, 3), (6, 3, 1))[0]):
        FORMS[rng.choices(names, [FORMS[n][0] for n in names])[0]][1](writer)
    return Case(seed, _assemble(scope, writer), list(scope.parameters.values()))


def _assemble(scope: Scope, writer: Writer) -> str:
    order = ("pointer", "size", "stride", "block", "literal", "flag")
    parameters = sorted(scope.parameters.values(), key=lambda p: order.index(p.kind))
    names = [f"{p.name}: tl.constexpr" if p.constexpr else p.name for p in parameters]
    parts = ["import triton\nimport triton.language as tl\n"]
    if "swapped" in scope.helpers:
        parts.append(SPLIT_INDEX)
    parts += [text for name, text in {**HELPERS, **scope.helpers}.items() if name in scope.helpers]
    body = "\n".join(writer.lines)
    parts.append(f"@triton.jit\ndef kernel({', '.join(names)}):\n{body}\n")
    return "\n\n".join(parts)


def binding(case: Case, rng: random.Random, ones: tuple[str, ...] = ()) -> dict[str, Any]:
    """One set of arguments. Stride arguments named in ``ones`` are 1, the others are not."""
    values: dict[str, Any] = {}
    blocks = [p for p in case.parameters if p.kind == "block"]
    for p in case.parameters:
        if p.name in ones:
            values[p.name] = 1
        elif p.kind == "pointer":
            values[p.name] = PointerArg(p.element)
        elif p.kind == "size":
            values[p.name] = rng.choice(rng.choice((PRIMES, POWERS)))
        elif p.kind == "stride":
            values[p.name] = rng.choice(STRIDES)
        elif p.kind == "block":
            values[p.name] = rng.choice(EXTENTS[min(len(blocks), 3)])
        elif p.kind == "literal":
            values[p.name] = rng.choice((2, 3, 4, 8, 16))
        else:
            values[p.name] = rng.random() < 0.5
    return values


def bindings(case: Case, count: int = 4) -> list[dict[str, Any]]:
    """Several sets of arguments; the last one sets some stride argument to 1 where there is one."""
    rng = random.Random(case.seed * 7919 + 1)
    found = [binding(case, rng) for _ in range(count)]
    blocks = [p.name for p in case.parameters if p.kind == "block"]
    sizes = [p.name for p in case.parameters if p.kind == "size"]
    for k, values in enumerate(found[4:]):  # where it is worth many runs: one of the blocks is larger
        if blocks:
            values[rng.choice(blocks)] = LARGE[min(len(blocks), 3)]
        if sizes and k % 2:  # a bound that holds no lane
            values[rng.choice(sizes)] = LARGE_SIZE
    strides = [p.name for p in case.parameters if p.kind == "stride"]
    if strides:
        found.append(binding(case, rng, (rng.choice(strides),)))
    return found


def launches(case: Case, more: bool = False) -> list[Launch]:
    """The programs to run of every binding; ``more`` of them where branches on program ids may be missed."""
    rng = random.Random(case.seed * 104729 + 2)
    place = (rng.randrange(4), rng.randrange(3), rng.randrange(2))
    others = ((1, 1, 1), (3, 2, 1), (2, 1, 0)) if more else ()
    return [Launch(programs=((0, 0, 0), place, *others), seed=case.seed % 1000)]


def kernels():
    """A hypothesis strategy of generated kernels; shrinks towards small seeds."""
    from hypothesis import strategies as st

    return st.integers(min_value=0, max_value=2**32 - 1).map(generate)


__all__ = ["Axis", "Case", "binding", "bindings", "generate", "kernels", "launches"]
