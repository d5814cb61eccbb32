"""Starred arguments of a launch (``*x.stride()``) written out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

from coalesce_lint.launches.strides import Questions
from coalesce_lint.launches.values import (
    Choice,
    Items,
    ShapeOf,
    SizeOf,
    Star,
    StrideOf,
    StridesOf,
    Unknown,
    Value,
)

#: A value with its text.
Argument: TypeAlias = "tuple[Value, str]"


def positional(args: list[Argument], plain: list[str], questions: Questions) -> list[Argument] | None:
    """The positional arguments with starred ones written out; None where their number is not known.

    One starred argument of unknown length takes the parameters that nothing else is passed for.
    """
    stars = [a for a in args if isinstance(a[0], Star)]
    if not stars:
        return args
    lengths = {id(s): _length(s[0].value, questions) for s in stars if isinstance(s[0], Star)}
    open_ones = [s for s in stars if lengths[id(s)] is None]
    if len(open_ones) > 1:
        by_name = _lengths_by_name(args, plain, lengths)
        if by_name is None:
            return None
        lengths.update(by_name)
    elif open_ones:
        fixed = sum(lengths[id(a)] or 0 if isinstance(a[0], Star) else 1 for a in args if a not in open_ones)
        lengths[id(open_ones[0])] = max(len(plain) - fixed, 0)
    out: list[Argument] = []
    for a in args:
        if isinstance(a[0], Star):
            out += _elements(a[0].value, a[1], lengths[id(a)] or 0)
        else:
            out.append(a)
    return out


def _lengths_by_name(
    args: list[Argument], plain: list[str], lengths: Mapping[int, int | None]
) -> dict[int, int] | None:
    """The lengths of starred strides from the names of the parameters that they fall on.

    ``q_batch_stride, q_row_stride, k_batch_stride`` and ``stride_qb, stride_qm, stride_kb`` are two strides
    of q and one of k. None where that does not use up the parameters.
    """
    at, out = 0, {}
    for a in args:
        if not isinstance(a[0], Star):
            at += 1
            continue
        known = lengths[id(a)]
        if known is None:
            if at >= len(plain) or "stride" not in plain[at]:
                return None
            family = _family(plain[at])
            known = 0
            while at + known < len(plain) and _family(plain[at + known]) == family:
                known += 1
            out[id(a)] = known
        at += known
    return out if at == len(plain) else None


def _family(name: str) -> str:
    """The part of a stride's name that names its tensor."""
    if name.endswith("_stride"):
        return name.rsplit("_", 2)[0]
    return name[:-1] if "stride" in name else name


def _length(value: Value, questions: Questions) -> int | None:
    if isinstance(value, (StridesOf, ShapeOf)):
        return questions.rank(value.tensor)
    if isinstance(value, Items):
        lengths = [_length(i.value, questions) if isinstance(i, Star) else 1 for i in value.items]
        return None if None in lengths else sum(n or 0 for n in lengths)
    if isinstance(value, Choice):
        return next((n for o in value.options if (n := _length(o, questions)) is not None), None)
    return None


def _elements(value: Value, text: str, count: int) -> list[Argument]:
    if isinstance(value, StridesOf):
        t = value.tensor
        known = Questions({}).rank(t) is not None
        # a list of strides has as many as the kernel takes: counted from the end, the last is the last
        called = text.removesuffix("()") if text.endswith(".stride()") else f"{t.text}.stride"
        return [(StrideOf(t, k if known else k - count), f"{called}({k})") for k in range(count)]
    if isinstance(value, ShapeOf):
        return [(SizeOf(value.tensor, k), f"{value.tensor.text}.shape[{k}]") for k in range(count)]
    if isinstance(value, Items):
        out: list[Argument] = []
        for k, item in enumerate(value.items):
            if isinstance(item, Star):
                inner = _length(item.value, Questions({}))
                rest = count - (len(value.items) - 1) if inner is None else inner
                out += _elements(item.value, text, rest)
            else:
                out.append((item, f"{text}[{k}]"))
        return out
    if isinstance(value, Choice):
        columns = [_elements(o, text, count) for o in value.options]
        if all(len(c) == count for c in columns):
            return [(Choice(tuple(v for v, _ in parts)), parts[0][1]) for parts in zip(*columns, strict=True)]
    return [(Unknown("a starred value"), f"*{text}")] * count
