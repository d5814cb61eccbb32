"""Does a row of lanes walk with the stride that was claimed? The notes say which exceptions are admitted.

Notes understood: ``run=R`` (the stride holds in runs of R lanes), ``repeat=R`` (R neighbouring lanes share an
element), ``wrap(M)`` (a jump each M elements), ``piecewise`` (a change at one place of the line), ``clamp``
(lanes that stand still, entered and left by a jump).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import product
from typing import Any

import numpy as np

from .formula import evaluate

#: So many lanes are tried as the first break of a period, those with the most jumps first.
CANDIDATES = 8
ALIKE = 8  #: so many equal steps are no chance
MANY_JUMPS = 120
LINES = 64  #: so many different lines of a tile are judged at most


@dataclass
class Notes:
    """The notes of a claim as numbers. None: the note is there, its value could not be told."""

    runs: list[int | None] = field(default_factory=list)
    wraps: list[int | None] = field(default_factory=list)
    repeats: list[int | None] = field(default_factory=list)
    clamp: bool = False
    piecewise: bool = False
    branch: bool = False
    said_twice: set[int] = field(default_factory=set)  #: runs that are numbers: a wrap may be said as one too
    senseless: bool = False  #: no stride can be seen, whatever the launch passes

    @property
    def loose(self) -> bool:
        """Whether single jumps are admitted wherever they are."""
        return self.clamp or self.piecewise

    @property
    def plain(self) -> bool:
        return not (self.runs or self.wraps or self.repeats or self.loose)

    def periods(self) -> Iterator[list[int]]:
        """Lanes between breaks, one for each cause. A wrap counts lanes, or elements that lanes share."""
        for shared in {1, int(np.prod([r for r in self.repeats if r]))}:
            wraps = [w * shared for w in self.wraps if w]
            yield [*wraps, *(r for r in self.runs if r and not (r in wraps and r in self.said_twice))]

    @property
    def degenerate(self) -> bool:
        """Runs or wraps of one lane in this launch, or of one element that all their lanes share, where there
        is no stride to see; values not known.

        Other launches have to show the stride: ``soundness.check_case`` tries more where none did.
        """
        return not self.told or self.shared_throughout

    @property
    def told(self) -> bool:
        """Whether all values are known and none is below two lanes."""
        return all(v is not None and v > 1 for v in [*self.runs, *self.wraps, *self.repeats])

    @property
    def runs_of_two(self) -> bool:
        """Whether some run or wrap has two lanes, or two elements that its lanes share."""
        shared = int(np.prod([r for r in self.repeats if r]))
        several = len(self.runs) > 1 and any(r is not None and shared < r <= 2 * shared for r in self.runs)
        return several or 2 in (*self.runs, *self.wraps)

    @property
    def shared_throughout(self) -> bool:
        """Whether some run is no longer than the lanes that share an element."""
        return any(r is not None and s is not None and r <= s for r in self.runs for s in self.repeats)


def read_notes(notes: list[str], values: dict[str, Any]) -> Notes:
    found, fixed = Notes(), Notes()
    for note in notes:
        match = re.fullmatch(r"(\w+)\s*(?:=\s*(.*)|\((.*)\))?", note.strip())
        if match is None:
            continue
        name, text = match[1], match[2] or match[3]
        number = int(text) if text and re.fullmatch(r"-?\d+", text) else None
        found.senseless |= name in ("run", "wrap", "repeat") and number is not None and number < 2
        if name == "run":
            found.runs.append(evaluate(text, values))
            fixed.runs.append(number)
            found.said_twice |= {number} if number is not None else set()
        elif name == "wrap":
            found.wraps.append(evaluate(text, values))
        elif name == "repeat":
            found.repeats.append(evaluate(text, values))
            fixed.repeats.append(number)
        elif name == "branch":
            found.branch = True
        elif name == "clamp":
            found.clamp = True
        elif name == "piecewise":
            found.piecewise = True
    # where a choice of lanes is held, a run may be told that only its jump ends
    found.senseless |= fixed.shared_throughout and not found.loose
    return found


def lines_along(offset: np.ndarray, axis: int) -> np.ndarray:
    """The tile as a list of its lines along one axis."""
    moved = np.moveaxis(offset, axis, -1)
    return moved.reshape(-1, moved.shape[-1])


def steps_along(offset: np.ndarray, axis: int) -> np.ndarray:
    return np.diff(lines_along(offset, axis), axis=1)


def always_unit(offset: np.ndarray, axis: int) -> bool:
    """True where each step along the axis is 1, or each is -1."""
    steps = steps_along(offset, axis)
    return bool(steps.size) and (bool((steps == 1).all()) or bool((steps == -1).all()))


def constant(offset: np.ndarray, axis: int) -> bool:
    return not steps_along(offset, axis).any()


def line_holds(line: np.ndarray, stride: int, notes: Notes, either_sign: bool) -> bool | None:
    """Whether one line of offsets walks by ``stride`` as the notes admit; None where it cannot be told."""
    steps = np.diff(line)
    if not steps.size:
        return None
    fits = (np.abs(steps) == abs(stride)) if either_sign else steps == stride
    if notes.plain:
        # One direction: a line that turns round is no unit stride.
        same = not either_sign or len(np.unique(steps)) == 1
        return bool(fits.all()) and same
    if notes.senseless:
        return False
    places = np.arange(1, len(line))  # the lanes before which the steps are
    if notes.told and len(steps) >= ALIKE and steps[0] and not fits[0] and (steps == steps[0]).all():
        return False  # a straight line with another stride: no breaks, no lanes that are held
    if notes.degenerate:
        # Where each run is one element that its lanes share, the lanes of a run still do share it.
        shared = notes.told and not _jumps_admitted(places[steps != 0], notes, *notes.repeats)
        return False if shared else None
    if notes.repeats:
        places = np.flatnonzero(steps) + 1
        line, fits = _without_repeats(line, stride, notes, either_sign)
        if fits is None:
            return False
    if not fits.size:
        return None
    # All lanes of a run but a few may be held, and those that are not share an element.
    few_free = notes.clamp and bool(notes.runs and notes.repeats) and _few_moves_a_run(steps, notes)
    if notes.clamp and not fits.any():
        # Every lane is held: the line stands still but for its jumps.
        moves = places[np.diff(line) != 0]
        return None if few_free or notes.runs_of_two or _jumps_admitted(moves, notes) else False
    # The stride must be seen: notes that admit many jumps do not admit a line without it.
    moving = np.diff(line) != 0
    jumps = places[~fits & (moving | (not notes.clamp))]
    # A jump from the end of a wrap to its beginning says nothing about the stride.
    returns = np.isin(np.abs(np.diff(line)), [(w - 1) * abs(stride) for w in notes.wraps if w])
    telling = moving & (fits | ~returns)
    seen = telling.sum() < 4 or fits[telling].mean() >= 0.25
    if not seen and notes.runs_of_two and (notes.clamp or _jumps_admitted(jumps, notes)):
        return None  # each step of a run may be another break, or end at a lane that is held
    if few_free and not seen:
        return None
    return bool(seen) and _jumps_admitted(jumps, notes)


def _few_moves_a_run(steps: np.ndarray, notes: Notes) -> bool:
    """Whether the lanes only move to the free ones of each run, back, and on to the next run."""
    runs = 2 + len(steps) // min(r for r in notes.runs if r)
    return np.count_nonzero(steps) <= 3 * runs + 4


def _without_repeats(
    line: np.ndarray, stride: int, notes: Notes, either_sign: bool
) -> tuple[np.ndarray, np.ndarray | None]:
    """The line with neighbouring equal lanes taken as one; None where a group is not as long as noted."""
    length = int(np.prod([r for r in notes.repeats if r]))
    edges = np.flatnonzero(np.diff(line)) + 1
    groups = np.diff(np.concatenate(([0], edges, [len(line)])))
    inner = groups[1:-1]
    if not (notes.runs or notes.wraps or notes.clamp):
        # Truncation towards zero makes one group around zero up to twice as long; a second one may follow.
        longer = inner[inner > length]
        if (inner < length).any() or longer.size > 2 * notes.piecewise or (longer > 2 * length).any():
            return line, None
    elif not notes.clamp and not _jumps_admitted(edges, notes, length):  # held lanes shift the groups
        return line, None
    short = line[np.concatenate(([0], edges))]
    steps = np.diff(short)
    return short, (np.abs(steps) == abs(stride)) if either_sign else steps == stride


def _jumps_admitted(jumps: np.ndarray, notes: Notes, *more: int) -> bool:
    """Whether the jumps (lanes before which the step is another one) are those that the notes tell of.

    ``more``: other numbers of lanes between which steps are admitted.
    """
    single = 2 * notes.piecewise + 4 * notes.clamp
    if jumps.size <= single:
        return True
    places = tuple(jumps.tolist())
    for noted in notes.periods():
        periods = tuple(sorted([*noted, *more]))
        # Uneven breaks (a step that does not divide a modulus): no run is shorter than the shortest noted.
        if periods and (np.diff(jumps) >= periods[0]).all():
            return True
        if any(_explained(places, causes, single, notes.loose) for causes in _restarted(periods)):
            return True
    return False


@lru_cache(maxsize=4096)
def _explained(places: tuple[int, ...], causes: tuple[int, ...], single: int, loose: bool) -> bool:
    """Whether all jumps but ``single`` ones fall on the breaks of ``causes``.

    With ``loose``, the breaks go on at other lanes where the dividend of a truncated division changes its
    sign or held lanes begin. Between breaks of some length that happens each time, at one place.
    """
    jumps = np.array(places)
    if _unexplained(jumps, causes) <= single:
        return True
    if not loose:
        return False
    turning = [tuple(sorted([*causes, p], reverse=True)) for p in causes if p >= 4]
    if any(_unexplained(jumps, some) <= single for some in turning):
        return True
    for budget in range(single + 1):
        first, last = 0, jumps.size  # the longest beginning that is explained
        while first < last:
            middle = (first + last + 1) // 2
            if _unexplained(jumps[:middle], causes) <= budget:
                first = middle
            else:
                last = middle - 1
        if _unexplained(jumps[first:], causes) <= single - budget:
            return True
    return False


def _restarted(periods: tuple[int, ...]) -> set[tuple[int, ...]]:
    """The periods, from the longest to the shortest, and again with longer ones cut off by shorter ones: the
    breaks of ``(i % 32 + 9) % 37`` are 32 lanes apart.
    """
    choices = [{p, *periods[:k]} for k, p in enumerate(periods)]
    return {tuple(sorted(some, reverse=True)) for some in product(*choices)}


def _unexplained(jumps: np.ndarray, periods: tuple[int, ...]) -> int:
    """The least number of jumps that do not fall on breaks every so many lanes.

    ``periods`` from the longest to the shortest; the breaks of a shorter one may begin anew after each of a
    longer one, as in ``i % 12 % 5``.
    """
    if not jumps.size or not periods:
        return int(jumps.size)
    period, rest = periods[0], periods[1:]
    residues = jumps % period
    found, counts = np.unique(residues, return_counts=True)
    if not rest:
        return int(jumps.size - counts.max())
    least = _unexplained(jumps, rest)
    likely = found[np.argsort(-counts, kind="stable")][:CANDIDATES].tolist()
    # The breaks of the shortest period begin anew at those of a longer one.
    odd = np.diff(jumps) % rest[-1] != 0
    begins, times = np.unique(residues[1:][odd], return_counts=True)
    anew = begins[np.argsort(-times, kind="stable")][:CANDIDATES].tolist()
    for place in dict.fromkeys([*anew, *likely]):
        if not least:
            break
        others = jumps[residues != place]
        if rest[0] == period:  # of one length: neither begins anew, or both do
            least = min(least, _unexplained(others, rest))
            if len(periods) > 3 or jumps.size > MANY_JUMPS:
                continue  # to try both takes too long among many
        total = 0
        for part in np.split(others, np.flatnonzero(np.diff((others - place) // period)) + 1):
            total += _unexplained(part, rest)
            if total >= least:
                break
        least = min(least, total)
    return least


def mostly(offset: np.ndarray, axis: int, stride: int, share: float = 0.5, least: int = 1) -> bool:
    """True where at least half (``share``) of the steps that move at all are by ``stride``, up or down.

    Also where no line moves at ``least`` times: there is too little to see.
    """
    steps = steps_along(offset, axis)
    moving = np.abs(steps[steps != 0])
    return few_moves(offset, axis, least) or bool((moving == abs(stride)).mean() >= share)


def few_moves(offset: np.ndarray, axis: int, least: int) -> bool:
    """True where no line along the axis moves ``least`` times."""
    return bool((steps_along(offset, axis) != 0).sum(axis=1).max(initial=0) < least)


def clamped(offset: np.ndarray, axis: int, stride: int) -> bool:
    """True where every line walks by ``stride``, up or down, but stands still at its beginning or its end."""
    return all(_walks(np.trim_zeros(steps), stride) for steps in steps_along(offset, axis))


def jumps_once(offset: np.ndarray, axis: int, stride: int) -> bool:
    """True where every line walks by ``stride`` with at most one other step."""
    return bool((np.abs(steps_along(offset, axis)) != abs(stride)).sum(axis=1).max(initial=0) <= 1)


def _walks(steps: np.ndarray, stride: int) -> bool:
    return bool((steps == stride).all() or (steps == -stride).all())


def tile_holds(
    offset: np.ndarray, axis: int, stride: int, notes: Notes, either_sign: bool = False
) -> bool | None:
    """``line_holds`` for every line along ``axis``: False where one fails, None where none can be told."""
    lines = lines_along(offset, axis)
    if len(lines) > 1:
        lines = np.unique(lines - lines[:, :1], axis=0)  # only the steps matter, and most lines share theirs
        lines = lines[:: -(-len(lines) // LINES)]
    results = [line_holds(line, stride, notes, either_sign) for line in lines]
    if False in results:
        return False
    return True if True in results else None
