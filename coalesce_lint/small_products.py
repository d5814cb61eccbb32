"""What keeps a 32-bit product in an address below 2**31, as far as the kernel and its launches say.

An offset can pass 2**31 elements only in a tensor that has as many. What speaks against that:

- the index is a bare program id, or the stride is that of heads, and the same address holds the stride of an
  outer dimension too: the product stays within one row of that dimension (``token * stride_t + head *
  stride_h``);
- the access reads or writes one element a program: per-row scalars, entries of a table;
- the tensor holds indices: what is loaded from it places other accesses, or its name or type says so;
- the index counts sequences, of which the kernel loads the lengths, and the access has one row of each.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property

from coalesce_lint.access import Access, Kernel
from coalesce_lint.index.nodes import Node
from coalesce_lint.overflow import Product, factors, pointer_of, reached

#: Pointers to tables of indices.
_TABLE = re.compile(
    r"(?i)(page|block|seq)_?tables?|req_to_tok|(^|_)(b_?loc|ids|idx|indices|locs?|slot_?mapping|indptr)(_|ptr|$)"
)
#: Pointers to the lengths of sequences, or where they begin.
_LENGTHS = re.compile(r"(?i)len|indptr|cu_?seq|start_?loc")
#: Pointers to one number a row or a block of elements.
_SCALARS = re.compile(r"(?i)(^|_)(lse|.*scales?|descales?)(_|ptr|$)|lse(_?ptr)?$")
#: Strides between heads, of which there are a few hundred at most.
_HEADS = re.compile(r"(?i)(^|_)[a-z]{0,2}h$|(^|_)heads?(_|$)")
_INTEGERS = frozenset(("int64", "int32", "int16", "uint16", "uint32"))


@dataclass(frozen=True)
class _Read:
    """A value that something depends on: the pointer that it is loaded through, and the program id that alone
    says where."""

    pointer: str
    program_axis: int | None


@dataclass
class SmallProducts:
    """The products of one kernel that stay small."""

    kernel: Kernel
    _order: dict[str, int] = field(init=False)

    def __post_init__(self) -> None:
        self._order = {name: k for k, name in enumerate(self.kernel.parameters)}

    def stays_small(self, access: Access, product: Product) -> bool:
        if self._of_indices(access):
            return True
        if product.kind != "program id":
            return False
        if access.pattern == "uniform" or _SCALARS.search(access.pointer):
            return True
        if product.runtime is None:
            return False
        if product.program_axis is None:
            return bool(_HEADS.search(product.runtime)) and self._within_another(access, product.runtime)
        return self._within_another(access, product.runtime) or (
            product.program_axis in self._sequences and not self._positions(access)
        )

    def _of_indices(self, access: Access) -> bool:
        """Whether the tensor holds indices, lengths or the like."""
        if access.pointer in self._tables or _TABLE.search(access.pointer):
            return True
        passed = [p for x in self.kernel.launches if (p := x.arguments.get(access.pointer)) is not None]
        return bool(passed) and all(p.tensor is not None and p.tensor.dtype in _INTEGERS for p in passed)

    def _within_another(self, access: Access, factor: str) -> bool:
        """Whether the address also holds the stride of a dimension outside of that of ``factor``."""
        return any(self._is_outer(other, factor) for other in factors(access) if other != factor)

    def _is_outer(self, other: str, factor: str) -> bool:
        for launch in self.kernel.launches:
            a, b = launch.arguments.get(other), launch.arguments.get(factor)
            if a is None or b is None or a.tensor is None or b.tensor is None:
                continue
            if a.tensor.root == b.tensor.root and a.dim is not None and b.dim is not None:
                return a.dim < b.dim if (a.dim < 0) == (b.dim < 0) else a.dim >= 0
        # strides are passed in the order of their dimensions; sizes come first, too, and are none
        names = [n for n in (other, factor) if "stride" in n.lower()]
        return len(names) == 2 and self._order.get(other, 0) < self._order.get(factor, 0)

    def _positions(self, access: Access) -> bool:
        """Whether the access walks along the sequences: a tile index beside the lanes times a stride."""
        return any(s.axes and s.parameters and s.kinds - {"lane"} for s in access.summands)

    @cached_property
    def _tables(self) -> frozenset[str]:
        """The pointers through which parts of addresses are loaded."""
        return frozenset(r.pointer for r in self._reads(addresses=True) if r.pointer)

    @cached_property
    def _sequences(self) -> frozenset[int]:
        """The axes of program ids with which alone the kernel loads lengths: bounds of loops, or so named."""
        bounds = {r.program_axis for r in self._reads(addresses=False)}
        named = {
            _program_axis(a.site.address)
            for a in self.kernel.accesses
            if a.site is not None and not a.is_write and _LENGTHS.search(a.pointer)
        }
        return frozenset(axis for axis in bounds | named if axis is not None)

    def _reads(self, addresses: bool) -> Iterator[_Read]:
        """What addresses, or the bounds of loops, depend on."""
        seen: set[int] = set()
        for access in self.kernel.accesses:
            site = access.site
            if site is None:
                continue
            roots = [site.address] if addresses else [n for x in site.loops for n in x.bounds or ()]
            for load in _loads(roots, seen):
                yield _Read(pointer_of(load), _program_axis(load.args[0]))


def _loads(roots: list[Node], seen: set[int]) -> Iterator[Node]:
    """The loads that ``roots`` depend on."""
    todo: list[object] = list(roots)
    while todo:
        node = todo.pop()
        if not isinstance(node, Node) or id(node) in seen:
            continue
        seen.add(id(node))
        if node.op == "load":
            yield node
        todo += node.args
        todo.append(getattr(node.attr, "out", None))


def _program_axis(address: Node) -> int | None:
    """The axis of the program id that alone makes up ``address``, None where more does."""
    made_of = ("pid", "load", "loopvar", "iter", "arange")
    kinds = {n.op: n.attr for n in reached(address) if n.op in made_of}
    return kinds["pid"] if set(kinds) == {"pid"} else None
