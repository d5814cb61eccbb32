"""The launches that are taken for granted where none is pinned.

They are the kind ones: every size and every outer stride is divisible by 16, pointers lie on 256-byte
boundaries, innermost strides are 1. What is lost under such a launch is lost under every launch, for the
compiler proves less of less divisible arguments, never more. Sizes are large and differ, so that no mask cuts
and no two strides fall together by chance.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from coalesce_lint.access import Kernel
from coalesce_lint.hardware.launch import Launch, Pointer
from coalesce_lint.hardware.profiles import profile_of
from coalesce_lint.pins import ELEMENT_BYTES, installed_profile
from coalesce_lint.settings import USUAL_ELEMENT

if TYPE_CHECKING:
    from coalesce_lint.kernels.configs import Config
    from coalesce_lint.kernels.source import Function, Parameter
    from coalesce_lint.pins import Pins
    from coalesce_lint.settings import Settings

#: Extents of tiles that nothing says: in kernels with tiles of several axes, and in those without.
TILE, ROW = 64, 1024
#: Configurations of an autotuner that are looked at; the rest differ in stages, mostly.
MOST_CONFIGS = 4
_FLAG = re.compile(
    r"(?i)^(is|has|use|with|enable|do|need|apply|return|save|store|load|output)_|(^|_)(flag|mode)s?$"
)
_STRIDE = re.compile(r"(?i)stride")
_SMALL = re.compile(r"(?i)(num_)?(warps|stages|ctas)$")
_INTEGER = re.compile(r"([\w.]+\.)?(u?int(8|16|32|64)?|[iu](8|16|32|64))(_t)?")


@dataclass(frozen=True)
class Assumptions:
    """What settings say of launches that are not pinned."""

    element_types: Mapping[str, str] = field(default_factory=dict)  #: pattern of parameter names -> type
    innermost: bool = True  #: take a lone stride argument that could be 1 as 1
    triton: str | None = None  #: one of ``pins.PROFILES``; None: the oldest
    arch: int = 90
    num_warps: int = 4
    min_waste: float = 1.0

    @classmethod
    def of(cls, settings: Settings) -> Assumptions:
        """What ``settings`` say, completed by the installed Triton's version."""
        digits = "".join(c for c in settings.arch or "" if c.isdigit())
        return cls(
            element_types=settings.element_types,
            innermost=settings.assume_contiguous == "innermost",
            triton=settings.triton or installed_profile(),
            arch=int(digits) if digits else 90,
            min_waste=settings.min_waste,
        )

    def type_of(self, parameter: str) -> str:
        """The element type that is assumed for a pointer; of the patterns that match, the longest counts."""
        matching = [p for p in self.element_types if fnmatchcase(parameter, p)]
        return self.element_types[max(matching, key=len)] if matching else USUAL_ELEMENT


def assumed_launches(
    fn: Function, kernel: Kernel, assumptions: Assumptions, pins: Pins | None = None
) -> list[Launch]:
    """One launch for each configuration of the kernel's autotuner, one if there are none.

    What ``pins`` fix is not assumed.
    """
    from coalesce_lint.kernels.configs import configs_of

    configs = configs_of(fn)
    distinct: list[Config] = []
    for config in configs:
        if all(c.values != config.values or c.num_warps != config.num_warps for c in distinct):
            distinct.append(config)
    if len(distinct) > MOST_CONFIGS:  # from the whole range, not the first few
        step = len(distinct) / MOST_CONFIGS
        distinct = [distinct[int(k * step)] for k in range(MOST_CONFIGS)]
    if not distinct:
        return [assumed_launch(fn, kernel, assumptions, pins=pins)]
    return [assumed_launch(fn, kernel, assumptions, c, pins) for c in distinct]


