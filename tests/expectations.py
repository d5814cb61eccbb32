"""Expectations written as comments in fixture kernels, and how they are compared with the analyzer's report.

    tl.load(x_ptr + i * n + j)  # finds: CL101 # expect: strided(n, axis=0)

``# expect:`` holds one verdict for each access that begins on the line, in column order, separated by commas.
Behind it, each introduced by ``;``:

    alt: VERDICT    another verdict that is as good
    and: VERDICT    the same access is also reported with this verdict, for another caller of its helper
    also: LABEL     a further finding that belongs here; its word is checked, nothing more

A verdict is a word, with options in parentheses: the stride of ``strided`` and ``parametric``, and any of
``axis=N``, ``run=N``, ``repeat=N``, ``rows=gather``, ``wrap(M)``, ``misaligned(+1)``, ``reversed``,
``compaction``, ``branch``, ``via helper``. ``reversed(-1)`` is contiguous with the stride -1; ``tma-ok`` and
``tma-invalid(why)`` are any verdict that a descriptor can have.

``# finds:`` holds the codes of the findings on the line, separated by commas; ``CL501?`` is one that is told
only where the rule is selected by its code. A word that is not listed is
an error: a misspelled expectation must not pass.
"""

from __future__ import annotations

import ast
import io
import random
import re
import tokenize
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

PATTERNS = {"uniform", "contiguous", "parametric", "strided", "gather", "unknown"}
KINDS = PATTERNS | {"reversed", "tma-ok", "tma-invalid"}
TILE_PATTERNS = {"contiguous", "parametric", "strided"}
NEEDS_STRIDE = {"parametric", "strided"}
FREE_TEXT = {"tma-invalid", "unknown"}
NOTE = re.compile(
    r"(?:run|repeat)=\S.*|rows=gather|wrap\(.+\)|misaligned\([+-]\d+\)|reversed|compaction|branch|via helper"
)
LABELS = {
    "assumed-pitch",
    "hint-unproven",
    "implicit-unit",
    "not-specialised",
    "order-mismatch",
    "overflow32",
    "pitch-unproven",
    "scalar-in-loop",
    "stride-mismatch",
    "vec-loss",
}
CODE = re.compile(r"CL[1-6]\d\d\??")


class BadExpectation(ValueError):
    """A comment that cannot be understood."""


@dataclass(frozen=True)
class Verdict:
    """What is expected of one access. ``stride`` in elements; None where nothing is said about it."""

    kind: str
    axis: int | None = None
    stride: str | None = None
    notes: tuple[str, ...] = ()

    def __str__(self) -> str:
        options = [self.stride] if self.stride else []
        options += [] if self.axis is None else [f"axis={self.axis}"]
        options += self.notes
        return f"{self.kind}({', '.join(options)})" if options else self.kind


@dataclass
class Line:
    """The expectations of one source line."""

    verdicts: list[Verdict] = field(default_factory=list)
    alternatives: list[Verdict] = field(default_factory=list)
    further: list[Verdict] = field(default_factory=list)
    codes: set[str] = field(default_factory=set)


def parse_file(text: str) -> dict[int, Line]:
    """The expectations of a file by line number. Raises BadExpectation."""
    lines: dict[int, Line] = {}
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type != tokenize.COMMENT:
            continue
        number = token.start[0]
        try:
            line = parse_comment(token.string)
        except BadExpectation as error:
            raise BadExpectation(f"line {number}: {error}") from None
        if line is not None:
            lines[number] = line
    return lines


def parse_comment(comment: str) -> Line | None:
    """The expectations in one comment, or None where it holds none. Raises BadExpectation."""
    if comment.startswith("# expect-host:"):
        return None
    if not re.search(r"#\s*(expect|finds)\b", comment):
        if re.search(r"\b(expect|finds|alt|also)\s*:", comment):
            raise BadExpectation(f"looks like an expectation but is none: {comment}")
        return None
    line = Line()
    for part in [p.strip() for p in comment.split("#") if p.strip()]:
        word, colon, rest = part.partition(":")
        if not colon or word not in ("expect", "finds"):
            raise BadExpectation(f"neither 'expect:' nor 'finds:' but {part!r}")
        if word == "finds":
            _parse_codes(rest, line)
        else:
            _parse_expect(rest, line)
    return line


