"""Arguments by keyword: kernels may write ``tl.load(pointer=p)``, the oracle takes them by position."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

#: The names of the leading parameters in Triton, for kernels that pass them by keyword.
PARAMETERS = {
    "load": "pointer mask other boundary_check",
    "store": "pointer value mask boundary_check",
    **{f"atomic_{n}": "pointer val mask" for n in ("add", "max", "min", "and", "or", "xor", "xchg")},
    "atomic_cas": "pointer cmp val",
    **dict.fromkeys(["sum", "max", "min", "argmax", "argmin"], "input axis"),
    **dict.fromkeys(["xor_sum", "reduce_or", "cumsum", "cumprod"], "input axis"),
    **dict.fromkeys(["reduce", "associative_scan"], "input axis combine_fn"),
    **dict.fromkeys(["reshape", "view", "broadcast_to"], "input shape"),
    **dict.fromkeys(["permute", "trans"], "input dims"),
    **dict.fromkeys(["multiple_of", "max_contiguous", "max_constancy"], "input values"),
    **dict.fromkeys(["dot", "join", "cat", "broadcast"], "input other"),
    "advance": "base offsets",
    "cast": "input dtype",
    "cdiv": "x div",
    "clamp": "x min max",
    "dot_scaled": "lhs lhs_scale lhs_format rhs",
    "expand_dims": "input axis",
    "gather": "src index axis",
    "inline_asm_elementwise": "asm constraints args dtype",
    "maximum": "x y",
    "minimum": "x y",
    "sort": "x dim descending",
    "where": "condition x y",
}


def by_keyword(function: Callable[..., Any], names: list[str]) -> Callable[..., Any]:
    """``function`` with its leading parameters given by their Triton names too."""

    def apply(*args: Any, **kwargs: Any) -> Any:
        for name in names[len(args) :]:
            if name not in kwargs:
                break
            args += (kwargs.pop(name),)
        return function(*args, **kwargs)

    return apply
