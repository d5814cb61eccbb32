"""What the expressions of a kernel hold: sums where they are sums, else leaves named after the expression."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any

from coalesce_lint.verify.variant.forms import Form, Item, Leaf, Number, Refusal, rank_of
from coalesce_lint.verify.variant.scope import BlockPointer, Broken, Plain, Scope, Several

if TYPE_CHECKING:
    from coalesce_lint.verify.variant.follow import Follower

#: Memory calls: name, kind, and whether they may be written as methods of the pointer.
MEMORY = {"load": "load", "store": "store"}
ATOMICS = ("cas", "xchg", "add", "max", "min", "and", "or", "xor")
MEMORY.update({f"atomic_{name}": "atomic" for name in ATOMICS})
#: Functions that hand a value on with nothing but a hint or a type.
HINTS = ("multiple_of", "max_contiguous", "max_constancy")


def opaque(scope: Scope, node: ast.expr, rank: int | None) -> Form:
    """A leaf named after an expression."""
    return Form.of(Leaf(scope, None, node, rank))


def number(value: Any) -> Number | None:
    return value.const if isinstance(value, Form) and value.is_number else None


def rank(value: Any) -> int | None:
    if not isinstance(value, Form):
        return 0 if isinstance(value, Plain) else None
    ranks = []
    for item in value.terms:
        own = rank_of(item)
        for view in item.views:
            if own is not None and view.startswith("{}["):
                own = view.count(",") + 1
            elif own is not None and "tl." not in view.split("(")[0] and not view.startswith("{}.to("):
                own = None
        ranks.append(own)
    return None if None in ranks else max((r for r in ranks if r is not None), default=0)


def truth(value: Any) -> bool | None:
    """Whether a value is true, None where that is not known."""
    if isinstance(value, Plain):
        return bool(value.value)
    known = number(value)
    return None if known is None else bool(known.value)


def value(follower: Follower, scope: Scope, node: ast.expr) -> Any:
    match node:
        case ast.Constant(value=bool() | None | str() | float() as constant):
            return Plain(constant)
        case ast.Constant(value=int(constant)):
            return Form(const=Number(constant))
        case ast.Name(id=name):
            return scope.env[name] if name in scope.env else global_value(scope, name)
        case ast.Tuple(elts=elements) | ast.List(elts=elements):
            return Several([value(follower, scope, e) for e in elements])
        case ast.UnaryOp(op=op, operand=operand):
            return unary(scope, node, op, value(follower, scope, operand))
        case ast.BinOp(left=left, op=op, right=right):
            return binary(scope, node, op, value(follower, scope, left), value(follower, scope, right))
        case ast.Compare(left=left, ops=ops, comparators=others):
            values = [value(follower, scope, n) for n in (left, *others)]
            return compare(scope, node, ops, values)
        case ast.BoolOp(op=op, values=nodes):
            return boolean(scope, node, op, [value(follower, scope, n) for n in nodes])
        case ast.IfExp(test=test, body=body, orelse=orelse):
            chosen = truth(value(follower, scope, test))
            a, b = value(follower, scope, body), value(follower, scope, orelse)
            if chosen is not None:
                return a if chosen else b
            return choice(scope, node, [a, b])
        case ast.Subscript(value=base, slice=index):
            return subscript(follower, scope, node, value(follower, scope, base), index)
        case ast.Attribute(value=base, attr=name):
            return attribute(follower, scope, node, base, name)
        case ast.Call():
            return call(follower, scope, node)
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.expr):
            value(follower, scope, child)
    return opaque(scope, node, None)


def global_value(scope: Scope, name: str) -> Any:
    spec = scope.globals.get(name)
    if spec is None:
        return Plain(("name", name))
    if spec["kind"] == "value":
        found = spec["value"]
        if isinstance(found, int) and not isinstance(found, bool):
            return Form(const=Number(found))
        return Plain(found)
    if spec["kind"] == "function":
        return Plain(("function", spec["id"]))
    return Plain(("name", name))


def choice(scope: Scope, node: ast.expr, values: list[Any]) -> Any:
    from coalesce_lint.verify.variant.follow import roots_of

    roots = frozenset(r for v in values for r in roots_of(v))
    if roots:
        return Broken(roots, "the pointer is chosen by a branch")
    return opaque(scope, node, None)


def unary(scope: Scope, node: ast.expr, op: ast.unaryop, operand: Any) -> Any:
    if isinstance(op, ast.USub) and isinstance(operand, Form) and operand.root is None:
        return operand.times(Number(-1))
    if isinstance(op, ast.UAdd):
        return operand
    known = truth(operand)
    if isinstance(op, ast.Not) and known is not None:
        return Plain(not known)
    return opaque(scope, node, rank(operand))


def binary(scope: Scope, node: ast.expr, op: ast.operator, a: Any, b: Any) -> Any:
    for side in (a, b):
        if isinstance(side, Broken):
            return side
    if isinstance(a, Form) and isinstance(b, Form):
        if isinstance(op, ast.Add):
            return a.plus(b)
        if isinstance(op, ast.Sub) and b.root is None:
            return a.plus(b.times(Number(-1)))
        left, right = number(a), number(b)
        if isinstance(op, ast.Mult) and a.root is None and b.root is None:
            if right is not None:
                return a.times(right)
            if left is not None:
                return b.times(left)
        if left is not None and right is not None:
            found = arithmetic(op, left, right)
            if found is not None:
                return found
    if isinstance(a, Plain) and isinstance(b, Plain):
        return opaque(scope, node, 0)
    ranks = (rank(a), rank(b))
    return opaque(scope, node, None if None in ranks else max(r for r in ranks if r is not None))


def arithmetic(op: ast.operator, a: Number, b: Number) -> Form | None:
    """Integer arithmetic on two numbers; division as the kernel's own is for non-negative ones only."""
    x, y = a.value, b.value
    result: int | None = None
    match op:
        case ast.FloorDiv() if y > 0 and x >= 0:
            result = x // y
        case ast.Mod() if y > 0 and x >= 0:
            result = x % y
        case ast.LShift() if 0 <= y < 64:
            result = x << y
        case ast.RShift() if 0 <= y < 64:
            result = x >> y
        case ast.BitAnd():
            result = x & y
        case ast.BitOr():
            result = x | y
        case ast.BitXor():
            result = x ^ y
        case ast.Pow() if 0 <= y < 64:
            result = x**y
    return None if result is None else Form(const=Number(result, a.runtime or b.runtime))


