"""The one kind of value a running kernel has: an array of lanes (a scalar is an array without axes).

Integers are 64 bits wide whatever their type says, so that an address is exact; only casts wrap. Tensors and
runtime scalars divide as C does (``//`` truncates, ``%`` takes the dividend's sign); plain Python numbers,
which stand for literals and constexprs, never reach this class and so keep Python's rules.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .dtypes import DType, OracleUnsupported, float32, int1, int32, int64


def truncated_division(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """a / b rounded towards zero; 0 where b is 0."""
    safe = np.where(b == 0, 1, b)
    quotient = np.abs(a) // np.abs(safe)
    return np.where(b == 0, 0, np.where((a < 0) != (safe < 0), -quotient, quotient))


def remainder_of_dividend(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return a - truncated_division(a, b) * b


def shape_of(value: Any) -> tuple[int, ...]:
    """A shape given as a tuple, a list, a single extent or nested in one more tuple."""
    if isinstance(value, (tuple, list)):
        if len(value) == 1 and isinstance(value[0], (tuple, list)):
            value = value[0]
        return tuple(as_int(v) for v in value)
    return (as_int(value),)


def as_int(value: Any) -> int:
    """A Python int out of an int or a scalar. Triton is stricter here: it wants a constexpr."""
    if isinstance(value, Tile):
        return int(value)
    if isinstance(value, (int, np.integer)):
        return int(value)
    raise OracleUnsupported(f"not an integer: {type(value).__name__}")


def promote(a: DType, b: DType) -> DType:
    """The type of a binary operation's result."""
    if a.kind == "p" or b.kind == "p":
        return a if a.kind == "p" else b
    if (a.kind == "f") != (b.kind == "f"):
        return a if a.kind == "f" else b
    return a if (a.bits, a.kind == "u") >= (b.bits, b.kind == "u") else b


class Tile:
    """Lanes of one type. A pointer's data are byte addresses: casts between pointer types come out right."""

    __array_ufunc__ = None  # numpy scalars must defer to the reflected operators below
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, data: Any, dtype: DType) -> None:
        self.data = np.asarray(data)
        self.dtype = dtype

    # -- what kernels ask of a tensor ------------------------------------------------------------------------

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(int(n) for n in self.data.shape)

    @property
    def numel(self) -> int:
        return int(self.data.size)

    @property
    def type(self) -> DType | BlockType:
        return BlockType(self.dtype, self.shape) if self.data.ndim else self.dtype

    @property
    def T(self) -> Tile:
        return Tile(np.swapaxes(self.data, -1, -2), self.dtype)

    @property
    def value(self) -> int | float | bool:
        return self.item()

    def item(self) -> int | float | bool:
        if self.data.size != 1:
            raise OracleUnsupported("a tile where a scalar is needed")
        return self.data.reshape(()).item()

    def __bool__(self) -> bool:
        return bool(self.item())

    def __index__(self) -> int:
        value = self.item()
        if isinstance(value, float) and value != int(value):
            raise OracleUnsupported("a float where an integer is needed")
        return int(value)

    __int__ = __index__

    def __float__(self) -> float:
        return float(self.item())

    def __getitem__(self, key: Any) -> Tile:
        keys = key if isinstance(key, tuple) else (key,)
        for k in keys:
            if not (k is None or k is Ellipsis or (isinstance(k, slice) and k == slice(None))):
                raise OracleUnsupported("indexing with anything but None and ':'")
        return Tile(self.data[tuple(keys)], self.dtype)

    def __iter__(self):
        raise OracleUnsupported("iteration over a tile")

    def to(self, dtype: Any, *_args: Any, bitcast: bool = False, **_kwargs: Any) -> Tile:
        if not isinstance(dtype, DType):
            raise OracleUnsupported(f"cast to {dtype!r}")
        if dtype.is_ptr():
            return Tile(self.data.astype(np.int64), dtype)
        if bitcast and (dtype.kind == "f") != (self.dtype.kind == "f"):
            # The bits of a float: any number will do.
            return Tile(dtype.wrap(self.data.astype(np.int64)), dtype)
        return Tile(dtype.wrap(self.data), dtype)

    def __repr__(self) -> str:
        return f"Tile({self.dtype}, {self.data!r})"


class BlockType:
    """The type of a tile: its element type and shape."""

    def __init__(self, element: DType, shape: tuple[int, ...]) -> None:
        self.element_ty = element.element_ty if element.is_ptr() else element
        self.scalar = element
        self.shape = shape

    def is_block(self) -> bool:
        return True

    def is_ptr(self) -> bool:
        return False

    def get_block_shapes(self) -> tuple[int, ...]:
        return self.shape

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(self.scalar, name)


def tile(value: Any) -> Tile:
    """Any number of the kernel as lanes; a Python number becomes a scalar of its natural type."""
    if isinstance(value, Tile):
        return value
    if isinstance(value, (bool, np.bool_)):
        return Tile(bool(value), int1)
    if isinstance(value, (int, np.integer)):
        return Tile(np.int64(value), int32 if -(2**31) <= value < 2**31 else int64)
    if isinstance(value, (float, np.floating)):
        return Tile(np.float64(value), float32)
    raise OracleUnsupported(f"not a number: {type(value).__name__}")


def is_number(value: Any) -> bool:
    return isinstance(value, (Tile, bool, int, float, np.number, np.bool_))


# -- operators -----------------------------------------------------------------------------------------------


