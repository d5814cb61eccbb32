"""Which rules are on: layers of ``select``, ``extend-select`` and ``ignore``, the later over the earlier."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from coalesce_lint.findings import Rule


class SelectionError(ValueError):
    """An entry that no rule's code begins with. ``str()`` of it is one line."""


@dataclass
class Selection:
    """A layer of rule selection. An entry is a code or the beginning of one; ``select`` None: not said."""

    select: list[str] | None = None
    extend_select: list[str] = field(default_factory=list)
    ignore: list[str] = field(default_factory=list)


def active(layers: Sequence[Selection], rules: Iterable[Rule]) -> list[Rule]:
    """The rules to run. Raises SelectionError for an entry that no rule's code begins with."""
    rules = list(rules)
    codes = {r.code for r in rules}
    on = {r.code for r in rules if r.default}
    always = {r.code for r in rules if r.always}
    for layer in layers:
        require_known([*(layer.select or []), *layer.extend_select, *layer.ignore], codes)
        on = _apply(layer, on, codes, always)
    return [r for r in rules if r.code in on]


def asked(layers: Sequence[Selection], codes: Iterable[str]) -> frozenset[str]:
    """Those of ``codes`` that some layer selects: rules may say more where they were asked."""
    entries = [e for layer in layers for e in [*(layer.select or []), *layer.extend_select]]
    return frozenset(c for c in codes if _longest(c, entries))


def require_known(entries: Iterable[str], codes: Iterable[str]) -> None:
    """Raises SelectionError for the first of ``entries`` that none of ``codes`` begins with."""
    known = list(codes)
    for entry in entries:
        if not entry or not any(c.startswith(entry) for c in known):
            raise SelectionError(f"no rule has a code that begins with '{entry}'")


def _apply(layer: Selection, on: set[str], codes: set[str], always: set[str]) -> set[str]:
    """The codes that are on after ``layer``. The longer of two entries wins, then ``ignore``."""
    start = on if layer.select is None else always
    chosen = [*(layer.select or []), *layer.extend_select]
    result = set()
    for code in codes:
        said = _longest(code, chosen)
        unsaid = _longest(code, layer.ignore)
        if said > unsaid or (code in start and not unsaid):
            result.add(code)
    return result


def _longest(code: str, entries: Sequence[str]) -> int:
    return max((len(e) for e in entries if code.startswith(e)), default=0)


def split_codes(texts: Iterable[str]) -> list[str]:
    """The codes of repeated options that may each hold a list with commas, in capitals."""
    return [code.strip().upper() for text in texts for code in text.split(",") if code.strip()]
