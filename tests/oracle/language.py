"""``triton.language`` for the oracle: making tiles, elementwise functions, and the table of all names."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from . import dtypes
from .dtypes import DType, OracleUnsupported, float32, int1, int32
from .keywords import PARAMETERS, by_keyword
from .memory import MEMORY, machine, stored_value
from .reductions import REDUCTIONS
from .shapes import SHAPES
from .values import Tile, as_int, is_number, promote, shape_of, tile, truncated_division


def constexpr(value: Any = None) -> Any:
    """A constexpr is its plain Python value."""
    return value.item() if isinstance(value, Tile) and value.data.size == 1 else value


# -- making tiles --------------------------------------------------------------------------------------------


def arange(start: Any, end: Any, *_args: Any, **_kwargs: Any) -> Tile:
    first, last = as_int(start), as_int(end)
    if last <= first:
        raise OracleUnsupported("an arange without lanes")
    return Tile(np.arange(first, last, dtype=np.int64), int32)


def program_id(axis: Any = 0, *_args: Any, **_kwargs: Any) -> Tile:
    return Tile(np.int64(machine().program[as_int(axis)]), int32)


def num_programs(axis: Any = 0, *_args: Any, **_kwargs: Any) -> Tile:
    return Tile(np.int64(machine().grid[as_int(axis)]), int32)


def full(shape: Any, value: Any, dtype: Any = float32, *_args: Any, **_kwargs: Any) -> Tile:
    number = tile(value).to(dtype) if isinstance(dtype, DType) else tile(value)
    return Tile(np.broadcast_to(number.data, shape_of(shape)), number.dtype)


def zeros(shape: Any, dtype: Any = float32, *_args: Any, **_kwargs: Any) -> Tile:
    return full(shape, 0, dtype)


def zeros_like(x: Tile) -> Tile:
    return full(x.shape, 0, x.dtype)


def extreme(function: Callable[..., np.ndarray]) -> Callable[..., np.ndarray]:
    """``function``, minimum or maximum, that notes which of two numbers the lanes take."""

    def apply(a: np.ndarray, b: np.ndarray) -> np.ndarray:
        found = function(a, b)
        machine().chosen(found == a)
        return found

    return apply


# -- elementwise ---------------------------------------------------------------------------------------------


def elementwise(function: Callable[..., np.ndarray]) -> Callable[..., Tile]:
    """A function of one or two numbers, lane by lane, that keeps their type."""

    def apply(*args: Any, **_kwargs: Any) -> Tile:
        numbers = [tile(a) for a in args if is_number(a)]
        dtype = numbers[0].dtype
        for other in numbers[1:]:
            dtype = promote(dtype, other.dtype)
        return Tile(function(*(n.data for n in numbers)), dtype)

    return apply


def float_function(*args: Any, **_kwargs: Any) -> Tile:
    """Any function of floats. Its shape may matter to an address, its values do not: they are made up."""
    tiles = [tile(a) for a in args if is_number(a)]
    if not tiles:
        raise OracleUnsupported("a math function of no number")
    total: Any = sum((np.asarray(t.data, dtype=np.float64) for t in tiles), start=np.float64(0))
    dtype = next((t.dtype for t in tiles if t.dtype.kind == "f"), float32)
    return Tile(np.tanh(total), dtype)


def where(condition: Any, a: Any, b: Any) -> Tile:
    x, y = tile(a), tile(b)
    holds = tile(condition).data != 0
    machine().chosen(holds)
    return Tile(np.where(holds, x.data, y.data), promote(x.dtype, y.dtype))


def clamp(x: Any, *bounds: Any, min: Any = None, max: Any = None, **_kwargs: Any) -> Tile:
    low, high = [*bounds, *(b for b in (min, max) if b is not None)][:2]
    return minimum(maximum(x, low), high)


def cdiv(x: Any, y: Any) -> Any:
    """Ceiling division of sizes, as Triton writes it: (x + y - 1) // y."""
    return (x + y - 1) // y


def python_minimum(a: Any, *more: Any) -> Any:
    """``min`` of Python in a kernel: of constexprs a constexpr, else the elementwise minimum."""
    for b in more:
        a = minimum(a, b) if isinstance(a, Tile) or isinstance(b, Tile) else min(a, b)
    return a


def python_maximum(a: Any, *more: Any) -> Any:
    for b in more:
        a = maximum(a, b) if isinstance(a, Tile) or isinstance(b, Tile) else max(a, b)
    return a


def cast(x: Any, dtype: Any, *_args: Any, bitcast: bool = False, **_kwargs: Any) -> Tile:
    return tile(x).to(dtype, bitcast=bitcast)


def same(x: Any, *_args: Any, **_kwargs: Any) -> Any:
    return x


def nothing(*_args: Any, **_kwargs: Any) -> None:
    return None


def static_assert(condition: Any, *_args: Any) -> None:
    if not condition:
        raise OracleUnsupported("a static_assert fails with these parameters")


