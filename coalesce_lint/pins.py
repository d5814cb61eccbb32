"""What a user pins of a launch on the command line: arguments, grid, warps, Triton version and architecture.

Parsing errors are ``PinError`` with one line of text that names the option and what it should look like.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TypeAlias

#: Layout profiles, oldest first. A Triton version belongs to the last profile that is not newer than it.
PROFILES = ("3.6", "3.9")

#: The largest tile that Triton compiles (``TRITON_MAX_TENSOR_NUMEL``), in elements.
MAX_TILE = 1 << 20

#: Size of an element in bytes, by the name that Triton's signatures give its type.
ELEMENT_BYTES = {
    "i1": 1, "i8": 1, "u8": 1, "i16": 2, "u16": 2, "i32": 4, "u32": 4, "i64": 8, "u64": 8,
    "fp8e4nv": 1, "fp8e4b8": 1, "fp8e4b15": 1, "fp8e5": 1, "fp8e5b16": 1,
    "fp16": 2, "bf16": 2, "fp32": 4, "fp64": 8,
}  # fmt: skip


class PinError(ValueError):
    """An option's text that cannot be read. ``str()`` of it is one line."""


@dataclass(frozen=True)
class PointerPin:
    """A pinned pointer: the element type as Triton names it ("fp32") and the alignment in bytes.

    16 means divisible by 16 (and at a 256-byte boundary where sectors are counted); a smaller power of two N
    means N bytes past such a boundary, hence not divisible by 16.
    """

    type: str
    alignment: int = 16

    @property
    def element_bytes(self) -> int:
        return ELEMENT_BYTES[self.type]


PinnedValue: TypeAlias = "int | float | bool | str | PointerPin | None"


@dataclass
class Pins:
    """A launch as far as it is pinned. ``None`` means not pinned; ``args`` holds pinned names only."""

    args: dict[str, PinnedValue] = field(default_factory=dict)
    grid: tuple[int, ...] | None = None
    num_warps: int | None = None
    triton: str | None = None  #: one of PROFILES
    arch: str | None = None  #: "sm90"


def parse_value(text: str) -> PinnedValue:
    """The value of ``--arg NAME=VALUE``: ``*fp16:8``, ``128``, ``0.5``, ``True``, ``None``, ``relu``."""
    text = text.strip()
    if text.startswith("*"):
        return _pointer(text)
    try:
        value = ast.literal_eval(text)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return text
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    raise PinError(f"'{text}' is neither a number, True, False, None, a name nor a pointer such as *fp32")


def _pointer(text: str) -> PointerPin:
    name, colon, number = text[1:].partition(":")
    if name not in ELEMENT_BYTES:
        raise PinError(f"'{text}' names no element type; known are {', '.join(ELEMENT_BYTES)}")
    if not colon:
        return PointerPin(name)
    if not re.fullmatch(r"[0-9]{1,9}", number) or int(number) < 1 or int(number) & (int(number) - 1):
        raise PinError(f"'{text}': the alignment behind the colon is a power of two, in bytes")
    return PointerPin(name, int(number))


def parse_args(texts: Iterable[str]) -> dict[str, PinnedValue]:
    """The arguments of all ``--arg`` options. Raises PinError for bad text and for a name given twice."""
    args: dict[str, PinnedValue] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        name = name.strip()
        if not equals or not name.isidentifier() or not value.strip():
            raise PinError(f"--arg {text}: expected NAME=VALUE, such as n_cols=4096 or x_ptr=*fp32")
        if name in args:
            raise PinError(f"--arg {text}: {name} is given twice")
        try:
            args[name] = parse_value(value)
        except PinError as error:
            raise PinError(f"--arg {name}: {error}") from None
    return args


def parse_grid(text: str) -> tuple[int, ...]:
    """``"128"``, ``"128,4"`` or ``"128,4,2"`` as one to three positive numbers."""
    parts = [p.strip() for p in text.split(",")]
    if not 1 <= len(parts) <= 3 or not all(re.fullmatch(r"[0-9]{1,10}", p) and int(p) for p in parts):
        raise PinError(f"--grid {text}: expected X, X,Y or X,Y,Z with positive numbers, such as 128,4")
    return tuple(int(p) for p in parts)


def make_pins(
    args: Iterable[str] = (),
    grid: str | None = None,
    num_warps: int | None = None,
    triton: str | None = None,
    arch: str | None = None,
) -> Pins:
    """The pins from the texts of the options. Raises PinError."""
    if num_warps is not None and num_warps not in (1, 2, 4, 8, 16, 32):
        raise PinError(f"--num-warps {num_warps}: expected a power of two up to 32")
    if arch is not None and not re.fullmatch(r"sm_?[0-9]{2,3}a?", arch):
        raise PinError(f"--arch {arch}: expected an NVIDIA architecture such as sm90")
    return Pins(
        args=parse_args(args),
        grid=parse_grid(grid) if grid is not None else None,
        num_warps=num_warps,
        triton=triton or installed_profile(),
        arch=arch.replace("_", "") if arch else None,
    )


def installed_profile() -> str:
    """The profile of the installed Triton, from its package metadata (never imported); 3.6 without one."""
    from importlib.metadata import PackageNotFoundError, version

    try:
        found = re.match(r"(\d+)\.(\d+)", version("triton"))
    except (PackageNotFoundError, ValueError):
        found = None
    if found is None:
        return PROFILES[0]
    here = (int(found[1]), int(found[2]))
    return max((p for p in PROFILES if _numbers(p) <= here), key=_numbers, default=PROFILES[0])


def _numbers(profile: str) -> tuple[int, ...]:
    return tuple(int(n) for n in profile.split("."))