def _parse_codes(text: str, line: Line) -> None:
    for code in split_list(text):
        if not CODE.fullmatch(code):
            raise BadExpectation(f"not a rule code: {code!r}")
        if code in line.codes:
            raise BadExpectation(f"{code} twice")
        line.codes.add(code)
    if not line.codes:
        raise BadExpectation("'finds:' without a code")


def _parse_expect(text: str, line: Line) -> None:
    main, *rest = [part.strip() for part in text.split(";")]
    line.verdicts = [parse_verdict(v) for v in split_list(main)]
    if not line.verdicts:
        raise BadExpectation("'expect:' without a verdict")
    for part in rest:
        word, colon, value = part.partition(":")
        value = value.strip()
        if colon and word == "alt":
            line.alternatives.append(parse_verdict(value))
        elif colon and word == "and":
            line.further.append(parse_verdict(value))
        elif colon and word == "also":
            label = value.split("(")[0].strip()
            if label not in LABELS:
                raise BadExpectation(f"unknown label {label!r}")
        else:
            raise BadExpectation(f"neither 'alt:', 'and:' nor 'also:' but {part!r}")


def parse_verdict(text: str) -> Verdict:
    """One verdict with its options. Raises BadExpectation."""
    match = re.fullmatch(r"([\w-]+)\s*(?:\((.*)\))?", text.strip())
    if not match or match[1] not in KINDS:
        raise BadExpectation(f"unknown verdict {text!r}")
    kind, inside = match[1], match[2]
    if kind in FREE_TEXT:
        return Verdict(kind)
    axis, stride, notes = None, None, []
    for option in split_list(inside or ""):
        if re.fullmatch(r"axis=\d", option):
            axis = int(option[5:])
        elif NOTE.fullmatch(option):
            notes.append(option)
        elif (kind in NEEDS_STRIDE or (kind, option) == ("reversed", "-1")) and stride is None:
            stride = option
            if not is_expression(option):
                raise BadExpectation(f"not an expression: {option!r}")
        else:
            raise BadExpectation(f"unknown option {option!r} of {kind}")
    if kind in NEEDS_STRIDE and stride is None:
        raise BadExpectation(f"{kind} without its stride")
    return Verdict(kind, axis, stride, tuple(notes))


def split_list(text: str) -> list[str]:
    """The parts of ``text`` between commas that stand outside all parentheses."""
    parts, depth = [""], 0
    for char in text:
        depth += (char == "(") - (char == ")")
        if char == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += char
    if depth:
        raise BadExpectation(f"unbalanced parentheses: {text!r}")
    return [p.strip() for p in parts if p.strip()]


# Comparison


def differences(lines: dict[int, Line], accesses: Iterable[Any]) -> list[str]:
    """What the ``accesses`` of a file do otherwise than expected, one text for each difference."""
    by_line: dict[int, dict[int, list[Any]]] = {}
    for access in accesses:
        by_line.setdefault(access.place.line, {}).setdefault(access.place.column, []).append(access)
    out = []
    for number in sorted({*by_line, *(n for n, line in lines.items() if line.verdicts)}):
        wanted = lines.get(number, Line())
        columns = [by_line[number][c] for c in sorted(by_line.get(number, {}))]
        if not wanted.verdicts:
            out += [f"line {number}: no expectation for {describe(same[0])}" for same in columns]
        elif len(columns) != len(wanted.verdicts):
            seen = ", ".join(describe(same[0]) for same in columns) or "nothing"
            out.append(f"line {number}: {len(wanted.verdicts)} accesses expected, reported: {seen}")
        else:
            for verdict, same in zip(wanted.verdicts, columns, strict=True):
                out += [f"line {number}: {text}" for text in _differs(verdict, wanted, same)]
    return out


def _differs(verdict: Verdict, wanted: Line, reported: list[Any]) -> list[str]:
    """``reported`` are all records of one access: one, or several where helpers have several callers."""
    expected = [verdict, *wanted.further]
    acceptable = [*expected, *wanted.alternatives]
    out = [
        f"expected {' or '.join(map(str, acceptable))}, reported {describe(a)}"
        for a in reported
        if not any(matches(v, a) for v in acceptable)
    ]
    missing = [v for v in wanted.further if not any(matches(v, a) for a in reported)]
    return out + [f"expected also {v}, not reported" for v in missing]


