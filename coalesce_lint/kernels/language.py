"""The meaning of the functions of ``triton.language`` (and Gluon, and the builtins kernels use).

A function is looked up by its last name; whether the name in front means the language follows from the
imports. Any ``X.program_id`` is a scalar program id. Functions that are not in the table are opaque if their
result could matter.
"""

from __future__ import annotations

from coalesce_lint.access import Place
from coalesce_lint.index.nodes import Node, const
from coalesce_lint.kernels import arithmetic, builtin_functions, descriptors, memory, reductions, shaping
from coalesce_lint.kernels.build import int_value
from coalesce_lint.kernels.jit import LANGUAGE_NAMES
from coalesce_lint.kernels.reading import Meaning, Reading
from coalesce_lint.kernels.values import Arguments, Bound, Desc, DType, Ref, Value
from coalesce_lint.kernels.words import words
from coalesce_lint.reasons import Reason

_DTYPES = words(
    "int1 int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 bfloat16 float32 float64 float8e4nv "
    "float8e5 float8e4b8 float8e5b16 float8e4b15 void"
)
_IGNORED = words(
    "static_print device_print static_assert device_assert debug_barrier assume barrier_wait barrier_expect "
    "barrier_arrive mbarrier_wait fence wait commit_group print async_descriptor_store_wait sched_barrier"
)


#: Functions that give one number to all lanes; nothing else is known of it.
_SCALARS = words(
    "cluster_cta_rank async_task_replica_id cuda_capability_geq thread_rank warp_id cta_rank cluster_size_1d"
)


def is_language(path: str) -> bool:
    """True for a dotted path inside the language or a shim of it."""
    parts = path.split(".")
    return (
        "language" in parts
        or any(p in LANGUAGE_NAMES for p in parts)
        or "gluon" in parts
        or parts[0] == "triton"
    )


def knows(name: str) -> bool:
    """Whether ``from triton.language import *`` binds ``name``, as far as it matters here."""
    return (
        name in TABLE or name in ANYWHERE or name in _DTYPES or name in ("range", "static_range", "constexpr")
    )


def named(it: Reading, base: Ref, name: str) -> Value:
    """An attribute of an imported module."""
    if name in _DTYPES:
        return DType(name)
    return Ref(f"{base.path}.{name}")


def call(it: Reading, ref: Ref, args: Arguments, place: Place) -> Value:
    """A call of an imported function."""
    name = ref.last
    if ref.path.startswith("builtins."):
        return builtin_functions.call(it, name, args)
    if name in ANYWHERE:
        return ANYWHERE[name](it, args, place)
    if is_language(ref.path):
        if name in TABLE:
            return TABLE[name](it, args, place)
        if name in _DTYPES:
            return arithmetic.cast_to(it, args.get(0, "x"), DType(name))
    module = it.frame.function.module
    fn = it.resolver.function(module, ref.path)
    if fn is not None:
        return it.inline(fn, args, place)
    if name in TABLE and not _foreign(ref):
        return TABLE[name](it, args, place)
    if name.endswith(("Layout", "layout")) or "layouts" in ref.path:
        return DType(name)
    numbers = [a for a in [*args.positional, *args.keywords.values()] if isinstance(a, Node)]
    if name in reductions.DATA or "libdevice" in ref.path or ".math" in ref.path or "tl_math" in ref.path:
        return it.build.data(name, *numbers)
    return it.build.opaque(Reason.CALL.of(name), *numbers, shape=None)


def _foreign(ref: Ref) -> bool:
    return ref.path.split(".")[0] in ("torch", "numpy", "math", "os", "functools", "itertools")


def call_method(it: Reading, bound: Bound, args: Arguments, place: Place) -> Value:
    """A method of a value: ``x.to(tl.int64)`` is ``tl.to(x, tl.int64)``."""
    owner, name = bound.owner, bound.name
    if isinstance(owner, (Desc, Node)) and name in descriptors.METHODS:
        done = descriptors.descriptor_method(it, owner, name, args, place)
        if done is not None:
            return done
    if isinstance(owner, Node):
        merged = Arguments([owner, *args.positional], args.keywords, args.starred)
        if name in TABLE:
            return TABLE[name](it, merged, place)
        if name in reductions.DATA or name in ("item", "handle"):
            return it.build.data(name, owner)
        return it.build.opaque(Reason.METHOD.of(name), owner, shape=None)
    return it.build.opaque(Reason.METHOD.of(name), shape=None)


def _program_id(it: Reading, args: Arguments, place: Place) -> Value:
    return it.build.make("pid", (), int_value(args.get(0, "axis", const(0))), ())


def _num_programs(it: Reading, args: Arguments, place: Place) -> Value:
    return it.build.make("num_programs", (), int_value(args.get(0, "axis", const(0))), ())


def _scalar(name: str) -> Meaning:
    def meaning(it: Reading, args: Arguments, place: Place) -> Value:
        return it.build.make("opaque", (), Reason.CALL.of(name), ())

    return meaning


def _ignore(it: Reading, args: Arguments, place: Place) -> Value:
    return const(None)


TABLE: dict[str, Meaning] = {
    **shaping.TABLE,
    **arithmetic.TABLE,
    **reductions.TABLE,
    **{name: _ignore for name in _IGNORED if name != "assume"},
    **{name: _scalar(name) for name in _SCALARS},
    **memory.TABLE,
}
#: Functions whose name alone tells what they are, whatever module they come from.
ANYWHERE: dict[str, Meaning] = {
    "program_id": _program_id,
    "num_programs": _num_programs,
    "div_floor_integer": arithmetic.div_floor,
    "remainder_integer": lambda it, args, place: it.build.make(
        "mod", (it.number(args.get(0, "a")), it.number(args.get(1, "b"))), "floor"
    ),
    "cdiv": arithmetic.cdiv,
}
