"""What travels from host code to the accesses of a kernel: launches and the arguments they pass."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from coalesce_lint.access import Place
from coalesce_lint.launches.strides import Stride


@dataclass(frozen=True)
class Copy:
    """A copy that ``.contiguous()`` makes for sure: of ``text``, a view with gaps or in another order.

    ``source`` is the tensor that was viewed, ``given`` whether it comes from outside of the function.
    """

    text: str
    disorder: str
    source: str
    given: bool
    line: int


@dataclass(frozen=True)
class TensorFacts:
    """What is known of a tensor argument where it is passed.

    ``root`` is the number of the tensor object in its host function: arguments with equal roots are the same
    tensor. ``contiguous`` is why it is; ``disorder`` why it is not and ``basis`` on what ground.
    """

    root: int
    name: str
    rank: int | None = None
    contiguous: str | None = None
    disorder: str | None = None
    basis: str = ""
    made_in: int = 0  #: the line where the view or copy was made
    fresh: bool = False  #: allocated in this function, or a copy made there
    like: int | None = None  #: the root of the tensor whose strides it keeps if that one is dense
    copy: Copy | None = None  #: for ``y.contiguous()`` of a view: what was copied
    sizes: tuple[int | None, ...] = ()  #: its dimensions, where the host code gives literals
    shaped: frozenset[int] = frozenset()  #: roots of tensors with the same shape
    strided: frozenset[int] = frozenset()  #: roots of tensors whose strides the host compared with these
    believed: str | None = None  #: why it is contiguous for every caller in the files that were read
    dtype: str = ""  #: "int64" where the host code says so
    makers: frozenset[str] = frozenset()  #: what made it of contiguous tensors (``Questions.makers``)
    uncertain: bool = False  #: may be no tensor at all


@dataclass(frozen=True)
class Passed:
    """One argument of a launch.

    ``kind``: "number" (with its ``value``), "tensor", "stride" (of ``tensor``'s dimension ``dim``), "size",
    "sizes" (arithmetic of sizes), "default", "config" (an autotuner chooses it among ``values``) or "unknown"
    (with the ``reason``). ``stride`` is what is known of the number where it is used as a stride.
    """

    kind: str
    text: str
    value: int | float | bool | str | None = None
    values: tuple[object, ...] = ()
    tensor: TensorFacts | None = None
    dim: int | None = None
    stride: Stride = field(default_factory=Stride)
    uncopied: Stride | None = None  #: what the stride would be without the ``.contiguous()`` before it
    reason: str = ""


def nested_name(kernel: str, line: int) -> str:
    """What a kernel inside a function goes by: others in the file may have its name."""
    return f"{kernel}@{line}"


@dataclass(frozen=True)
class Launch:
    """One launch of a kernel. ``arguments`` maps the kernel's parameters to what is passed for them.

    ``reached`` is False where the function around the launch is named nowhere else in the files that were
    read.
    """

    place: Place
    function: str
    arguments: Mapping[str, Passed]
    reached: bool = True
    via: str = ""  #: the function that was given the kernel, where the launch stands in another one
