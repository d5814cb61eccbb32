"""A launch as the hardware model sees it: argument values, pointer types, grid, warps, Triton version,
architecture."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from coalesce_lint.hardware.profiles import Profile, profile_of

WARP_LANES = 32
SECTOR_BYTES = 32
VECTOR_BYTES = 16


@dataclass(frozen=True)
class Pointer:
    """A pointer argument: bytes an element, and its alignment in bytes.

    An alignment divisible by 16 lets the compiler know it; a smaller N means N bytes past a 256-byte
    boundary.
    """

    element_bytes: int
    alignment: int = 16
    type: str = ""  #: Triton's name of the element type, where it is known

    @property
    def divisible(self) -> bool:
        return self.alignment % 16 == 0

    @property
    def offset(self) -> int:
        """Bytes past a 256-byte boundary."""
        return 0 if self.divisible else self.alignment


@dataclass
class Launch:
    """One launch. ``values`` holds numbers by parameter name, ``pointers`` the pointers; what is missing is
    not known.

    ``variables`` names ints that never become the constant 1 (their type is annotated), ``unaligned``
    arguments of which a divisibility is not looked at (``do_not_specialize_on_alignment``). ``assumed``
    lists in words what was not given but taken for granted; ``sketch`` asks for a count over few programs,
    for launches that are assumed anyway. ``guessed`` names constexprs of which nothing but the name is known.
    """

    values: dict[str, Any] = field(default_factory=dict)
    pointers: dict[str, Pointer] = field(default_factory=dict)
    grid: tuple[int, ...] | None = None
    num_warps: int = 4
    profile: Profile = field(default_factory=lambda: profile_of(None))
    arch: int = 90
    default_pointer: Pointer | None = None
    variables: set[str] = field(default_factory=set)
    unaligned: set[str] = field(default_factory=set)
    assumed: list[str] = field(default_factory=list)
    sketch: bool = False
    guessed: set[str] = field(default_factory=set)

    @classmethod
    def from_pins(cls, pins: Any) -> Launch:
        """The launch that ``pins.Pins`` describes (duck-typed: ``args``, ``grid``, ``num_warps``,
        ``triton``, ``arch``)."""
        launch = cls(grid=pins.grid, num_warps=pins.num_warps or 4, profile=profile_of(pins.triton))
        digits = "".join(c for c in pins.arch or "" if c.isdigit())
        launch.arch = int(digits) if digits else 90
        for name, value in pins.args.items():
            if hasattr(value, "element_bytes"):
                launch.pointers[name] = Pointer(value.element_bytes, value.alignment, value.type)
            else:
                launch.values[name] = value
        return launch

    @property
    def threads(self) -> int:
        return self.num_warps * WARP_LANES

    def pointer(self, name: str) -> Pointer | None:
        return self.pointers.get(name, None if name in self.values else self.default_pointer)


def specialized_to_one(value: Any, specialize: bool) -> bool:
    """True where a launch turns an argument into the constant 1 (``specialize_impl``: ints equal to 1)."""
    return specialize and isinstance(value, int) and not isinstance(value, bool) and value == 1


def divisible_by_16(value: Any, specialize: bool) -> bool:
    """True where a launch marks an argument ``tt.divisibility = 16``."""
    return specialize and isinstance(value, int) and not isinstance(value, bool) and value % 16 == 0


def specialized_arguments(
    arguments: Mapping[str, Any], constexprs: set[str], unspecialized: set[str]
) -> dict[str, Any]:
    """The arguments whose values the compiler gets to see: constexprs, and ints that became the constant 1.

    All others (strides, sizes, floats) stay variables for it, of which it knows a divisibility by 16 at most.
    Pointers stay in, for their types matter.
    """
    return {
        name: value
        for name, value in arguments.items()
        if name in constexprs
        or hasattr(value, "element_bytes")
        or value is None
        or specialized_to_one(value, name not in unspecialized)
    }