def assumed_launch(
    fn: Function,
    kernel: Kernel,
    assumptions: Assumptions,
    config: Config | None = None,
    pins: Pins | None = None,
) -> Launch:
    """A launch that is as kind to the kernel as can be, under one configuration."""
    pinned = Launch.from_pins(pins) if pins is not None else Launch()
    launch = Launch(
        profile=profile_of((pins.triton if pins is not None else None) or assumptions.triton),
        arch=pinned.arch if pins is not None and pins.arch else assumptions.arch,
        num_warps=config.num_warps if config is not None else assumptions.num_warps,
        grid=pinned.grid,
        sketch=pinned.grid is None,
    )
    if pins is not None and pins.num_warps:
        launch.num_warps = pins.num_warps
    roots = {name for a in kernel.accesses for name in a.pointer.split("|")}
    conditions = {a.condition.split(" ")[0] for a in kernel.accesses if a.condition}
    ones = conditions if assumptions.innermost else set()
    tile = TILE if any(sum(e != 1 for e in a.extents) > 1 for a in kernel.accesses) else ROW
    sizes = _sizes()
    for index, parameter in enumerate(fn.parameters):
        name = parameter.name
        if name in pinned.pointers or name in pinned.values:
            launch.pointers.update({n: p for n, p in pinned.pointers.items() if n == name})
            launch.values.update({n: v for n, v in pinned.values.items() if n == name})
            continue
        if config is not None and name in config.values:
            launch.values[name] = config.values[name]
            continue
        default = parameter.default.value if isinstance(parameter.default, ast.Constant) else None
        if isinstance(default, (int, float, str)):
            launch.values[name] = default
            if "constexpr" in parameter.annotation or name not in roots:
                continue
        if name in roots:
            launch.values.pop(name, None)
            launch.pointers[name] = _pointer(parameter, assumptions)
        elif name in ones:
            launch.values[name] = 1
        elif "constexpr" in parameter.annotation:
            launch.values.update(_constexpr(name, tile, sizes))
            launch.guessed.add(name)
        else:
            launch.values[name] = next(sizes)
        unspecialized = index in fn.do_not_specialize or name in fn.do_not_specialize
        if unspecialized or is_integer_type(parameter.annotation):
            launch.variables.add(name)
    launch.unaligned = set(unaligned(fn))
    launch.assumed = _in_words(launch, assumptions, config, pinned)
    return launch


def _pointer(parameter: Parameter, assumptions: Assumptions) -> Pointer:
    written = parameter.annotation.strip("'\" ").removeprefix("*")
    type_ = written if written in ELEMENT_BYTES else assumptions.type_of(parameter.name)
    return Pointer(ELEMENT_BYTES[type_], type=type_)


def _constexpr(name: str, tile: int, sizes: Iterator[int]) -> dict[str, int]:
    """The value of a constexpr of which only the name is known; none for what looks like a switch."""
    if _FLAG.search(name):
        return {}
    if _STRIDE.search(name):
        return {name: next(sizes)}
    return {name: 4 if _SMALL.search(name) else tile}


def _sizes() -> Iterator[int]:
    """Large multiples of 16 (and of no higher power of two) that differ from each other."""
    number = 65_536 + 16
    while True:
        yield number
        number += 16 * 34


def _in_words(launch: Launch, assumptions: Assumptions, config: Config | None, pinned: Launch) -> list[str]:
    """What was taken for granted; empty where everything was pinned."""
    types = sorted({p.type for n, p in launch.pointers.items() if n not in pinned.pointers})
    words = [f"{'/'.join(types)} elements"] if types else []
    open_values = {n: v for n, v in launch.values.items() if n not in pinned.values}
    if any(isinstance(v, int) and v > ROW for v in open_values.values()):
        words.append("arguments that are multiples of 16")
    words += [f"{n} = 1" for n, v in open_values.items() if v == 1 and assumptions.innermost][:3]
    if config is None:
        words += [f"{n} = {v}" for n, v in open_values.items() if v in (TILE, ROW)][:4]
    words.append(f"{launch.num_warps} warps")
    return words


def is_integer_type(annotation: str) -> bool:
    """True for ``tl.int32``, ``int``, "i64": a parameter with such a type is no constant even where it is
    1."""
    return _INTEGER.fullmatch(annotation.strip("'\" ")) is not None


def unaligned(fn: Function) -> list[str]:
    """The parameters that ``do_not_specialize_on_alignment`` of the decorator names (or numbers)."""
    names: list[str] = []
    for decorator in fn.node.decorator_list:
        for keyword in decorator.keywords if isinstance(decorator, ast.Call) else ():
            if keyword.arg == "do_not_specialize_on_alignment" and isinstance(
                keyword.value, (ast.List, ast.Tuple)
            ):
                for element in keyword.value.elts:
                    value = element.value if isinstance(element, ast.Constant) else None
                    if isinstance(value, int) and value < len(fn.parameters):
                        names.append(fn.parameters[value].name)
                    elif isinstance(value, str):
                        names.append(value)
    return names
