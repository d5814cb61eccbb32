"""From the arguments of one launch to what each parameter of the kernel gets."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from coalesce_lint.launches.records import Copy, Passed, TensorFacts
from coalesce_lint.launches.starred import Argument, positional
from coalesce_lint.launches.strides import Questions, Stride, agreed
from coalesce_lint.launches.values import (
    Bound,
    Choice,
    Number,
    Reference,
    SizeOf,
    Sizes,
    StrideOf,
    Tensor,
    Unknown,
)

if TYPE_CHECKING:
    from coalesce_lint.launches.calls import RawLaunch

#: Keyword arguments of a launch that are the launcher's own.
OWN = frozenset(
    [
        "num_warps",
        "num_stages",
        "num_ctas",
        "enable_fp_fusion",
        "grid",
        "warmup",
        "maxnreg",
        "stream",
        "waves_per_eu",
        "matrix_instr_nonkdim",
    ]
)


def bind(
    raw: RawLaunch, kernel: ast.FunctionDef, questions: Questions, bound: Bound | None
) -> dict[str, Passed]:
    """What each parameter of ``kernel`` gets. ``bound`` is the partial application that is launched."""
    a = kernel.args
    plain = [x.arg for x in [*a.posonlyargs, *a.args]]
    names = [*plain, *(x.arg for x in a.kwonlyargs)]
    keywords: dict[str, Argument] = {}
    early: list[Argument] = []
    if bound is not None:
        keywords.update({n: (v, n) for n, v in bound.keywords.items()})
        early = [(v, "a bound argument") for v in bound.args]
    keywords.update(raw.keywords)
    arguments = [*early, *raw.args]
    configs = autotuned(kernel)
    defaults = _defaults(kernel)
    wanted = [n for n in plain if n not in keywords]
    while wanted and (wanted[-1] in configs or (wanted[-1] in defaults and len(wanted) > len(arguments))):
        wanted.pop()
    spread = positional(arguments, wanted, questions)
    out: dict[str, Passed] = {}
    for k, name in enumerate(plain):
        if spread is not None and k < len(spread):
            out[name] = passed(spread[k], questions)
    for name in names:
        if name in out:
            continue
        if name in keywords:
            out[name] = passed(keywords[name], questions)
        elif name in configs:
            values = configs[name]
            only = values[0] if len(set(map(repr, values))) == 1 else None
            out[name] = Passed("config", "an autotuned value", values=values,
                               value=only if isinstance(only, (int, float, bool, str)) else None)  # fmt: skip
        elif raw.open_keywords:
            out[name] = Passed("unknown", "**", reason="in ** of unknown keys")
        elif name in defaults:
            out[name] = Passed("default", repr(defaults[name]), value=defaults[name],
                               stride=_literal(defaults[name]))  # fmt: skip
        elif spread is None:
            out[name] = Passed("unknown", "*", reason="behind * of unknown length")
        else:
            out[name] = Passed("unknown", "", reason="not passed")
    return out


def passed(argument: Argument, questions: Questions) -> Passed:
    """The record of one argument."""
    value, text = argument
    if isinstance(value, Number):
        return Passed("number", text, value=value.value, stride=_literal(value.value))
    if isinstance(value, Tensor):
        if value.guessed and value.origin == "given" and value.parameter:
            return Passed("tensor", text, tensor=tensor_facts(value, questions),
                          stride=Stride(why=f"a parameter of the function: {value.parameter}"))  # fmt: skip
        return Passed("tensor", text, tensor=tensor_facts(value, questions), stride=Stride(why=f"{text}"))
    if isinstance(value, StrideOf):
        asked = questions.under(value.known)
        t = value.tensor
        uncopied = None
        if t.origin == "copy" and t.parent is not None and asked.disordered(t.parent):
            uncopied = asked.stride(t.parent, value.dim)
        return Passed(
            "stride",
            _shown(value, text),
            tensor=tensor_facts(t, questions),
            dim=value.dim,
            stride=asked.stride(t, value.dim),
            uncopied=uncopied,
        )
    if isinstance(value, SizeOf):
        why = "a size, taken as more than 1"
        return Passed("size", text, tensor=tensor_facts(value.tensor, questions), dim=value.dim,
                      stride=Stride(False, "assumed", why))  # fmt: skip
    if isinstance(value, Sizes):
        return Passed(
            "sizes", text, stride=Stride(False, "assumed", "a product of sizes, taken as more than 1")
        )
    if isinstance(value, Choice):
        options = [passed((o, text), questions) for o in value.options]
        numbers = tuple(o.value for o in options if o.kind == "number")
        kinds = {o.kind for o in options}
        first = next((o for o in options if o.kind != "number"), options[0])
        return Passed(
            kinds.pop()
            if len(kinds) == 1
            else first.kind
            if first.kind in ("stride", "tensor")
            else "unknown",
            text,
            values=numbers,
            tensor=first.tensor,
            dim=first.dim,
            stride=agreed([o.stride for o in options if not _dummy(o)] or [o.stride for o in options]),
            reason="one of several values",
        )
    if isinstance(value, Reference):
        return Passed("unknown", text, reason="a name of the module")
    reason = value.reason if isinstance(value, Unknown) else type(value).__name__.lower()
    return Passed("unknown", text, reason=reason)


def _dummy(p: Passed) -> bool:
    """A 0 or None that stands where the tensor is missing: the access does not happen then."""
    return p.kind == "number" and p.value in (0, None)


def _shown(value: StrideOf, text: str) -> str:
    """The stride as a call where the argument is a name for it."""
    return text if "stride" in text and "(" in text else f"{value.tensor.text}.stride({value.dim})"


def _literal(value: object) -> Stride:
    if isinstance(value, int) and not isinstance(value, bool):
        return Stride(value in (1, -1), "proved", f"the literal {value}", value)
    return Stride(why="not a number")


def tensor_facts(t: Tensor, questions: Questions) -> TensorFacts:
    disorder = questions.disordered(t)
    like = None
    if t.origin == "like" and t.parent is not None:
        like = same_object(t.parent).number
    return TensorFacts(
        root=same_object(t).number,
        name=t.text,
        rank=questions.rank(t),
        contiguous=questions.contiguous(t),
        disorder=disorder[0] if disorder else None,
        basis=disorder[1] if disorder else "",
        made_in=t.line,
        fresh=t.origin in ("fresh", "copy"),
        like=like,
        copy=_copy(t, questions),
        sizes=t.sizes,
        shaped=questions.facts(t).shaped,
        strided=questions.facts(t).strided,
        dtype=_dtype(t),
        believed=questions.under(questions.believed).contiguous(t) if questions.believed else None,
        makers=questions.makers(t),
        uncertain=t.guessed,
    )


def _copy(t: Tensor, questions: Questions) -> Copy | None:
    """What ``t`` is a copy of, where ``.contiguous()`` had to copy."""
    if t.origin != "copy" or t.parent is None:
        return None
    gaps = questions.disordered(t.parent)
    if gaps is None:
        return None
    source = t.parent
    while source.parent is not None:
        source = source.parent
    return Copy(t.parent.text, gaps[0], source.text, source.origin == "given", t.line)


def _dtype(t: Tensor) -> str:
    """The element type, kept by views and copies."""
    for _ in range(8):
        if t.dtype or t.parent is None:
            break
        t = t.parent
    return t.dtype


def same_object(t: Tensor) -> Tensor:
    """The tensor behind ``detach()`` and the like."""
    while t.origin == "view" and t.view == ("same",) and t.parent is not None:
        t = t.parent
    return t


def _defaults(kernel: ast.FunctionDef) -> dict[str, int | float | bool | str | None]:
    a = kernel.args
    plain = [*a.posonlyargs, *a.args]
    pairs: Iterable[tuple[ast.arg, ast.expr | None]] = [
        *zip(plain[len(plain) - len(a.defaults) :], a.defaults, strict=True),
        *zip(a.kwonlyargs, a.kw_defaults, strict=True),
    ]
    return {
        arg.arg: node.value
        for arg, node in pairs
        if isinstance(node, ast.Constant)
        and (node.value is None or isinstance(node.value, (int, float, str)))
    }


def autotuned(kernel: ast.FunctionDef) -> Mapping[str, tuple[object, ...]]:
    """The parameters that an autotuner or heuristics choose, each with the literals it chooses among."""
    out: dict[str, tuple[object, ...]] = {}
    for decorator in kernel.decorator_list:
        if not isinstance(decorator, ast.Call):
            continue
        for node in ast.walk(decorator):
            if isinstance(node, ast.Dict):
                for key, value in zip(node.keys, node.values, strict=True):
                    if isinstance(key, ast.Constant) and isinstance(key.value, str):
                        literal = value.value if isinstance(value, ast.Constant) else f"?{key.value}"
                        out[key.value] = (*out.get(key.value, ()), literal)
    return out