def swizzle2d(i: Any, j: Any, size_i: Any, size_j: Any, group: Any) -> tuple[Any, Any]:
    """Row-major program indices to column-major ones inside groups of ``group`` rows."""
    flat = i * size_j + j
    per_group = group * size_j
    first = (flat // per_group) * group
    rows = minimum(size_i - first, group)
    inside = flat % per_group
    return first + inside % rows, inside // rows


def device_range(*args: Any, **kwargs: Any):
    """A loop of the program: its variable is a runtime scalar."""
    for value in static_range(*args, **kwargs):
        yield tile(value)


def static_range(*args: Any, start: Any = None, end: Any = None, step: Any = None, **_hints: Any):
    """A loop unrolled by the compiler: its variable is a constexpr."""
    bounds = [as_int(a) for a in args]
    if end is not None:
        bounds = [as_int(start) if start is not None else (bounds[0] if bounds else 0), as_int(end)]
    if step is not None:
        bounds = [*([0, *bounds] if len(bounds) == 1 else bounds[:2]), as_int(step)]
    for value in range(*bounds):
        machine().step()
        yield value


def dot(a: Tile, b: Tile, *_args: Any, **kwargs: Any) -> Tile:
    dtype = kwargs.get("out_dtype", float32)
    return Tile(np.matmul(a.data.astype(np.float64), b.data.astype(np.float64)), dtype)


def dot_scaled(a: Tile, _a_scale: Any, _a_format: Any, b: Tile, *_args: Any, **_kwargs: Any) -> Tile:
    return Tile(np.zeros((*a.shape[:-1], b.shape[-1])), float32)


def random_integers(seed: Any, offset: Any, *_args: Any, **_kwargs: Any) -> Tile:
    return Tile(stored_value(tile(offset).data, as_int(seed) + machine().seed, 2**31), int32)


def random_floats(seed: Any, offset: Any, *_args: Any, **_kwargs: Any) -> Tile:
    return Tile(random_integers(seed, offset).data / 2**31, float32)


def four(function: Callable[..., Tile]) -> Callable[..., tuple[Tile, ...]]:
    return lambda seed, offset, *_a, **_k: tuple(function(seed, offset + k) for k in range(4))


def floor_division(a: Any, b: Any, *_args: Any) -> Any:
    """Inductor's ``div_floor_integer``: rounds down whatever the signs."""
    x, y = tile(a), tile(b)
    return Tile(np.floor_divide(x.data, np.where(y.data == 0, 1, y.data)), promote(x.dtype, y.dtype))


def remainder_of_divisor(a: Any, b: Any) -> Any:
    """Inductor's ``remainder_integer``: takes the sign of the divisor."""
    x, y = tile(a), tile(b)
    return Tile(np.remainder(x.data, np.where(y.data == 0, 1, y.data)), promote(x.dtype, y.dtype))


def inline_asm(_text: Any, _constraints: Any, args: Any, dtype: Any, *_args: Any, **_kwargs: Any) -> Any:
    """Some value of the right shape."""
    result = float_function(*args)
    if isinstance(dtype, (tuple, list)):
        return tuple(result.to(d) for d in dtype)
    return result.to(dtype)


class Ignored:
    """An option that does not matter to addresses, whatever is asked of it."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return self


def umulhi(a: Any, b: Any) -> Tile:
    return (tile(a) * tile(b)) >> 32


minimum = elementwise(extreme(np.minimum))
maximum = elementwise(extreme(np.maximum))
_FLOAT_FUNCTIONS = (
    "exp exp2 log log2 sin cos sqrt rsqrt sqrt_rn erf sigmoid softmax fdiv div_rn floor ceil fma "
    "tanh pow rcp log1p expm1 relu"
)

#: The names of ``triton.language``; ``execute.py`` adds the loop functions' Python twins.
LANGUAGE: dict[str, Any] = {
    **dtypes.BY_NAME,
    **MEMORY,
    **REDUCTIONS,
    **SHAPES,
    **dict.fromkeys(_FLOAT_FUNCTIONS.split(), float_function),
    **dict.fromkeys(["multiple_of", "max_contiguous", "max_constancy"], same),
    **dict.fromkeys(["assume", "device_assert", "device_print", "static_print", "debug_barrier"], nothing),
    "abs": elementwise(np.abs),
    "add": lambda a, b, *_a, **_k: a + b,
    "sub": lambda a, b, *_a, **_k: a - b,
    "mul": lambda a, b, *_a, **_k: a * b,
    "arange": arange,
    "block_type": lambda element, shape: element,
    "cast": cast,
    "cdiv": cdiv,
    "clamp": clamp,
    "constexpr": constexpr,
    "const": dtypes.pointer_type,
    "dot": dot,
    "dot_scaled": dot_scaled,
    "dtype": DType,
    "full": full,
    "logical_and": lambda a, b: tile(a).to(int1) & tile(b).to(int1),
    "logical_or": lambda a, b: tile(a).to(int1) | tile(b).to(int1),
    "inline_asm_elementwise": inline_asm,
    "maximum": maximum,
    "PropagateNan": Ignored(),
    "minimum": minimum,
    "num_programs": num_programs,
    "pointer_type": dtypes.pointer_type,
    "program_id": program_id,
    "rand": random_floats,
    "rand4x": four(random_floats),
    "randint": random_integers,
    "randint4x": four(random_integers),
    "randn": random_floats,
    "range": device_range,
    "static_assert": static_assert,
    "static_range": static_range,
    "swizzle2d": swizzle2d,
    "tuple": tuple,
    "umulhi": umulhi,
    "where": where,
    "zeros": zeros,
    "zeros_like": zeros_like,
}

for _name, _parameters in PARAMETERS.items():
    LANGUAGE[_name] = by_keyword(LANGUAGE[_name], _parameters.split())

#: Tensor methods that are the functions of the same name.
METHODS = (
    "abs broadcast_to cast expand_dims flip gather permute ravel reshape split trans view sum max min argmax "
    "argmin cumsum cumprod sort reduce associative_scan xor_sum reduce_or exp exp2 log log2 sqrt rsqrt "
    "sigmoid sin cos floor ceil cdiv logical_and logical_or softmax store atomic_add atomic_max atomic_min"
)
for _name in METHODS.split():
    setattr(Tile, _name, lambda self, *args, _f=LANGUAGE[_name], **kwargs: _f(self, *args, **kwargs))

__all__ = ["LANGUAGE", "floor_division", "remainder_of_divisor", "truncated_division"]
