"""Reads the memory operations of a kernel, their layouts and their source places out of TTGIR text. Pure
text work.

The text is what ``compiled.asm["ttgir"]`` holds: attribute aliases (``#blocked = #ttg.blocked<...>``), one
operation a line, location aliases (``#loc3 = loc("f.py":9:8)``, ``loc(callsite(#loc1 at #loc2))``,
``loc("name"(#loc1))``).
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from coalesce_lint.hardware.linear_layout import LinearLayout, blocked, sliced

#: Operations on global memory, by their TTGIR name. TMA and descriptors have no lane addresses (kind
#: "descriptor").
KINDS = {
    "tt.load": "load",
    "tt.store": "store",
    "tt.atomic_rmw": "atomic",
    "tt.atomic_cas": "atomic",
    "tt.atomic_load": "load",
    "tt.atomic_store": "store",
    "ttg.async_copy_global_to_local": "load",
    "tt.descriptor_load": "descriptor",
    "tt.descriptor_store": "descriptor",
    "tt.descriptor_gather": "descriptor",
    "tt.descriptor_scatter": "descriptor",
    "tt.descriptor_reduce": "descriptor",
    "ttng.async_tma_copy_global_to_local": "descriptor",
    "ttng.async_tma_copy_local_to_global": "descriptor",
}

ELEMENT_BITS = {"f16": 16, "bf16": 16, "f32": 32, "f64": 64, "f8E5M2": 8, "f8E4M3FN": 8, "f8E4M3B11FNUZ": 8}

_OPERATION = re.compile(r"^( *)(?:%[\w:]+(?:, %[\w:]+)* = )?\"?(tt\.\w+|ttg\.\w+|ttng\.\w+)\"?\b(.*)$")
_TENSOR_OF_POINTERS = re.compile(r"tensor<((?:\d+x)+)!tt\.ptr<(\w+)(?:, \d+)?>, (.*)$")
_SCALAR_POINTER = re.compile(r"!tt\.ptr<(\w+)(?:, \d+)?>")
_LOCATION_ALIAS = re.compile(r"^(#loc\d*) = loc\((.*)\)$")
_ALIAS = re.compile(r"^(#\w+) = (#ttg\..*)$")


@dataclass
class Operation:
    """One memory operation of the compiled kernel.

    ``places`` is the chain of (file, line, column) from the operation outwards through inlined calls.
    ``layout`` is None for scalars; ``depth`` counts the loops and branches around it, by indentation.
    """

    name: str
    kind: str
    shape: tuple[int, ...]
    element_bits: int
    layout: LinearLayout | None
    encoding: str
    places: list[tuple[str, int, int]]
    depth: int
    masked: bool = False
    extra: dict[str, Any] = field(default_factory=dict)


def element_bits(name: str) -> int:
    """Bits of a TTGIR element type as it lies in memory (i1 takes a byte)."""
    if name in ELEMENT_BITS:
        return ELEMENT_BITS[name]
    if re.fullmatch(r"[su]?i\d+", name):
        return max(8, int(name.lstrip("sui")))
    return 8 if name.startswith("f8") else 32


def balanced(text: str, start: int = 0, opening: str = "<", closing: str = ">") -> str:
    """The text from the first ``opening`` at or after ``start`` to its matching ``closing``, both
    included."""
    begin = text.index(opening, start)
    level = 0
    for k in range(begin, len(text)):
        if text[k] == opening:
            level += 1
        elif text[k] == closing and text[k - 1] != "-":
            level -= 1
            if level == 0:
                return text[begin : k + 1]
    raise ValueError(f"no closing {closing} in {text[begin : begin + 60]}")


def encoding_text(rest: str, aliases: dict[str, str]) -> str:
    """The encoding at the start of ``rest`` ("#blocked>, ..." or "#ttg.slice<...>>"), with its aliases
    replaced."""
    name = re.match(r"#[\w.]+", rest)
    if name is None:
        raise ValueError(f"no encoding in {rest[:60]}")
    text = name.group()
    if rest[name.end() : name.end() + 1] == "<":
        text += balanced(rest, name.end())
    for _ in range(4):
        text = re.sub(r"#(?!ttg\.|ttng\.)\w+", lambda m: aliases.get(m.group(), m.group()), text)
    return text


def _numbers(text: str, key: str) -> tuple[int, ...]:
    found = re.search(rf"\b{key} = \[([\d, ]*)\]", text)
    if found is None:
        raise ValueError(f"{key} missing in {text}")
    return tuple(int(n) for n in found.group(1).split(",") if n.strip())


def _bases(text: str, key: str) -> tuple[tuple[int, ...], ...]:
    found = re.search(rf"\b{key} = (\[.*)", text)
    if found is None:
        return ()
    inner = balanced(found.group(1), 0, "[", "]")
    return tuple(
        tuple(int(n) for n in b.split(",") if n.strip()) for b in re.findall(r"\[([\d, ]+)\]", inner)
    )


def parse_layout(
    text: str, shape: tuple[int, ...], other: Callable[[str, tuple[int, ...]], LinearLayout] | None = None
) -> LinearLayout:
    """The linear layout of an encoding (all aliases replaced) over a tile of ``shape``.

    ``other`` answers for encodings that need Triton's own conversion (mma, dot operands). Raises ValueError
    where nothing can.
    """
    if text.startswith("#ttg.blocked<"):
        return blocked(
            shape,
            _numbers(text, "sizePerThread"),
            _numbers(text, "threadsPerWarp"),
            _numbers(text, "warpsPerCTA"),
            _numbers(text, "order"),
        )
    if text.startswith("#ttg.linear<"):
        return LinearLayout(shape, _bases(text, "register"), _bases(text, "lane"), _bases(text, "warp"))
    if text.startswith("#ttg.slice<"):
        dim = re.search(r"dim = (\d+), parent = ", text)
        if dim is None:
            raise ValueError(f"slice without parent: {text}")
        axis = int(dim.group(1))
        parent = parse_layout(text[dim.end() :], (*shape[:axis], 1, *shape[axis:]), other)
        return sliced(parent, axis)
    if other is not None:
        return other(text, shape)
    raise ValueError(f"unknown encoding {text}")


class Locations:
    """The location aliases of a module, resolved to chains of places."""

    def __init__(self, text: str) -> None:
        self.aliases = {m.group(1): m.group(2) for m in map(_LOCATION_ALIAS.match, text.splitlines()) if m}

    def chain(self, inner: str, limit: int = 50) -> list[tuple[str, int, int]]:
        """Places of the location text ``inner`` (what stands within ``loc(...)``), innermost first."""
        inner = inner.strip()
        if limit == 0 or not inner:
            return []
        if inner.startswith("#loc"):
            return self.chain(self.aliases.get(inner, ""), limit - 1)
        if inner.startswith("callsite("):
            callee, _, caller = balanced(inner, 0, "(", ")")[1:-1].partition(" at ")
            return self.chain(callee, limit - 1) + self.chain(caller, limit - 1)
        place = re.match(r'"([^"]*)":(\d+):(\d+)$', inner)
        if place:
            return [(place.group(1), int(place.group(2)), int(place.group(3)))]
        named = re.match(r'"[^"]*"\(', inner)
        if named:
            return self.chain(balanced(inner, named.end() - 1, "(", ")")[1:-1], limit - 1)
        fused = re.search(r"\[(.*)\]$", inner)
        return self.chain(fused.group(1).split(",")[0], limit - 1) if fused else []


def operations(
    text: str, other: Callable[[str, tuple[int, ...]], LinearLayout] | None = None
) -> list[Operation]:
    """The memory operations of a TTGIR module, in program order."""
    aliases = {m.group(1): m.group(2) for m in map(_ALIAS.match, text.splitlines()) if m}
    locations = Locations(text)
    found = []
    for line in text.splitlines():
        match = _OPERATION.match(line)
        if match is None or match.group(2) not in KINDS:
            continue
        indent, name, rest = match.groups()
        at = rest.rfind(" loc(")
        places = locations.chain(balanced(rest[at:], 0, "(", ")")[1:-1]) if at >= 0 else []
        body = rest[:at] if at >= 0 else rest
        head, _, types = body.partition(" : ")
        operation = Operation(name, KINDS[name], (), 32, None, "", places, len(indent) // 2)
        operation.masked = is_masked(name, head)
        tensor = _TENSOR_OF_POINTERS.search(types)
        if tensor:
            operation.shape = tuple(int(n) for n in tensor.group(1).split("x") if n)
            operation.element_bits = element_bits(tensor.group(2))
            operation.encoding = encoding_text(tensor.group(3), aliases)
            operation.layout = parse_layout(operation.encoding, operation.shape, other)
        elif operation.kind != "descriptor":
            scalar = _SCALAR_POINTER.search(types)
            if scalar is None:
                continue
            operation.element_bits = element_bits(scalar.group(1))
        found.append(operation)
    return found


def is_masked(name: str, head: str) -> bool:
    """True where the operation has a mask operand; ``head`` is its text up to the types."""
    operands = head.split("{")[0].count("%")
    if name == "tt.load":
        return operands >= 2
    if name in ("tt.store", "tt.atomic_rmw"):
        return operands >= 3
    return " mask " in head
