"""The records that travel between the stages: what is known of one access to global memory."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from coalesce_lint.index.nodes import Loop, Node

#: Verdicts from worst to best. Where control flow gives several offsets, the worst one counts.
PATTERNS = ("strided", "unknown", "gather", "parametric", "contiguous", "uniform")


@dataclass
class Axis:
    """One tile axis of an access: its number, its extent in lanes and its stride in elements (both as text).

    ``stride`` is None where a step along the axis is not one expression (gathered, irregular or unknown);
    "0" where the address does not depend on the axis.
    """

    axis: int
    extent: str
    stride: str | None


@dataclass
class Place:
    """A place in a source file. ``line`` counts from 1, ``column`` from 0 as Python's ``ast`` does."""

    path: str
    line: int
    column: int
    end_line: int = 0
    end_column: int = 0


@dataclass
class Call:
    """One step of a call chain: the place where a helper was called, and the function that called it."""

    function: str
    place: Place


@dataclass
class Box:
    """What a block pointer or a descriptor says of its tensor and tile, one entry a dimension.

    Texts are expressions in elements; ``*_values`` the same as numbers, None where they are not numbers.
    ``fits`` is True for a dimension that no tile can cross the edge of: its size is proved a multiple of the
    block.
    """

    kind: str  #: "block_ptr" or "descriptor"
    host: bool  #: a descriptor that the host made; then only its last stride is known
    shape: list[str]
    strides: list[str]
    stride_values: list[int | None]
    block: list[str]
    block_values: list[int | None]
    fits: list[bool]
    order: list[int] | None = None
    boundary_check: list[int] | None = None
    padding: str | None = None
    promised: dict[str, int] = field(
        default_factory=dict
    )  #: divisors that ``tl.assume(p % 16 == 0)`` gives names
    made_at: Place | None = None  #: where make_block_ptr or make_tensor_descriptor was called


@dataclass
class Cost:
    """What a warp really fetches in one access. Sizes in bytes, ``lane_stride`` in elements."""

    element_bytes: int
    vector_bytes: int
    lane_axis: int | None
    lane_stride: str | None
    requests_per_warp: float
    sectors_per_request: float | None
    ideal_sectors_per_request: float
    efficiency: float | None
    program_sectors: int | None
    grid_sectors: int | None
    limited_by: str | None
    max_sectors_per_request: float | None = None
    program_bytes: int | None = None  #: distinct bytes that the lanes of a program ask for
    program_lookups: int | None = None  #: sectors that the requests of a program look up in L1
    #: The layouts in which the access is made (``hardware.linear_layout``), each with the bytes of one
    #: instruction; none for a scalar. Not serialized.
    layouts: tuple[Any, ...] = field(default=(), repr=False, compare=False)

    def as_dict(self) -> dict[str, Any]:
        """The cost as in the JSON contract (README, "JSON output")."""
        return {name: value for name, value in vars(self).items() if name != "layouts"}


@dataclass
class Site:
    """What the interpreter found at one access, before any verdict. Never serialized.

    ``address`` is the offset in elements with the root pointer inside it as a ``param`` node; ``guards`` are
    the branch conditions that hold here; ``related`` names the places of the aranges and assignments it came
    from.
    """

    address: Node
    mask: Node | None
    value: Node | None
    guards: tuple[tuple[Node, bool], ...]
    loop_depth: int
    loops: tuple[Loop, ...] = ()  #: the loops around the access, outermost first
    options: dict[str, Any] = field(default_factory=dict)
    related: list[tuple[Place, str]] = field(default_factory=list)

    @property
    def predicate(self) -> Node | None:
        """The mask, be it written or that of a block pointer's ``boundary_check``."""
        bounds: Node | None = self.options.get("bounds")
        return self.mask if self.mask is not None else bounds


@dataclass(frozen=True)
class Summand:
    """One product in an offset.

    ``number`` times the runtime ``parameters``, the ``constexprs`` and indices. ``axes`` are the tile axes
    that it depends on, ``kinds`` what the indices are made of ("lane", "pid", "loop", "loaded", "other"),
    ``inner`` the parameters inside them (``pid // n``).
    """

    number: int
    parameters: tuple[str, ...]
    constexprs: tuple[str, ...]
    axes: frozenset[int]
    kinds: frozenset[str]
    inner: frozenset[str]


@dataclass
class Part:
    """A lane stride of ``step`` units, and where in them an access starts.

    A unit is one element (``unit`` is ""), or a stride argument: ``2 * i * stride_d``. Accesses of a kernel
    with the same ``family`` have offsets that differ only by their ``start``, in units.
    """

    step: int
    unit: str
    family: int
    start: int


@dataclass
class LaunchAxis:
    """What a launch passes for the stride of one tile axis.

    ``stride`` is in elements, as a number or in the words of the host code; None where it is open.
    """

    axis: int
    argument: str
    stride: str | None
    why: str = ""


@dataclass
class UnderLaunch:
    """The verdict on an access under one launch, ``basis`` "proved" or "assumed" by the policy."""

    place: Place
    pattern: str
    basis: str
    axes: list[LaunchAxis]
    function: str = ""

    def as_dict(self) -> dict[str, Any]:
        return {
            "path": self.place.path,
            "line": self.place.line,
            "pattern": self.pattern,
            "basis": self.basis,
            "axes": [{"axis": a.axis, "argument": a.argument, "stride": a.stride} for a in self.axes],
        }


