"""A drawing of one warp's lanes over 32-byte sectors, on one line.

Each lane is one of the 32 signs of ``SIGNS``, each sector a box, an element that is fetched and not asked
for a dot: ``|01234567|89abcdef|`` is contiguous for elements of four bytes, ``|0.......|1.......|`` one
lane a sector.
"""

from __future__ import annotations

import re

from coalesce_lint.access import Access
from coalesce_lint.lanes import lane_count, positions

SIGNS = "0123456789abcdefghijklmnopqrstuv"
SECTOR_BYTES = 32
ASSUMED_BYTES = 4

#: More sectors than these are not drawn.
SHOWN = 4


def draw(access: Access) -> str:
    """The lanes along ``access.lane_axis``; elements of four bytes where the cost does not say otherwise."""
    size = access.cost.element_bytes if access.cost else ASSUMED_BYTES
    per_sector = max(SECTOR_BYTES // size, 1)
    if access.pattern == "uniform":
        return _boxes([0], per_sector)
    if access.pattern in ("gather", "unknown") or access.lane_stride is None:
        return "|?|?|?|?|..."
    exact = positions(access)
    if exact is not None and access.pattern != "parametric":
        return _boxes([e + _shift(access.notes) for e in exact], per_sector)
    lanes = range(lane_count(access))
    good = _boxes([_contiguous(lane, access.notes, len(lanes), per_sector) for lane in lanes], per_sector)
    if access.pattern == "contiguous":
        return good
    spread = _boxes([_distance(access.lane_stride, per_sector) * lane for lane in lanes], per_sector)
    if access.pattern == "parametric":
        return f"{good} if {access.condition}, else {spread}"
    return spread


def _distance(stride: str, per_sector: int) -> int:
    """The step in elements to draw; a stride that is not a number is drawn as one lane a sector."""
    if re.fullmatch(r"-?[0-9]{1,6}", stride):
        return max(abs(int(stride)), 1)
    return per_sector


def _contiguous(lane: int, notes: list[str], lanes: int, per_sector: int) -> int:
    """The element that ``lane`` asks for where the stride is 1 or -1, with what the notes say of it."""
    element = lanes - 1 - lane if "reversed" in notes else lane
    for note in notes:
        name, _, number = note.partition("=")
        if name == "repeat" and number.isdecimal() and int(number):
            element //= int(number)
        elif name == "run" and number.isdecimal() and int(number):
            run = int(number)
            element = element // run * -(-run // per_sector) * per_sector + element % run
    return element + _shift(notes)


def _shift(notes: list[str]) -> int:
    """A step past the edge of a sector, where the access is known to begin off it."""
    return 1 if any(n.startswith("misaligned") for n in notes) else 0


def _boxes(elements: list[int], per_sector: int) -> str:
    """Boxes for ``elements`` (one of each lane); of lanes that share an element the first is drawn."""
    sectors: dict[int, list[str]] = {}
    for lane, element in enumerate(elements):
        box = sectors.setdefault(element // per_sector, ["."] * per_sector)
        if box[element % per_sector] == ".":
            box[element % per_sector] = SIGNS[lane]
    drawn = ["".join(sectors[s]) for s in sorted(sectors)[:SHOWN]]
    rest = "" if len(sectors) <= SHOWN else f"... {len(sectors)} sectors"
    return f"|{'|'.join(drawn)}|{rest}"
