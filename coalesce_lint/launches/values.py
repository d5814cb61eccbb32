"""What a name of host code can hold, as far as launches need it: tensors, strides, shapes, numbers.

A ``Tensor`` is one tensor object; what is known of it (``Facts``) belongs to a point of the program and is
kept beside it, because an assert or a guard adds to it and a branch may not.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias


@dataclass(frozen=True)
class Facts:
    """What is known of one tensor at a point of the program.

    ``contiguous`` is why its elements lie in row-major order without gaps, None where that is not known;
    ``unit`` maps dimension numbers, as they were written, to why their stride is 1; ``shaped`` holds the
    ``number`` of tensors that have the same shape, ``strided`` of those whose strides were compared with
    its own. ``arm`` is the position of the arm that it is, for a "join".
    """

    contiguous: str | None = None
    unit: Mapping[int, str] = field(default_factory=dict)
    rank: int | None = None
    shaped: frozenset[int] = frozenset()
    strided: frozenset[int] = frozenset()
    arm: int | None = None

    def with_(self, **kw: Any) -> Facts:
        return Facts(**{**vars(self), **kw})

    def both(self, other: Facts) -> Facts:
        """What holds where ``self`` and ``other`` are both known."""
        return Facts(
            self.contiguous or other.contiguous,
            {**other.unit, **self.unit},
            self.rank if self.rank is not None else other.rank,
            self.shaped | other.shaped,
            self.strided | other.strided,
            self.arm if self.arm is not None else other.arm,
        )

    def either(self, other: Facts) -> Facts:
        """What holds where only one of ``self`` and ``other`` is known to hold."""
        return Facts(
            self.contiguous if other.contiguous else None,
            {k: why for k, why in self.unit.items() if k in other.unit},
            self.rank if self.rank == other.rank else None,
            self.shaped & other.shaped,
            self.strided & other.strided,
            self.arm if self.arm == other.arm else None,
        )


NOTHING = Facts()

#: Facts by the tensor's number.
Known: TypeAlias = "Mapping[int, Facts]"


@dataclass(eq=False)
class Tensor:
    """One tensor object.

    ``origin``: "given" (a parameter, an attribute, the result of an unknown call), "fresh" (allocated in the
    default format), "copy" (``.contiguous()``), "like" (keeps the order of ``parent``'s strides), "view" of
    ``parent`` through ``view`` (see ``views.py``), or "join" of ``arms``.
    """

    number: int
    text: str  #: how the host code writes it, on one line
    origin: str
    line: int
    rank: int | None = None
    parent: Tensor | None = None
    view: tuple[Any, ...] = ()
    arms: tuple[tuple[Tensor, Known], ...] = ()
    why: str = ""  #: for "fresh" and "copy": what makes it contiguous
    parameter: str = ""  #: for "given": the parameter of the host function that it is
    sizes: tuple[int | None, ...] = ()  #: for "fresh": its dimensions, where they are literals
    dims: tuple[Value, ...] = ()  #: its sizes as the host code gives them: of an allocation, of a new shape
    dtype: str = ""  #: its element type where the host code names it ("int64")
    maker: str = ""  #: for "given": the unknown function that made it of contiguous tensors, and literals
    guessed: bool = False  #: may be no tensor at all: nothing is known of the name but its use


@dataclass(frozen=True)
class Number:
    """A literal: int, float, bool, str or None."""

    value: int | float | bool | str | None


@dataclass(frozen=True)
class StrideOf:
    """``tensor.stride(dim)``; ``known`` are the facts where it was asked."""

    tensor: Tensor
    dim: int
    known: Known = field(default_factory=dict, compare=False)


@dataclass(frozen=True)
class StridesOf:
    """``tensor.stride()``."""

    tensor: Tensor


@dataclass(frozen=True)
class SizeOf:
    """``tensor.shape[dim]``."""

    tensor: Tensor
    dim: int


@dataclass(frozen=True)
class ShapeOf:
    """``tensor.shape``."""

    tensor: Tensor


@dataclass(frozen=True)
class Sizes:
    """Arithmetic of sizes and numbers; ``parts`` are its sizes."""

    parts: tuple[Value, ...] = ()


@dataclass(frozen=True)
class Choice:
    """One of several values, by a condition."""

    options: tuple[Value, ...]


@dataclass(frozen=True)
class Star:
    """``*value`` inside a tuple, a list or the arguments of a call."""

    value: Value


@dataclass(frozen=True)
class Items:
    """A tuple or list; it may hold ``Star``."""

    items: tuple[Value, ...]


@dataclass(frozen=True)
class Each:
    """A sequence of unknown length whose elements are all like ``element`` (``x.chunk(n, dim)``)."""

    element: Value


@dataclass(frozen=True)
class Test:
    """A condition that was given a name, with the names that it was written in."""

    node: ast.expr
    names: Mapping[str, Value] = field(default_factory=dict, compare=False)


@dataclass(frozen=True, eq=False)
class Table:
    """A dict with string keys; ``complete`` is False where it may hold more."""

    items: Mapping[str, Value]
    complete: bool = True


@dataclass(frozen=True)
class Reference:
    """A function, class or module by its dotted name as the file writes it, or a kernel."""

    name: str


@dataclass(frozen=True, eq=False)
class Bound:
    """``functools.partial(target, *args, **keywords)``, or ``target[grid]`` where ``indexed``."""

    target: Value
    args: tuple[Value, ...] = ()
    keywords: Mapping[str, Value] = field(default_factory=dict)
    indexed: bool = False


@dataclass(frozen=True)
class Unknown:
    """Anything else, with the reason."""

    reason: str = "not understood"


Value: TypeAlias = (
    "Tensor | Number | StrideOf | StridesOf | SizeOf | ShapeOf | Sizes | Choice | Star | Items | Each "
    "| Test | Table | Reference | Bound | Unknown"
)


@dataclass
class State:
    """Names and facts at one point of a host function."""

    names: dict[str, Value] = field(default_factory=dict)
    known: Known = field(default_factory=dict)
    ended: bool = False  #: control does not get past this point

    def copy(self) -> State:
        return State(dict(self.names), self.known, self.ended)

    def learn(self, tensor: Tensor, facts: Facts) -> None:
        """Adds to what is known of ``tensor``."""
        old = self.known.get(tensor.number, NOTHING)
        self.known = {**self.known, tensor.number: facts.both(old)}
