"""Which accesses of a captured launch are flagged: the linter's own verdict with the launch's arguments
pinned."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any

from coalesce_lint.verify.request import TORCH_TYPES

#: Findings of these families are about how an access walks memory.
FAMILIES = ("CL10", "CL2", "CL301")

_TRITON_NAMES = {torch: triton for triton, torch in TORCH_TYPES.items()}

Place = tuple[str, int, int]


@dataclass
class Known:
    """What the linter says of one access."""

    op: str
    pointer: str
    pattern: str
    lane_stride: str | None
    codes: list[str]


def analyze(closure: dict[str, Any], launch: dict[str, Any]) -> dict[Place, Known]:
    """The kernel's accesses by place (absolute path, line, column). Empty where the linter cannot read it."""
    from coalesce_lint import files
    from coalesce_lint.check import analyze as read
    from coalesce_lint.findings import all_rules, run_rules
    from coalesce_lint.pins import Pins

    entry = closure["functions"][closure["entry"]]
    path = entry["path"]
    arguments = {n: pin(s, launch) for n, s in launch["arguments"].items()}
    warps = launch["options"].get("num_warps")
    pins = Pins(
        {n: v for n, v in arguments.items() if v is not _UNPINNED},
        tuple(launch["grid"]),
        warps if isinstance(warps, int) else None,
    )
    text = closure["files"].get(path) or entry["source"]
    try:
        report = read(path, text.encode(), pins, files.roots([path]))
    except Exception:
        return {}
    kernels = [k for k in report.kernels if k.name == entry["name"]]
    found: dict[Place, Known] = {}
    for kernel in kernels:
        for access in kernel.accesses:
            known = Known(access.op, access.pointer, access.pattern, access.lane_stride, [])
            found.setdefault(place_key(access.place.path, access.place.line, access.place.column), known)
    for finding in run_rules(kernels, [], [r for r in all_rules() if r.default]):
        place = place_key(finding.place.path, finding.place.line, finding.place.column)
        if place in found and finding.code.startswith(FAMILIES):
            found[place].codes.append(finding.code)
        for other, _ in finding.related if finding.code == "CL105" else []:
            sibling = place_key(other.path, other.line, other.column)
            if sibling in found:
                found[sibling].codes.append(finding.code)
    return found


def place_key(path: str, line: int, column: int) -> Place:
    return (os.path.realpath(path), line, column)


_UNPINNED = object()


def pin(spec: dict[str, Any], launch: dict[str, Any]) -> Any:
    """A launch argument as the linter pins it."""
    from coalesce_lint.pins import PointerPin

    match spec["kind"]:
        case "tensor":
            name = _TRITON_NAMES.get(spec["dtype"])
            if name is None:
                return _UNPINNED
            address = launch["storages"][spec["storage"]]["address"] + spec["offset"]
            return PointerPin(name, min(16, address & -address) if address else 16)
        case "int" | "bool" | "float" | "str":
            return spec["value"]
        case "none":
            return None
        case "dtype":
            return f"tl.{spec['value']}"
    return _UNPINNED
