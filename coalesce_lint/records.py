"""Findings and results as plain data for JSON, and back: what the result cache keeps.

Never pickles: whoever writes into a cache folder must not be able to run anything. An access comes back with
what the formats, the baseline and the JSON document ask of it, not with what the engine knew.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass
from pathlib import PurePath
from typing import Any

from coalesce_lint.access import Access, Axis, Call, Cost, LaunchAxis, Place, UnderLaunch
from coalesce_lint.findings import Finding


def plain(value: Any) -> Any:
    """``value`` as lists, texts and numbers, the same for equal values: for fingerprints.

    Raises TypeError for what has no such form.
    """
    if value is None or isinstance(value, (str, int, float)):
        return value
    if isinstance(value, PurePath):
        return ["path", str(value)]
    if is_dataclass(value) and not isinstance(value, type):
        shown = [f.name for f in fields(value) if f.compare and not f.name.startswith("_")]
        return [type(value).__name__, *([name, plain(getattr(value, name))] for name in shown)]
    if isinstance(value, Mapping):
        return ["map", *sorted(([str(k), plain(v)] for k, v in value.items()), key=lambda item: item[0])]
    if isinstance(value, (set, frozenset)):
        return ["set", *sorted((plain(v) for v in value), key=repr)]
    if isinstance(value, (list, tuple)):
        return [plain(v) for v in value]
    raise TypeError(f"{type(value).__name__} has no plain form")


def of_finding(finding: Finding) -> dict[str, Any]:
    """``finding`` as it goes into JSON."""
    access = finding.access
    return {
        **finding.as_dict(),
        "optional": finding.optional,
        "related": [[_of_place(p), m] for p, m in finding.related],
        "trail": [[_of_place(p), role] for p, role in finding.trail],
        "lines": sorted(finding.lines.items()),
        "access": None if access is None else {**access.as_dict(), "kernel": access.kernel},
    }


def to_finding(record: Mapping[str, Any]) -> Finding:
    """The finding that ``of_finding`` was given. Raises KeyError, TypeError, ValueError for other data."""
    access = record["access"]
    return Finding(
        code=record["code"],
        name=record["name"],
        place=_place_of(record),
        message=record["message"],
        severity=record["severity"],
        confidence=record["confidence"],
        kernel=record["kernel"],
        pointer=record["pointer"],
        related=[(_to_place(p), m) for p, m in record["related"]],
        access=None if access is None else _to_access(access),
        optional=record["optional"],
        trail=[(_to_place(p), role) for p, role in record["trail"]],
        lines={int(n): text for n, text in record["lines"]},
    )


def _to_access(record: Mapping[str, Any]) -> Access:
    plain_fields = ("op", "pointer", "offset", "pattern", "lane_axis", "lane_stride", "condition", "notes")
    cost = record["cost"]
    return Access(
        place=_place_of(record),
        axes=[Axis(**a) for a in record["axes"]],
        reason=record["reason"],
        kernel=record["kernel"],
        call_chain=[
            Call(c["function"], Place(c["path"], c["line"], c["column"])) for c in record["call_chain"]
        ],
        launches=[_to_launch(u) for u in record["launches"]],
        cost=None if cost is None else Cost(**cost),
        **{name: record[name] for name in plain_fields},
    )


def _to_launch(record: Mapping[str, Any]) -> UnderLaunch:
    return UnderLaunch(
        Place(record["path"], record["line"], 0),
        record["pattern"],
        record["basis"],
        [LaunchAxis(a["axis"], a["argument"], a["stride"]) for a in record["axes"]],
    )


def _place_of(record: Mapping[str, Any]) -> Place:
    names = ("path", "line", "column", "end_line", "end_column")
    return Place(*(record[name] for name in names))


def _of_place(place: Place) -> list[Any]:
    return [place.path, place.line, place.column, place.end_line, place.end_column]


def _to_place(record: Sequence[Any]) -> Place:
    path, line, column, end_line, end_column = record
    return Place(path, line, column, end_line, end_column)
