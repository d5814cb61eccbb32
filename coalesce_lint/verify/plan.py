"""From examined accesses to permuted memory: what to permute, by which stride, and the launch that uses
it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from coalesce_lint.verify.variant.build import Target, Variant
from coalesce_lint.verify.variant.forms import Refusal
from coalesce_lint.verify.variant.permutation import Permutation, candidates

#: The share of neighbouring lanes that must be equally far apart.
DOMINANT = 0.75
#: A permuted tensor may take so many times the memory of the original.
GROWTH = 4


@dataclass(frozen=True)
class Region:
    """One storage as the kernel's parameters see it. ``origin`` in bytes, ``length`` in elements."""

    storage: int
    parameters: tuple[str, ...]
    element_bytes: int
    origin: int
    length: int
    dimensions: tuple[tuple[int, int], ...]


def tensors(launch: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    for name, spec in launch["arguments"].items():
        for inner in _within(spec):
            yield name, inner


def _within(spec: dict[str, Any]) -> Iterable[dict[str, Any]]:
    if spec["kind"] == "tensor":
        yield spec
    elif spec["kind"] == "tuple":
        for value in spec["values"]:
            yield from _within(value)
    elif spec["kind"] == "descriptor":
        yield spec["base"]


ITEM = {"bool": 1, "uint8": 1, "int8": 1, "int16": 2, "uint16": 2, "float16": 2, "bfloat16": 2, "int32": 4,
        "uint32": 4, "float32": 4, "int64": 8, "uint64": 8, "float64": 8}  # fmt: skip


def item_bytes(dtype: str) -> int:
    return 1 if dtype.startswith("float8") else ITEM[dtype]


def region_of(launch: dict[str, Any], storage: int, element_bytes: int) -> Region:
    """The region of a storage that the launch's arguments span. Raises Refusal where it has no single
    shape."""
    found = [(n, s) for n, s in tensors(launch) if s["storage"] == storage]
    if any(item_bytes(s["dtype"]) != element_bytes for _, s in found):
        raise Refusal("the kernel sees the memory as elements of different sizes")
    if any(launch["arguments"][n]["kind"] == "tuple" for n, _ in found):
        raise Refusal("the tensor is an element of a tuple argument")
    origin = min(s["offset"] for _, s in found)
    if any((s["offset"] - origin) % element_bytes for _, s in found):
        raise Refusal("two arguments see the memory shifted by part of an element")
    end = origin
    dimensions = []
    for _, spec in found:
        pairs = list(zip(spec["size"], spec["stride"], strict=True))
        if any(stride < 0 for _, stride in pairs):
            raise Refusal("negative stride")
        last = sum((n - 1) * s for n, s in pairs if n > 0)
        end = max(end, spec["offset"] + (last + 1) * element_bytes)
        dimensions += pairs
    end = min(max(end, origin), launch["storages"][storage]["bytes"])
    # A descriptor holds the tensor's shape besides its address: only plain pointers can lead elsewhere.
    names = tuple(dict.fromkeys(n for n, _ in found if launch["arguments"][n]["kind"] == "tensor"))
    if not names:
        raise Refusal("the tensor is reached through a descriptor only")
    return Region(storage, names, element_bytes, origin, (end - origin) // element_bytes, tuple(dimensions))


#: What storages begin with that are only written: no number for floats, zero for integers.
NO_NUMBER, ZERO = 0xFF, 0


def fill_outputs(launch: dict[str, Any], examined: dict[str, Any], pointers_read: set[str]) -> None:
    """Gives storages that are written and never read a ``filler`` to begin with: results that an earlier run
    has left there (a program's, an autotuner's trial) would hide that a kernel writes less.

    ``pointers_read`` are parameters that are read somewhere in the source, also where the programs that were
    looked at do not go.
    """
    read = set(examined["read"]) | {s["storage"] for name, s in tensors(launch) if name in pointers_read}
    for number in set(examined["written"]) - read:
        kinds = {s["dtype"] for _, s in tensors(launch) if s["storage"] == number}
        floats = all(kind.startswith(("float", "bfloat")) for kind in kinds)
        launch["storages"][number]["filler"] = NO_NUMBER if floats else ZERO


def stride_of(site: dict[str, Any]) -> int:
    """The stride of a site's neighbouring lanes in elements. Raises Refusal with the reason where there is
    none."""
    step, share = site["step"], site["share"]
    if not site["executed"]:
        raise Refusal("no lane was active in the programs that were looked at")
    if not site["counts"]["requests"]:
        raise Refusal("the compiler merged it with an equal access")
    if step is None:
        raise Refusal("lanes do not walk it: a scalar access")
    if len(site["storages"]) != 1:
        raise Refusal("it reaches several tensors")
    if share < DOMINANT:
        raise Refusal("neighbouring lanes are not equally far apart: a gather")
    if step == 0:
        raise Refusal("neighbouring lanes read one address")
    if step < 0:
        raise Refusal(f"negative stride {step}")
    return int(step)


def permutations(region: Region, stride: int) -> list[Permutation]:
    """Permutations to try. Raises Refusal where all of them take too much memory."""
    found = candidates(stride, list(region.dimensions), region.length, region.element_bytes)
    fitting = [p for p in found if p.new_length <= GROWTH * region.length + 4096]
    if not fitting:
        raise Refusal(f"the permuted tensor takes {found[0].new_length / region.length:.0f} times its memory")
    return fitting


def permuted_launch(
    launch: dict[str, Any], variant: Variant, regions: list[tuple[Region, Permutation]], closure_file: str
) -> dict[str, Any]:
    """The launch of a variant: new storages, pointers into them, and the new integers."""
    storages = list(launch["storages"])
    arguments = dict(launch["arguments"])
    for region, permutation in regions:
        number = len(storages)
        copied = {p: name for name, p in variant.copies.items() if p in region.parameters}
        storages.append(
            {
                "permuted_from": region.storage,
                "origin": region.origin,
                "element_bytes": region.element_bytes,
                "bytes": permutation.new_length * region.element_bytes,
                "permutation": vars(permutation),
                "copy": bool(copied),
                "address": 0,
            }
        )
        for parameter in copied or region.parameters:
            spec = arguments[parameter]
            elements = (spec["offset"] - region.origin) // region.element_bytes
            offset = permutation.step(elements) * region.element_bytes
            arguments[copied.get(parameter, parameter)] = {**spec, "storage": number, "offset": offset}
    for name, value in variant.arguments.items():
        arguments[name] = {"kind": "int", "value": value}
    return {
        **launch,
        "kernel": variant.name,
        "closure": closure_file,
        "arguments": arguments,
        "storages": storages,
    }


def target(
    region: Region, permutation: Permutation, places: frozenset[tuple[str, int, int]] | None = None
) -> Target:
    return Target(region.parameters, permutation, places)
