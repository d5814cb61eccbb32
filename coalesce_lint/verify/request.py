"""What to compile and to trace: one launch of one kernel, in plain values that travel to a subprocess as
JSON."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any

#: Pointer element types by the names of the command line, with torch's names.
TORCH_TYPES = {
    "fp16": "float16",
    "bf16": "bfloat16",
    "fp32": "float32",
    "fp64": "float64",
    "fp8e4nv": "float8_e4m3fn",
    "fp8e5": "float8_e5m2",
    "i1": "bool",
    "i8": "int8",
    "i16": "int16",
    "i32": "int32",
    "i64": "int64",
    "u8": "uint8",
    "u16": "uint16",
    "u32": "uint32",
    "u64": "uint64",
}

#: Distance in bytes between the made-up addresses of two pointer arguments.
ADDRESS_STEP = 1 << 40


@dataclass
class Request:
    """One launch. ``arguments`` holds every parameter by name, constexprs too; a pointer is "*fp32" or
    "*fp16:4".

    The number behind a pointer is its alignment in bytes: 16 or more means divisible by 16, a smaller N
    means N bytes past a 256-byte boundary. ``programs`` limits how many programs of the grid are traced.
    Without a ``grid`` a few program ids stand for any. ``line`` is that of the kernel's ``def``, where it is
    known. ``contents`` names ``.npy`` files with the values that a pointer's loads give (else values are
    made up). ``seconds`` limits how long compiling and tracing may take, each.
    """

    path: str
    kernel: str
    arguments: dict[str, Any]
    grid: tuple[int, ...] | None = (1,)
    num_warps: int | None = None
    num_stages: int | None = None
    arch: int = 90
    programs: int = 24
    options: dict[str, Any] = field(default_factory=dict)
    contents: dict[str, str] = field(default_factory=dict)
    line: int | None = None
    seconds: float = 120.0

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_pins(cls, path: str, kernel: str, pins: Any, **more: Any) -> Request:
        """The request of a launch pinned on the command line (``pins.Pins``)."""
        arguments = {
            name: f"*{value.type}:{value.alignment}" if hasattr(value, "element_bytes") else value
            for name, value in pins.args.items()
        }
        digits = "".join(c for c in pins.arch or "" if c.isdigit())
        return cls(
            path,
            kernel,
            arguments,
            pins.grid,
            num_warps=pins.num_warps,
            arch=int(digits) if digits else 90,
            **more,
        )


def parse_pointer(value: Any) -> tuple[str, int] | None:
    """Element type and alignment in bytes of a pointer argument such as "*fp16:4"; None where it is not one.

    Raises ValueError for an unknown element type.
    """
    if not isinstance(value, str) or not value.startswith("*"):
        return None
    name, _, alignment = value[1:].partition(":")
    name = name.removeprefix("k")
    if name not in TORCH_TYPES:
        raise ValueError(f"unknown pointer element type {name!r}")
    return name, int(alignment or 16)


def base_address(index: int, alignment: int) -> int:
    """A made-up address for the pointer argument number ``index``, in bytes."""
    return (index + 1) * ADDRESS_STEP + (0 if alignment % 16 == 0 else alignment)
