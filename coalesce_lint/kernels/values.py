"""What a name can hold while a kernel is read: expression nodes, and the language's few structured values."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from coalesce_lint.index.nodes import Node

if TYPE_CHECKING:
    from coalesce_lint.kernels.source import Function

#: A ``Node`` for numbers, tiles and pointers; else one of the classes below.
Value = Any


@dataclass
class Tup:
    """A tuple or list. ``names`` where it has named fields (aggregates, named tuples)."""

    items: list[Value]
    names: tuple[str, ...] = ()


@dataclass(frozen=True)
class Ref:
    """A name that was imported: a module, or something in one, by its dotted path."""

    path: str

    @property
    def last(self) -> str:
        return self.path.rpartition(".")[2]


@dataclass(frozen=True)
class Fn:
    """A function of this or another file that Triton compiles."""

    function: Function


@dataclass(eq=False)
class Lambda:
    """A lambda or nested function with the names it closes over."""

    params: list[str]
    body: Any
    env: dict[str, Value]


@dataclass(frozen=True)
class DType:
    """An element type; ``name`` is "" where it is not known. ``pointer`` for pointer types."""

    name: str = ""
    pointer: bool = False


@dataclass(eq=False)
class BlockPtr:
    """The value of ``tl.make_block_ptr``: everything in elements, one entry a dimension."""

    base: Node
    shape: list[Node]
    strides: list[Node]
    offsets: list[Node]
    block: list[Any]
    order: Any = None
    place: Any = None


@dataclass(eq=False)
class Desc:
    """The value of ``tl.make_tensor_descriptor``, or a descriptor passed by the host (``host``)."""

    base: Node
    shape: list[Node]
    strides: list[Node]
    block: list[Any]
    host: bool = False
    place: Any = None


@dataclass(eq=False)
class Bound:
    """A method of a value: ``x.to``, ``desc.load``."""

    owner: Value
    name: str


@dataclass
class Arguments:
    """The arguments of a call, by position and by name."""

    positional: list[Value]
    keywords: dict[str, Value] = field(default_factory=dict)
    starred: bool = False  #: some arguments came from *args or **kwargs of unknown length

    def get(self, index: int | None, name: str, default: Value = None) -> Value:
        if name in self.keywords:
            return self.keywords[name]
        if index is not None and index < len(self.positional):
            return self.positional[index]
        return default
