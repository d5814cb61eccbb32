"""Calls within a kernel: memory accesses, helpers, and the functions of triton.language that addresses are
made with."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any

from coalesce_lint.verify.variant.forms import Form, Item, Number, Refusal, rank_of
from coalesce_lint.verify.variant.operators import number, opaque, rank
from coalesce_lint.verify.variant.scope import BlockPointer, Broken, Plain, Scope, Several

if TYPE_CHECKING:
    from coalesce_lint.verify.variant.follow import Follower

#: Memory calls: name, kind, and whether they may be written as methods of the pointer.
MEMORY = {"load": "load", "store": "store"}
ATOMICS = ("cas", "xchg", "add", "max", "min", "and", "or", "xor")
MEMORY.update({f"atomic_{name}": "atomic" for name in ATOMICS})
#: Functions that hand a value on with nothing but a hint or a type.
HINTS = ("multiple_of", "max_contiguous", "max_constancy")


def call(follower: Follower, scope: Scope, node: ast.Call) -> Any:
    name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
    function = follower.value(scope, node.func) if isinstance(node.func, (ast.Name, ast.Attribute)) else None
    owner: Any = None
    if isinstance(node.func, ast.Attribute):
        base = follower.value(scope, node.func.value)
        owner = None if isinstance(base, Plain) and isinstance(base.value, (tuple, str)) else base
    arguments = [follower.value(scope, a.value if isinstance(a, ast.Starred) else a) for a in node.args]
    named = {k.arg: follower.value(scope, k.value) for k in node.keywords}
    if isinstance(function, Plain) and isinstance(function.value, tuple) and function.value[0] == "function":
        return helper(follower, scope, node, function.value[1], arguments, named)
    if (
        isinstance(function, Plain)
        and isinstance(function.value, tuple)
        and not is_language(scope, node.func)
    ):
        name = ""  # a function of the same name that is not Triton's
    if owner is not None:
        arguments = [owner, *arguments]
    nodes = (
        [node.func.value] if owner is not None and isinstance(node.func, ast.Attribute) else []
    ) + node.args
    if name in MEMORY and (arguments or "pointer" in named):
        pointer = arguments[0] if arguments else named["pointer"]
        at = nodes[0] if arguments else next(k.value for k in node.keywords if k.arg == "pointer")
        if not (owner is not None and not isinstance(pointer, (Form, BlockPointer, Broken))):
            follower.access(scope, node, at, MEMORY[name], pointer)
        return opaque(scope, node, rank(pointer))
    return builtin(scope, node, name, arguments, named)


def is_language(scope: Scope, function: ast.expr) -> bool:
    """True where a function is reached through triton.language or is imported from there."""
    text = ast.unparse(function)
    spec = scope.globals.get(text.split(".")[0])
    module = str((spec or {}).get("module", (spec or {}).get("name", "")))
    return module.startswith("triton") or text.split(".")[0] in ("range", "min", "max", "int")


def helper(
    follower: Follower,
    scope: Scope,
    node: ast.Call,
    function: int,
    arguments: list[Any],
    named: dict[str | None, Any],
) -> Any:
    tree = follower.trees[function]
    if any(isinstance(a, ast.Starred) for a in node.args) or None in named or tree.args.vararg:
        raise Refusal(f"{tree.name} is called with arguments that are not written out")
    parameters = [a.arg for a in tree.args.args]
    bound: dict[str, Any] = {}
    defaults = tree.args.defaults
    for parameter, default in zip(parameters[len(parameters) - len(defaults) :], defaults, strict=True):
        bound[parameter] = follower.value(follower.scope(function, scope, node), default)
    for extra, extra_default in zip(tree.args.kwonlyargs, tree.args.kw_defaults, strict=True):
        if extra_default is not None:
            bound[extra.arg] = follower.value(follower.scope(function, scope, node), extra_default)
    bound.update(zip(parameters, arguments, strict=False))
    bound.update({k: v for k, v in named.items() if k is not None})
    return follower.call_helper(scope, node, function, bound)


def builtin(
    scope: Scope, node: ast.Call, name: str, arguments: list[Any], named: dict[str | None, Any]
) -> Any:
    """Functions of triton.language that matter to addresses; any other call is a leaf."""
    first = arguments[0] if arguments else named.get("input", named.get("x"))
    if name == "make_block_ptr":
        given = dict(zip(("base", "shape", "strides"), arguments, strict=False))
        strides = given.get("strides", named.get("strides"))
        values = strides.values if isinstance(strides, Several) else []
        return BlockPointer(scope, node, given.get("base", named.get("base")), values)
    if isinstance(first, BlockPointer):
        return first if name == "advance" else opaque(scope, node, None)
    if isinstance(first, Broken):
        return first
    if name in ("program_id", "num_programs"):
        return opaque(scope, node, 0)
    if name == "arange":
        return opaque(scope, node, 1)
    if name == "cdiv" and len(arguments) == 2:
        a, b = number(arguments[0]), number(arguments[1])
        if a is not None and b is not None and b.value > 0:
            return Form(const=Number(-(-a.value // b.value), a.runtime or b.runtime))
    if not isinstance(first, Form):
        return opaque(scope, node, None)
    single = len(first.terms) == 1 and not first.const.value and first.root is None
    if name in HINTS:
        return (
            opaque(scope, node, rank(first))
            if single and next(iter(first.terms.values())).value == 1
            else first
        )
    if first.is_number and name != "to":
        return opaque(scope, node, None)
    if name in ("to", "cast") and first.root is None:
        rest = ast.unparse(node.args[-1]) if node.args else ast.unparse(node.keywords[-1].value)
        if first.is_number:
            return first
        if "int64" in rest or "int32" in rest:
            return first.through("{}.to(" + rest + ")", keeps_scalars=False)
    if name == "expand_dims" and (isinstance(node.func, ast.Attribute) or node.args):
        return first.through("tl.expand_dims({}, " + ast.unparse(node.args[-1]) + ")")
    if name in ("broadcast_to", "trans", "ravel", "reshape", "view") and len(first.terms) == 1:
        return viewed(scope, node, name, first)
    if name == "broadcast_to":
        return first  # what it is added to or the access itself broadcasts again
    return opaque(scope, node, None)


def viewed(scope: Scope, node: ast.Call, name: str, first: Form) -> Form:
    """A reshaped single item; the arguments after the first are repeated."""
    method = isinstance(node.func, ast.Attribute) and not is_language(scope, node.func)
    rest = [ast.unparse(a) for a in (node.args if method else node.args[1:])]
    rest += [f"{k.arg}={ast.unparse(k.value)}" for k in node.keywords if k.arg not in ("input", "x")]
    if first.root is not None or any(rank_of(i) == 0 for i in first.terms if isinstance(i, Item)):
        return first if name == "broadcast_to" else opaque(scope, node, None)
    return first.through(f"tl.{name}(" + ", ".join(["{}", *rest]) + ")")
