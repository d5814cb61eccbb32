"""Calls in host code: launches, PyTorch, ``functools.partial``, and functions of the tree read in place."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from coalesce_lint.launches import torch_calls
from coalesce_lint.launches.inlining import inlined
from coalesce_lint.launches.modules import HostFunction, dotted
from coalesce_lint.launches.values import (
    NOTHING,
    Bound,
    Choice,
    Each,
    Facts,
    Items,
    Known,
    Number,
    Reference,
    ShapeOf,
    Sizes,
    Star,
    Table,
    Tensor,
    Unknown,
    Value,
)

if TYPE_CHECKING:
    from coalesce_lint.launches.expressions import Evaluator

#: Functions that give back the kernel they are called with.
_WRAPPERS = ("wrap_triton", "libentry", "capture_triton", "autotune", "heuristics", "jit")
_PASSING = frozenset(("int", "tuple", "list", "float", "torch.Size", "torch.sym_int", "iter"))


@dataclass
class RawLaunch:
    """One call of ``kernel[grid]``, with what was known there."""

    node: ast.Call
    target: Value
    args: list[tuple[Value, str]]
    keywords: dict[str, tuple[Value, str]]
    open_keywords: bool  #: ``**name`` of which not every key is known
    known: Known
    function: HostFunction
    asked: Mapping[int, int] | None = None  #: what its path asks for, where that left the function
    parameter: str = ""  #: the parameter of the host function that is the kernel, where it is one
    trail: list[tuple[HostFunction, int]] = field(default_factory=list)


def call(ev: Evaluator, node: ast.Call) -> Value:
    """The value of a call."""
    func = node.func
    if isinstance(func, ast.Subscript):
        target = ev.expr(func)
        if isinstance(target, (Bound, Choice)) or _is_parameter(ev, func.value):
            _launched(ev, node, target, func)
            return Unknown("what a launch returns")
    args, kw = arguments(ev, node)
    text, line = ev.text(node), node.lineno
    if isinstance(func, ast.Attribute):
        base = ev.expr(func.value)
        if func.attr == "save_for_backward":
            ev.saved = tuple(_saved(ev, a) for a in args)
            return Unknown("nothing")
        if isinstance(base, Tensor):
            if base.guessed and dotted(func).startswith("self."):
                method = ev.module.methods.get((ev.fn.owner, func.attr))
                if method is not None and dotted(func.value) == "self":
                    return inlined(ev, method, (base, *args), kw, text, line)
            return torch_calls.call_method(ev, base, func.attr, args, kw, text, line)
        if isinstance(base, (ShapeOf, Sizes)):
            return Sizes()
        if isinstance(base, Table):
            return _of_table(ev, base, func, args, kw)
        if isinstance(base, (Each, Items)) and func.attr == "numel":
            return Sizes()
        target = Reference(f"{base.name}.{func.attr}") if isinstance(base, Reference) else Unknown()
        if isinstance(base, Bound) and func.attr in ("run", "warmup"):
            return Unknown("what a launch returns")
    else:
        target = ev.expr(func)
    if _is_runner(target):
        _launched(ev, node, target, func)  # runner = kernel[grid]; runner(...)
        return Unknown("what a launch returns")
    if isinstance(target, Bound):
        return _function(ev, target.target, (*target.args, *args), {**target.keywords, **kw}, text, line)
    return _function(ev, target, args, kw, text, line)


def _saved(ev: Evaluator, value: Value) -> Facts:
    if not isinstance(value, Tensor):
        return NOTHING
    questions = ev.questions()
    facts = questions.facts(value)
    return Facts(questions.contiguous(value), facts.unit, questions.rank(value))


def _is_runner(value: Value) -> bool:
    """Whether the value is ``kernel[grid]``, or a partial application of it."""
    while isinstance(value, Bound):
        if value.indexed:
            return True
        value = value.target
    return False


def arguments(ev: Evaluator, node: ast.Call) -> tuple[tuple[Value, ...], dict[str, Value]]:
    """Positional and keyword arguments, as far as they are known."""
    args = tuple(Star(ev.expr(a.value)) if isinstance(a, ast.Starred) else ev.expr(a) for a in node.args)
    kw: dict[str, Value] = {}
    for k in node.keywords:
        value = ev.expr(k.value)
        if k.arg is not None:
            kw[k.arg] = value
        elif isinstance(value, Table):
            kw.update(value.items)
    return args, kw


def _is_parameter(ev: Evaluator, node: ast.expr) -> bool:
    """Whether ``node`` is a bare name of which nothing is known: a kernel that the function was given."""
    if not isinstance(node, ast.Name):
        return False
    value = ev.state.names.get(node.id)
    return isinstance(value, Tensor) and value.origin == "given" and bool(value.parameter)


def _launched(ev: Evaluator, node: ast.Call, target: Value, func: ast.expr) -> None:
    args: list[tuple[Value, str]] = []
    for a in node.args:
        starred = isinstance(a, ast.Starred)
        inner = a.value if isinstance(a, ast.Starred) else a
        value = ev.expr(inner)
        args.append((Star(value) if starred else value, ev.text(inner)))
    keywords: dict[str, tuple[Value, str]] = {}
    open_keywords = False
    for k in node.keywords:
        value = ev.expr(k.value)
        if k.arg is not None:
            keywords[k.arg] = (value, ev.text(k.value))
        elif isinstance(value, Table):
            keywords.update({n: (v, n) for n, v in value.items.items()})
            open_keywords = open_keywords or not value.complete
        else:
            open_keywords = True
    parameter = ""
    if isinstance(func, ast.Subscript) and isinstance(func.value, ast.Name):
        held = ev.state.names.get(func.value.id)
        if isinstance(held, Tensor):
            parameter = held.parameter
    ev.launches.append(
        RawLaunch(node, target, args, keywords, open_keywords, ev.state.known, ev.fn, parameter=parameter)
    )


def _of_table(
    ev: Evaluator, base: Table, func: ast.Attribute, args: tuple[Value, ...], kw: Mapping[str, Value]
) -> Value:
    name = dotted(func.value)
    if func.attr == "update" and name:
        more = args[0] if args and isinstance(args[0], Table) else None
        items = {**base.items, **(more.items if more else {}), **kw}
        complete = base.complete and (not args or (more is not None and more.complete))
        ev.state.names[name] = Table(items, complete)
    elif func.attr == "copy":
        return base
    elif func.attr in ("get", "pop") and args and isinstance(args[0], Number):
        return base.items.get(str(args[0].value), Unknown("a key of a dict"))
    return Unknown("a method of a dict")


def _function(
    ev: Evaluator,
    target: Value,
    args: tuple[Value, ...],
    kw: Mapping[str, Value],
    text: str,
    line: int,
) -> Value:
    """The value of ``target(*args, **kw)``."""
    if not isinstance(target, Reference):
        if isinstance(target, Bound) or _carries_kernel(args):
            return args[0] if args else Unknown()
        return ev.given(text, line)
    name = ev.module.full_name(target.name)
    short = name.rpartition(".")[2]
    if short == "partial" and args:
        return Bound(args[0], args[1:], dict(kw))
    if short in _WRAPPERS:
        # wrap_triton(kernel); triton.autotune(configs=...) is called once more, with the kernel
        return args[0] if args and isinstance(args[0], (Reference, Bound, Choice)) else Bound(target)
    if name == "dict":
        return Table(dict(kw)) if not args else Unknown("a dict")
    if name in _PASSING and len(args) == 1:
        return args[0]
    if name == "len" and len(args) == 1:
        length = ev.length(args[0])
        return Number(length) if length is not None else Unknown("a length")
    if name in ("max", "min", "math.prod", "math.ceil") or short in ("cdiv", "next_power_of_2", "prod"):
        return Sizes()
    if name == "map" and len(args) == 2 and isinstance(args[1], Items):
        spread = ev.elements(args[1], None) or ()
        return Items(tuple(_function(ev, args[0], (v,), {}, text, line) for v in spread))
    if name in ("isinstance", "getattr", "hasattr", "range", "print", "zip", "enumerate", "super", "str"):
        return Unknown(f"{name}()")
    if name.startswith("torch."):
        found = torch_calls.call_function(ev, short, args, kw, text, line)
        return found if found is not None else _made(ev, name, args, kw, text, line)
    if short == "apply":
        owner = ev.tree.find(ev.module, target.name.removesuffix("apply") + "forward")
        forward = owner[0].methods.get(_parted(owner[1])) if owner is not None else None
        if forward is not None:
            ev.calls.append((forward, (Unknown("ctx"), *args), kw, ev.state.known))
        return ev.given(text, line)
    where = ev.tree.find(ev.module, target.name)
    if where is not None:
        module, inner = where
        fn = module.functions.get(inner)
        if fn is None and inner.count(".") == 1:
            fn = module.methods.get(_parted(inner))
        if fn is not None:
            ev.calls.append((fn, args, kw, ev.state.known))
            return inlined(ev, fn, args, kw, text, line)
        if inner in module.constants and not ev.depth > 30:
            value = _module_constant(ev, module.constants[inner])
            if isinstance(value, (Reference, Bound)) and value != target:
                return _function(ev, value, args, kw, text, line)
    return _made(ev, name, args, kw, text, line)


def _made(
    ev: Evaluator, name: str, args: tuple[Value, ...], kw: Mapping[str, Value], text: str, line: int
) -> Tensor:
    """What a function that is not read gives back. Its layout is not known, but what the same function makes
    of another contiguous tensor with the same literals is laid out alike."""
    shown = []
    questions = ev.questions()
    for key, value in [*(("", a) for a in args), *sorted(kw.items())]:
        if isinstance(value, Tensor) and questions.contiguous(value):
            shown.append(f"{key}=tensor")
        elif isinstance(value, Number):
            shown.append(f"{key}={value.value!r}")
        else:
            return ev.given(text, line)
    of_tensors = any(isinstance(v, Tensor) for v in (*args, *kw.values()))
    return ev.given(text, line, maker=f"{name}({', '.join(shown)})" if of_tensors else "")


def _parted(name: str) -> tuple[str, str]:
    owner, _, method = name.rpartition(".")
    return owner, method


def _module_constant(ev: Evaluator, node: ast.expr) -> Value:
    """``empty = torch.empty`` at the module's level."""
    path = dotted(node)
    return Reference(path) if path else Unknown()


def _carries_kernel(args: tuple[Value, ...]) -> bool:
    return len(args) == 1 and isinstance(args[0], Bound)