def _operands(a: Any, b: Any) -> tuple[Tile, Tile, DType]:
    """Both as tiles, with the result's type: a Python number takes the other side's type."""
    if isinstance(a, Tile) and isinstance(b, Tile):
        return a, b, promote(a.dtype, b.dtype)
    x, y = tile(a), tile(b)
    theirs, own = (x, y) if isinstance(a, Tile) else (y, x)
    if theirs.dtype.kind in "iu" and own.dtype.kind in "iub":
        return x, y, theirs.dtype
    return x, y, promote(x.dtype, y.dtype)


def _integers(x: Tile) -> np.ndarray:
    return x.data.astype(np.int64) if x.data.dtype.kind == "b" else x.data


def _arithmetic(function: Callable[..., np.ndarray]) -> Callable[[Any, Any], Tile]:
    def apply(a: Any, b: Any) -> Tile:
        x, y, dtype = _operands(a, b)
        left, right = _integers(x), _integers(y)
        if dtype.is_ptr() and x.dtype.is_ptr() != y.dtype.is_ptr():
            # Pointer arithmetic counts elements.
            left = left if x.dtype.is_ptr() else left * dtype.element_ty.bytes
            right = right if y.dtype.is_ptr() else right * dtype.element_ty.bytes
        if x.dtype.is_ptr() and y.dtype.is_ptr():
            dtype = int64
        if dtype.kind == "b":
            dtype = int32
        result = function(left, right)
        # Small integers wrap round; signed ones of 32 bits and more are taken as wide enough.
        small = dtype.kind in "iu" and (dtype.bits < 32 or (dtype.kind == "u" and dtype.bits < 64))
        return Tile(dtype.wrap(result) if small else result, dtype)

    return apply


def _divide(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    if a.dtype.kind == "f" or b.dtype.kind == "f":
        return np.floor(a / np.where(b == 0, 1, b))
    return truncated_division(a, b)


def _modulo(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    if a.dtype.kind == "f" or b.dtype.kind == "f":
        return np.fmod(a, np.where(b == 0, 1, b))
    return remainder_of_dividend(a, b)


def _true_divide(a: Any, b: Any) -> Tile:
    x, y = tile(a), tile(b)
    wide = [t.dtype for t in (x, y) if t.dtype.kind == "f"]
    return Tile(_integers(x) / np.where(y.data == 0, 1, y.data), wide[0] if wide else float32)


def _bitwise(function: Callable[..., np.ndarray]) -> Callable[[Any, Any], Tile]:
    def apply(a: Any, b: Any) -> Tile:
        x, y, dtype = _operands(a, b)
        if x.data.dtype.kind == "f" or y.data.dtype.kind == "f":
            # Only a pointer whose type was guessed wrong gives floats here; its data are small whole numbers.
            return Tile(function(x.data.astype(np.int64), y.data.astype(np.int64)), int32)
        if x.data.dtype.kind == y.data.dtype.kind == "b":
            return Tile(function(x.data, y.data), int1)
        return Tile(function(_integers(x), _integers(y)), dtype)

    return apply


def _compare(function: Callable[..., np.ndarray]) -> Callable[[Any, Any], Any]:
    def apply(a: Any, b: Any) -> Any:
        if not (is_number(a) and is_number(b)):
            return NotImplemented
        return Tile(function(_integers(tile(a)), _integers(tile(b))), int1)

    return apply


def _shift_right(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return np.right_shift(a, np.clip(b, 0, 63))


def _shift_left(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return np.left_shift(a, np.clip(b, 0, 63))


def _power(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return (
        np.power(a.astype(np.float64), b)
        if a.dtype.kind == "f" or b.dtype.kind == "f"
        else np.power(a, np.abs(b))
    )


BINARY: dict[str, Callable[[Any, Any], Tile]] = {
    "add": _arithmetic(np.add),
    "sub": _arithmetic(np.subtract),
    "mul": _arithmetic(np.multiply),
    "floordiv": _arithmetic(_divide),
    "mod": _arithmetic(_modulo),
    "pow": _arithmetic(_power),
    "truediv": _true_divide,
    "and": _bitwise(np.bitwise_and),
    "or": _bitwise(np.bitwise_or),
    "xor": _bitwise(np.bitwise_xor),
    "lshift": _bitwise(_shift_left),
    "rshift": _bitwise(_shift_right),
}
COMPARE = {
    "lt": _compare(np.less),
    "le": _compare(np.less_equal),
    "gt": _compare(np.greater),
    "ge": _compare(np.greater_equal),
    "eq": _compare(np.equal),
    "ne": _compare(np.not_equal),
}


def _install_operators() -> None:
    for name, function in BINARY.items():
        setattr(Tile, f"__{name}__", lambda a, b, f=function: f(a, b) if is_number(b) else NotImplemented)
        setattr(Tile, f"__r{name}__", lambda a, b, f=function: f(b, a) if is_number(b) else NotImplemented)
    for name, function in COMPARE.items():
        setattr(Tile, f"__{name}__", lambda a, b, f=function: f(a, b))
    Tile.__neg__ = lambda a: BINARY["sub"](0, a)  # type: ignore[attr-defined]
    Tile.__pos__ = lambda a: a  # type: ignore[attr-defined]
    Tile.__invert__ = lambda a: Tile(~a.data, a.dtype)  # type: ignore[attr-defined]


_install_operators()