def describe(access: Any) -> str:
    """A reported access in the words of an expectation."""
    options = [] if access.lane_axis is None else [f"axis={access.lane_axis}"]
    options += [] if access.lane_stride is None else [f"stride {access.lane_stride}"]
    options += [access.condition] if access.condition else []
    options += access.notes
    text = f"{access.op} {access.pattern}({', '.join(map(str, options))})"
    return text + (f" because {access.reason}" if access.reason else "")


def matches(wanted: Verdict, access: Any) -> bool:
    """Is the access as expected? Only what the expectation names is compared."""
    if wanted.kind.startswith("tma"):
        return access.op.startswith("descriptor") and access.pattern in TILE_PATTERNS
    if wanted.kind == "reversed":
        return access.pattern == "contiguous" and same_function("-1", access.lane_stride)
    if access.pattern != wanted.kind or (wanted.axis is not None and access.lane_axis != wanted.axis):
        return False
    if wanted.stride is not None and not same_function(wanted.stride, access.lane_stride):
        return False
    if wanted.kind == "parametric" and not _has_condition(wanted.stride, access.condition):
        return False
    if wanted.kind == "contiguous" and access.lane_stride not in ("1", "-1"):
        return False
    return all(any(_same_note(n, m) for m in access.notes) for n in wanted.notes)


def _has_condition(stride: str | None, condition: str | None) -> bool:
    """Does ``condition``, clauses ``s == 1`` joined by ``or``, hold a clause about ``stride``?"""
    for clause in (condition or "").split(" or "):
        left, _, right = clause.strip("() ").partition("==")
        if right.strip() == "1" and same_function(stride, left):
            return True
    return False


def _same_note(wanted: str, note: str) -> bool:
    if wanted == note:
        return True
    name, equals, value = wanted.partition("=")
    other, _, got = note.partition("=")
    return bool(equals) and name == other and same_function(value, got)


# Stride texts as functions

_BINARY = {
    ast.Add: lambda a, b: a + b,
    ast.Sub: lambda a, b: a - b,
    ast.Mult: lambda a, b: a * b,
    ast.FloorDiv: lambda a, b: a // b,
    ast.Mod: lambda a, b: a % b,
    ast.Pow: lambda a, b: a**b,
    ast.LShift: lambda a, b: a << b,
    ast.RShift: lambda a, b: a >> b,
}
_FUNCTIONS = {
    "cdiv": lambda a, b: -(-a // b),
    "min": min,
    "max": max,
    "Min": min,
    "Max": max,
}


def is_expression(text: str) -> bool:
    try:
        ast.parse(text, mode="eval")
    except SyntaxError:
        return False
    return True


def same_function(a: str | None, b: str | None) -> bool:
    """Are two texts the same function of their names? Told from 20 random points of positive integers."""
    if a is None or b is None:
        return a is b
    try:
        trees = [ast.parse(t.strip(), mode="eval").body for t in (a, b)]
        found = {n.id for t in trees for n in ast.walk(t) if isinstance(n, ast.Name)}
        names = sorted(found - set(_FUNCTIONS) - {"tl"})
        draw = random.Random(20)
        points = [{name: draw.randrange(2, 1000) for name in names} for _ in range(20)]
        return all(_value(trees[0], p) == _value(trees[1], p) for p in points)
    except (SyntaxError, TypeError, ValueError, KeyError, ZeroDivisionError):
        return False


def _value(node: ast.expr, names: dict[str, int]) -> int:
    match node:
        case ast.Constant(value=int()):
            return int(node.value)
        case ast.Name():
            return names[node.id]
        case ast.UnaryOp(op=ast.USub()):
            return -_value(node.operand, names)
        case ast.BinOp():
            return _BINARY[type(node.op)](_value(node.left, names), _value(node.right, names))
        case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name)):
            return _FUNCTIONS[name](*(_value(x, names) for x in node.args))
    raise ValueError(f"not an integer expression: {ast.dump(node)}")
