"""Does a row of lanes walk with the stride that was claimed? The notes say which exceptions are admitted.

Notes understood: ``run=R`` (the stride holds in runs of R lanes), ``repeat=R`` (R neighbouring lanes share an
element), ``wrap(M)`` (a jump each M elements), ``piecewise`` (a change at one place of the line), ``clamp``
(lanes that stand still, entered and left by a jump).
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from .formula import evaluate


@dataclass
class Notes:
    """The notes of a claim as numbers. None: the note is there, its value could not be told."""

    runs: list[int | None] = field(default_factory=list)
    wraps: list[int | None] = field(default_factory=list)
    repeats: list[int | None] = field(default_factory=list)
    clamp: bool = False
    piecewise: bool = False
    branch: bool = False

    @property
    def loose(self) -> bool:
        """Whether single jumps are admitted wherever they are."""
        return self.clamp or self.piecewise

    @property
    def plain(self) -> bool:
        return not (self.runs or self.wraps or self.repeats or self.loose)

    @property
    def degenerate(self) -> bool:
        """Runs or wraps so short that there is no stride to see; values that are not known."""
        periods = [*self.runs, *self.wraps]
        least = 2 if len(periods) + self.piecewise < 2 else 3
        return any(v is None or v < least for v in periods) or any(v is None or v < 2 for v in self.repeats)


def read_notes(notes: list[str], values: dict[str, Any]) -> Notes:
    found = Notes()
    for note in notes:
        match = re.fullmatch(r"(\w+)\s*(?:=\s*(.*)|\((.*)\))?", note.strip())
        if match is None:
            continue
        name, text = match[1], match[2] or match[3]
        if name == "run":
            found.runs.append(evaluate(text, values))
        elif name == "wrap":
            found.wraps.append(evaluate(text, values))
        elif name == "repeat":
            found.repeats.append(evaluate(text, values))
        elif name == "branch":
            found.branch = True
        elif name == "clamp":
            found.clamp = True
        elif name == "piecewise":
            found.piecewise = True
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
    if notes.degenerate:
        return None
    lanes = len(line)
    if notes.repeats:
        line, fits = _without_repeats(line, stride, notes, either_sign)
        if fits is None:
            return False
    if not fits.size:
        return None
    if notes.clamp and not fits.any():
        # Every lane is held: the line stands still but for its jumps.
        moves = np.flatnonzero(np.diff(line)) + 1
        return None if moves.size <= 4 or _jumps_admitted(moves, lanes, notes) else False
    # The stride must be seen: notes that admit many jumps do not admit a line without it.
    moving = np.diff(line) != 0
    jumps = np.flatnonzero(~fits & (moving | (not notes.clamp))) + 1
    # A jump from the end of a wrap to its beginning says nothing about the stride.
    telling = moving & ~np.isin(np.abs(np.diff(line)), [(w - 1) * abs(stride) for w in notes.wraps if w])
    seen = telling.sum() < 4 or fits[telling].mean() >= 0.25
    if seen and _jumps_admitted(jumps, lanes, notes):
        return True
    if notes.clamp and notes.runs and jumps.size <= 4 + (lanes - 1) // min(r for r in notes.runs if r) + 2:
        return None  # most lanes are held: what moves is where their rows end
    # A step that is longer than the modulus is not the step that is seen.
    return None if any(abs(stride) >= w for w in notes.wraps if w) else False


def _without_repeats(
    line: np.ndarray, stride: int, notes: Notes, either_sign: bool
) -> tuple[np.ndarray, np.ndarray | None]:
    """The line with neighbouring equal lanes taken as one; None where a group is not as long as noted."""
    length = int(np.prod([r for r in notes.repeats if r]))
    edges = np.flatnonzero(np.diff(line)) + 1
    groups = np.diff(np.concatenate(([0], edges, [len(line)])))
    inner = groups[1:-1]
    jumpy = bool(notes.runs or notes.wraps or notes.loose)
    # Truncation towards zero makes one group around zero up to twice as long.
    if not jumpy and ((inner < length).any() or (inner > 2 * length - 1).any() or (inner > length).sum() > 1):
        return line, None
    short = line[np.concatenate(([0], edges))]
    steps = np.diff(short)
    return short, (np.abs(steps) == abs(stride)) if either_sign else steps == stride


def _jumps_admitted(jumps: np.ndarray, lanes: int, notes: Notes) -> bool:
    """Jumps must not come closer than the runs are long; with several causes only their number is checked."""
    single = 2 * notes.piecewise + 4 * notes.clamp
    periods = sorted(p for p in [*notes.runs, *notes.wraps] if p)
    if jumps.size <= single:
        return True
    if not periods:
        return False
    if len(periods) == 1 and not single and not notes.repeats:
        return bool((np.diff(jumps) >= periods[0]).all())
    # One period cuts the line into parts, and every other cause may start anew in each part.
    bounds = []
    for k, period in enumerate(periods):
        others = periods[:k] + periods[k + 1 :]
        parts = (lanes - 1) // period + 2
        bounds.append(parts * (1 + single + sum((period - 1) // p + 1 for p in others)))
    return jumps.size <= max(bounds)


def mostly(offset: np.ndarray, axis: int, stride: int, share: float = 0.5, least: int = 1) -> bool:
    """True where at least half (``share``) of the steps that move at all are by ``stride``, up or down.

    Also where no line moves at ``least`` times: there is too little to see.
    """
    steps = steps_along(offset, axis)
    moving = np.abs(steps[steps != 0])
    few = (steps != 0).sum(axis=1).max(initial=0) < least
    return few or bool((moving == abs(stride)).mean() >= share)


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
    results = [line_holds(line, stride, notes, either_sign) for line in lines]
    if False in results:
        return False
    return True if True in results else None
