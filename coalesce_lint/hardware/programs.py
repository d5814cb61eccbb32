"""Representative programs of a grid: the corners, for masks and edges, and a few between by a fixed
chance."""

from __future__ import annotations

import itertools
import math
import random
from functools import cache

Program = tuple[int, int, int]
#: Programs of a launch whose grid is not given.
SOME_PROGRAMS: tuple[Program, ...] = ((0, 0, 0), (1, 0, 0), (2, 1, 0), (3, 2, 1))


@cache
def program_weights(grid: tuple[int, ...], limit: int) -> list[tuple[Program, float]]:
    """Program ids with the number of programs that each stands for: all of a small grid, else about
    ``limit``."""
    sizes = (*grid, 1, 1, 1)[:3]
    total = math.prod(sizes)
    if total <= limit:
        return [((x, y, z), 1.0) for x, y, z in itertools.product(*map(range, sizes))]
    corners = sorted(
        {(x, y, z) for x in (0, sizes[0] - 1) for y in (0, sizes[1] - 1) for z in (0, sizes[2] - 1)}
    )
    chance = random.Random(0)
    count = max(limit - len(corners), limit // 3)
    others: set[Program] = set()
    for k in range(count):
        # One by chance out of each piece of the grid: fractions come out right, and so do phases.
        number = (k * total + chance.randrange(total)) // count
        program = (number % sizes[0], number // sizes[0] % sizes[1], number // (sizes[0] * sizes[1]))
        if program not in corners:
            others.add(program)
    rest = (total - len(corners)) / max(len(others), 1)
    return [(c, 1.0) for c in corners] + [(o, rest) for o in sorted(others)]


def programs_of(grid: tuple[int, ...] | None, limit: int) -> list[tuple[Program, float]]:
    """The programs to look at: of a grid as ``program_weights`` says, without one a few that are likely."""
    return [(p, 1.0) for p in SOME_PROGRAMS[:limit]] if grid is None else program_weights(grid, limit)
