"""What differs between Triton versions: one small table. A new version gets a line where its layouts
differ."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Profile:
    """The rules of one Triton version.

    ``ties_last``: axes of equal contiguity are ordered from the last to the first, else from the first to
    the last. ``reshape_keeps``: contiguity and constancy survive ``tl.reshape`` where the axis is split at
    its fast end. ``global_divisibility``: divisibility of an axis without contiguity holds for all axes.
    ``atomics_limit``: an atomic's elements a thread are limited to what one atomic instruction takes.
    ``hoists``: a store's conversion moves up to the widening cast of a load.
    ``clamps_divisibility``: a sum's divisibility is cut to its own contiguity where an operand's run was
    longer.
    """

    name: str
    ties_last: bool
    reshape_keeps: bool
    global_divisibility: bool
    clamps_divisibility: bool
    atomics_limit: bool
    hoists: bool


PROFILES = {
    p.name: p
    for p in (
        Profile(
            "3.6",
            ties_last=False,
            reshape_keeps=False,
            global_divisibility=False,
            clamps_divisibility=False,
            atomics_limit=False,
            hoists=True,
        ),
        Profile(
            "3.9",
            ties_last=True,
            reshape_keeps=True,
            global_divisibility=True,
            clamps_divisibility=True,
            atomics_limit=True,
            hoists=False,
        ),
    )
}


def profile_of(name: str | None) -> Profile:
    """The profile called ``name``; the oldest where it is None or not known."""
    return PROFILES.get(name or "", PROFILES["3.6"])