@dataclass
class Access:
    """One load, store, atomic, block-pointer or descriptor operation with its verdict."""

    place: Place
    op: str
    pointer: str
    offset: str
    pattern: str
    lane_axis: int | None
    lane_stride: str | None
    condition: str | None
    axes: list[Axis]
    notes: list[str]
    reason: str | None  #: of ``unknown``: one of ``coalesce_lint.reasons``; else what owns the unit stride
    kernel: str
    call_chain: list[Call] = field(default_factory=list)
    source: str = ""  #: the text of the call, on one line
    lane_term: str | None = None  #: the part of the offset that varies along ``lane_axis``
    loop_depth: int = 0
    reused: bool = False  #: True where the address does not change in the innermost loop around the access
    scalar_owner: str | None = None  #: the scalar that owns the unit stride, where there is one
    extents: tuple[int | None, ...] = ()  #: the axes' extents in lanes where they are numbers
    launches: list[UnderLaunch] = field(default_factory=list)
    summands: tuple[Summand, ...] = ()
    cost: Cost | None = None
    compiled: Any = None  #: what the compiler made of it (``verify.sidebyside.Compiled``), where it was asked
    box: Box | None = None
    element_bytes: int | None = None  #: where the source or the launch says
    start: int = 0  #: the number in the offset, in elements
    part: Part | None = None  #: where the lane stride is a number of units
    site: Site | None = None

    @property
    def is_write(self) -> bool:
        return self.op == "store" or self.op.endswith("_store")

    @property
    def is_atomic(self) -> bool:
        return self.op.startswith("atomic")

    def as_dict(self) -> dict[str, Any]:
        """The access as in the JSON contract (README, "JSON output")."""
        return {
            "path": self.place.path,
            "line": self.place.line,
            "column": self.place.column,
            "end_line": self.place.end_line,
            "end_column": self.place.end_column,
            "op": self.op,
            "pointer": self.pointer,
            "offset": self.offset,
            "pattern": self.pattern,
            "lane_axis": self.lane_axis,
            "lane_stride": self.lane_stride,
            "condition": self.condition,
            "axes": [vars(a) for a in self.axes],
            "notes": list(self.notes),
            "reason": self.reason,
            "call_chain": [
                {"function": c.function, "path": c.place.path, "line": c.place.line, "column": c.place.column}
                for c in self.call_chain
            ],
            "launches": [u.as_dict() for u in self.launches],
            "cost": self.cost.as_dict() if self.cost else None,
            **({"compiled": self.compiled.as_dict()} if self.compiled else {}),
        }

    def __getstate__(self) -> dict[str, Any]:
        """For worker processes: texts written out, the expression graph left behind."""
        for name in _LAZY:
            getattr(self, name)
        return {**self.__dict__, "site": None}


def _lazy(name: str) -> property:
    """A text field that may be set to a function; it is called when the text is first asked for."""
    slot = "_" + name

    def get(self: Access) -> Any:
        value = self.__dict__[slot]
        if callable(value):
            value = self.__dict__[slot] = value()
        return value

    def put(self: Access, value: Any) -> None:
        self.__dict__[slot] = value

    return property(get, put)


#: Texts that cost more than the verdict itself and that most runs never show.
_LAZY = ("offset", "lane_term", "axes", "source", "summands")
for _name in _LAZY:
    setattr(Access, _name, _lazy(_name))


@dataclass
class Hint:
    """One ``tl.multiple_of``, ``max_contiguous`` or ``max_constancy``: an unchecked promise to the compiler.

    ``verdict`` is "proved", "refuted" or "unproven"; ``reason`` says what of it is not so, or not sure.
    """

    place: Place
    kind: str
    verdict: str
    reason: str


@dataclass
class Kernel:
    """One kernel with all its accesses, those inside called helpers included."""

    path: str
    name: str
    line: int
    accesses: list[Access] = field(default_factory=list)
    end_line: int = 0
    first_line: int = 0  #: of the first decorator; 0 where it is not known
    hints: list[Hint] = field(default_factory=list)
    #: ``model.KernelModel``: what the compiler makes of it under assumed launches. Never serialized.
    model: Any = field(default=None, repr=False, compare=False)
    launches: list[Any] = field(default_factory=list, repr=False)  #: ``launches.records.Launch``
    sizes: frozenset[str] = frozenset()  #: runtime parameters that are bounds, or parts of products of sizes
    parameters: tuple[str, ...] = ()  #: the names of its parameters, in their order

    def as_dict(self) -> dict[str, Any]:
        return {
            "path": self.path,
            "name": self.name,
            "line": self.line,
            "accesses": [
                {**a.as_dict(), "assumed_cost": self.model.assumed_cost(a) if self.model else None}
                for a in self.accesses
            ],
        }


@dataclass
class FileError:
    """A file that could not be read or parsed, or one ``kernel`` of it that was not read to its end."""

    path: str
    line: int
    message: str
    column: int = 0
    kernel: str | None = None

    @property
    def text(self) -> str:
        """The message with the kernel that it is about."""
        return self.message if self.kernel is None else f"{self.kernel}: {self.message}"

    def as_dict(self) -> dict[str, Any]:
        return {"path": self.path, "line": self.line, "message": self.text}


@dataclass
class FileReport:
    """Everything the engine says about one file."""

    path: str
    kernels: list[Kernel] = field(default_factory=list)
    errors: list[FileError] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)

    def release(self) -> None:
        """Lets go of the kernels' models and accesses, which refer to one another: most of a file's graphs go
        at once then, and the collector of cycles, to which they are more work, has less to do.
        """
        for kernel in self.kernels:
            kernel.model = None
            kernel.accesses.clear()
        self.kernels.clear()