class Truth(Plain):
    """A comparison's outcome; ``runtime`` where it rests on a runtime argument."""

    runtime = False


def compare(scope: Scope, node: ast.expr, ops: list[ast.cmpop], values: list[Any]) -> Any:
    if len(ops) == 1:
        a, b = values
        x, y = number(a), number(b)
        if x is not None and y is not None:
            result = {
                ast.Lt: x.value < y.value, ast.LtE: x.value <= y.value, ast.Gt: x.value > y.value,
                ast.GtE: x.value >= y.value, ast.Eq: x.value == y.value, ast.NotEq: x.value != y.value,
            }.get(type(ops[0]))  # fmt: skip
            if result is not None:
                found = Truth(result)
                found.runtime = x.runtime or y.runtime
                return found
        nothing = Plain(None)
        if isinstance(ops[0], (ast.Is, ast.IsNot, ast.Eq, ast.NotEq)):
            equal = None
            if isinstance(a, Plain) and isinstance(b, Plain) and plain(a) and plain(b):
                equal = a.value == b.value
            elif (a == nothing) != (b == nothing):
                equal = False
            if equal is not None:
                return Truth(equal == isinstance(ops[0], (ast.Is, ast.Eq)))
    ranks = [rank(v) for v in values]
    return opaque(scope, node, None if None in ranks else max(r for r in ranks if r is not None))


def plain(value: Plain) -> bool:
    return not isinstance(value.value, tuple)


def boolean(scope: Scope, node: ast.expr, op: ast.boolop, values: list[Any]) -> Any:
    known = [truth(v) for v in values]
    stop = isinstance(op, ast.Or)
    if stop in known or None not in known:
        found = Truth(stop if stop in known else not stop)
        found.runtime = any(getattr(v, "runtime", False) for v in values)
        return found
    return opaque(scope, node, None)


def subscript(follower: Follower, scope: Scope, node: ast.Subscript, base: Any, index: ast.expr) -> Any:
    if isinstance(base, Several):
        at = number(value(follower, scope, index))
        if at is not None and -len(base.values) <= at.value < len(base.values):
            return base.values[at.value]
        return choice(scope, node, base.values)
    if isinstance(base, (Form, Broken)):
        parts = index.elts if isinstance(index, ast.Tuple) else [index]
        plain_view = all(
            (isinstance(p, ast.Slice) and p.lower is None and p.upper is None and p.step is None)
            or (isinstance(p, ast.Constant) and p.value is None)
            for p in parts
        )
        if plain_view and isinstance(base, Form):
            return base.through("{}[" + ", ".join(ast.unparse(p) for p in parts) + "]")
        if isinstance(base, Broken):
            return base
    value(follower, scope, index) if not isinstance(index, ast.Slice) else None
    return opaque(scope, node, None)


def attribute(follower: Follower, scope: Scope, node: ast.Attribute, base: ast.expr, name: str) -> Any:
    owner = value(follower, scope, base)
    if isinstance(owner, Plain) and isinstance(owner.value, tuple):
        dotted = ast.unparse(node)
        known = scope.globals.get(dotted)
        if known is not None and known["kind"] == "value" and isinstance(known["value"], int):
            return global_value(scope, dotted)
        if known is not None and known["kind"] == "function":
            return Plain(("function", known["id"]))
        return (
            Plain(f"tl.{name}") if dotted.startswith(("tl.", "triton.language.")) else Plain(("name", dotted))
        )
    if name == "value":  # of a constexpr
        return owner
    if name == "T" and isinstance(owner, Form):
        return owner.through("tl.trans({})")
    return opaque(scope, node, None)


def call(follower: Follower, scope: Scope, node: ast.Call) -> Any:
    name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
    function = value(follower, scope, node.func) if isinstance(node.func, ast.Name) else None
    owner: Any = None
    if isinstance(node.func, ast.Attribute):
        function = attribute(follower, scope, node.func, node.func.value, node.func.attr)
        base = value(follower, scope, node.func.value)
        owner = None if isinstance(base, Plain) and isinstance(base.value, (tuple, str)) else base
    arguments = [value(follower, scope, a.value if isinstance(a, ast.Starred) else a) for a in node.args]
    named = {k.arg: value(follower, scope, k.value) for k in node.keywords}
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
        bound[parameter] = value(follower, follower.scope(function, scope, node), default)
    for extra, extra_default in zip(tree.args.kwonlyargs, tree.args.kw_defaults, strict=True):
        if extra_default is not None:
            bound[extra.arg] = value(follower, follower.scope(function, scope, node), extra_default)
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
