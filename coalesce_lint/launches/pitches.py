"""How a kernel addresses the tensor behind one of its pointers, seen with the arguments of a launch."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from coalesce_lint.access import Access, Kernel, Summand
from coalesce_lint.launches.guards import is_dead
from coalesce_lint.launches.records import Launch, Passed, TensorFacts

STRIDE_NAME = re.compile(r"stride|pitch", re.IGNORECASE)


@dataclass(frozen=True)
class Addressed:
    """A tensor that a launch passes, with the accesses of the kernel that go through its pointer."""

    parameter: str
    passed: Passed
    tensor: TensorFacts
    accesses: tuple[Access, ...]


def addressed_tensors(kernel: Kernel, launch: Launch) -> Iterator[Addressed]:
    """The tensors of a launch whose accesses are all understood; those that never happen are left out."""
    through: dict[str, list[Access]] = {}
    mixed: set[str] = set()
    for access in kernel.accesses:
        names = access.pointer.split("|")
        if len(names) > 1 or access.box is not None:
            mixed.update(names)
        through.setdefault(names[0], []).append(access)
    for name, accesses in through.items():
        passed = launch.arguments.get(name)
        if passed is None or passed.kind != "tensor" or passed.tensor is None or name in mixed:
            continue
        live = tuple(a for a in accesses if not is_dead(a, launch))
        if live:
            yield Addressed(name, passed, passed.tensor, live)


def multipliers(access: Access) -> Iterator[tuple[Summand, str]]:
    """The parameters, constexpr ones included, that multiply an index in an access's offset."""
    for summand in access.summands:
        if summand.kinds:
            for name in (*summand.parameters, *summand.constexprs):
                yield summand, name


def takes_stride(accesses: tuple[Access, ...], launch: Launch) -> bool:
    """Whether an offset holds something that may be a stride: a parameter of that name, or one that is passed
    a stride, a literal or something that is not known."""
    for access in accesses:
        for summand in access.summands:
            for name in (*summand.parameters, *summand.constexprs, *summand.inner):
                passed = launch.arguments.get(name)
                if STRIDE_NAME.search(name) or passed is None:
                    return True
                if name in summand.constexprs:
                    continue
                if passed.kind not in ("size", "sizes", "config"):
                    return True
    return False


def understood(accesses: tuple[Access, ...]) -> bool:
    return all(a.pattern not in ("unknown", "gather") for a in accesses)
