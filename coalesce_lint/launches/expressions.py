"""The value of an expression of host code, from its syntax and the names that are known."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Callable, Mapping
from typing import Any

from coalesce_lint.launches import arms, torch_views
from coalesce_lint.launches.calls import RawLaunch, call
from coalesce_lint.launches.inlining import INLINE_BUDGET
from coalesce_lint.launches.modules import HostFunction, HostModule, HostTree, dotted
from coalesce_lint.launches.names import Names
from coalesce_lint.launches.torch_args import integer
from coalesce_lint.launches.values import (
    Bound,
    Choice,
    Each,
    Facts,
    Items,
    Known,
    Number,
    Reference,
    ShapeOf,
    SizeOf,
    Sizes,
    Star,
    State,
    StridesOf,
    Table,
    Tensor,
    Test,
    Unknown,
    Value,
)

#: Attributes of every tensor that say nothing of its layout.
_OF_TENSORS = frozenset(
    (
        *("dtype", "device", "is_cuda", "is_cpu", "is_xpu", "is_meta", "layout", "requires_grad", "itemsize"),
        *("nbytes", "is_leaf", "is_sparse", "is_quantized", "grad_fn"),
    )
)
#: Expressions nested deeper are not looked into.
DEEPEST = 60
_SIZES = (Sizes, SizeOf, Number)
_PLAIN_CALLS = frozenset(("int", "tuple", "list", "float", "torch.Size", "torch.sym_int"))


class Evaluator(Names):
    """Evaluates expressions at one point of a host function: ``state`` changes as the function is read."""

    def __init__(self, tree: HostTree, fn: HostFunction, innermost: bool) -> None:
        self.tree = tree
        self.fn = fn
        self.module: HostModule = fn.module
        self.innermost = innermost
        self.state = State()
        self.asked: dict[int, int] = {}
        self.depth = 0
        self.copies: list[Tensor] = []
        self.claimed: dict[int, Facts] = {}
        self.objects: set[int] = set()
        self.chosen: dict[tuple[int, str], list[tuple[Tensor, Test]]] = {}
        self.launches: list[RawLaunch] = []
        self.calls: list[tuple[HostFunction, tuple[Value, ...], Mapping[str, Value], Known]] = []
        self.saved: tuple[Facts, ...] | None = None
        self.returns: list[tuple[Value, Known]] = []
        self.trail: list[HostFunction] = []
        self.budget = INLINE_BUDGET
        self._count = 0

    # -- expressions -----------------------------------------------------------------------------------------

    def expr(self, node: ast.expr | None) -> Value:
        """The value of an expression; Unknown where it is not understood."""
        handler = _HANDLERS.get(type(node))
        if node is None or handler is None or self.depth > DEEPEST:
            return Unknown()
        self.depth += 1
        try:
            return handler(self, node)
        finally:
            self.depth -= 1

    def text(self, node: ast.expr) -> str:
        return self.module.segment(node)

    def name(self, name: str, node: ast.expr) -> Value:
        """What a name or an attribute chain stands for."""
        found = self.state.names.get(name)
        if found is not None:
            return found
        head = name.partition(".")[0]
        outer = self.state.names.get(head)
        module = self.module
        if outer is None and (head in module.imports or head in module.functions or head in module.kernels):
            return Reference(name)
        if outer is None and name in module.constants and self.depth < DEEPEST // 2:
            value = self.expr(module.constants[name])
            if isinstance(value, (Number, Bound, Reference, Table)):
                return value
            return Reference(name)
        if isinstance(outer, Reference):
            return Reference(outer.name + name[len(head) :])
        if outer is None and "." not in name and hasattr(builtins, name):
            return Reference(name)
        made = self.given(name, node.lineno)
        self.state.names[name] = made
        return made

    def _name(self, node: ast.Name) -> Value:
        return self.name(node.id, node)

    def _attribute(self, node: ast.Attribute) -> Value:
        path = dotted(node)
        if path and path in self.state.names:
            return self.state.names[path]
        base = self.expr(node.value) if not path or "." in path else Unknown()
        if isinstance(base, Tensor):
            if node.attr == "shape":
                return ShapeOf(base)
            if node.attr in ("T", "mT", "H", "mH"):
                return torch_views.turned(self, base, self.text(node), node.lineno)
            if node.attr in ("data", "detach"):
                return base
            if node.attr in ("ndim",):
                rank = self.questions().rank(base)
                return Number(rank) if rank is not None else Unknown("number of dimensions")
            if node.attr in _OF_TENSORS:
                return Unknown(f".{node.attr}")
            if node.attr != "grad":
                self.objects.add(base.number)
        if isinstance(base, Reference):
            return Reference(f"{base.name}.{node.attr}")
        if isinstance(base, Bound) and node.attr in ("fn", "func"):
            return base.target
        return self.name(path, node) if path else self.given(self.text(node), node.lineno)

    def _subscript(self, node: ast.Subscript) -> Value:
        return self.subscript(self.expr(node.value), node)

    def subscript(self, base: Value, node: ast.Subscript) -> Value:
        """``base[...]``."""
        if isinstance(base, Choice):
            return self.choice(tuple(self.subscript(o, node) for o in base.options))
        if isinstance(base, (Reference, Bound)):
            return Bound(base, indexed=True)
        if isinstance(base, Tensor):
            return self._items(base, node)
        k = integer(self.expr(node.slice)) if not isinstance(node.slice, ast.Slice) else None
        if isinstance(base, ShapeOf):
            return self.size_of(base.tensor, k) if k is not None else Sizes()
        if isinstance(base, StridesOf) and k is not None:
            return self.stride_of(base.tensor, k)
        if isinstance(base, Each):
            return base if isinstance(node.slice, ast.Slice) else self.again(base.element)
        if isinstance(base, Items) and k is not None:
            spread = self.elements(base, None)
            if spread is not None and -len(spread) <= k < len(spread):
                return spread[k]
        if isinstance(base, Table) and isinstance(node.slice, ast.Constant):
            return base.items.get(str(node.slice.value), Unknown("a key of a dict"))
        return Unknown("a subscript")

    def _items(self, t: Tensor, node: ast.Subscript) -> Value:
        """A view by subscripts; a copy where one of them is a tensor."""
        parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        items: list[Any] = []
        for part in parts:
            if isinstance(part, ast.Slice):
                step = integer(self.expr(part.step)) if part.step is not None else 1
                whole = part.lower is None and part.upper is None
                if step is None:
                    return self.given(self.text(node), node.lineno)
                items.append("all" if whole and step == 1 else "part" if step == 1 else ("step", step))
            elif isinstance(part, ast.Constant) and part.value is ...:
                items.append("rest")
            elif isinstance(part, ast.Constant) and part.value is None:
                items.append("new")
            else:
                value = self.expr(part)
                if not isinstance(value, _SIZES):
                    # an index, a mask or a tensor of indices: which of them is not known
                    return self.given(self.text(node), node.lineno)
                items.append("one")
        view = ("items", tuple(items))
        return self.tensor(self.text(node), "view", node.lineno, parent=t, view=view)

    def _constant(self, node: ast.Constant) -> Value:
        if node.value is None or isinstance(node.value, (bool, int, float, str)):
            return Number(node.value)
        return Unknown("a literal")

    def _binary(self, node: ast.BinOp) -> Value:
        a, b = self.expr(node.left), self.expr(node.right)
        if isinstance(a, Test) and isinstance(b, Test) and isinstance(node.op, ast.BitAnd):
            both = ast.copy_location(ast.BoolOp(ast.And(), [node.left, node.right]), node)
            return Test(both, self.state.names.copy())
        if isinstance(a, Number) and isinstance(b, Number):
            return _folded(node.op, a.value, b.value)
        if isinstance(a, _SIZES) and isinstance(b, _SIZES):
            return Sizes((a, b))
        for one, other in ((a, b), (b, a)):
            if isinstance(one, (Sizes, SizeOf)) and isinstance(other, Tensor) and other.guessed:
                return Sizes((one,))
        if isinstance(node.op, ast.MatMult):
            text = self.text(node)
            return self.tensor(text, "fresh", node.lineno, why=f"the product {text}", guessed=True)
        for one in (a, b):
            if isinstance(one, Tensor):
                guessed = one.guessed and one.parent is None and one.number not in self.state.known
                origin = "given" if guessed else "like"
                return self.tensor(self.text(node), origin, node.lineno, guessed=True,
                                   parent=one if origin == "like" else None, view=("same",))  # fmt: skip
        return Unknown("arithmetic")

    def _unary(self, node: ast.UnaryOp) -> Value:
        value = self.expr(node.operand)
        if (
            isinstance(value, Number)
            and isinstance(node.op, ast.USub)
            and isinstance(value.value, (int, float))
        ):
            return Number(-value.value)
        return Unknown("arithmetic") if not isinstance(value, Tensor) else value

    def _either(self, node: ast.BoolOp) -> Value:
        values = tuple(self.expr(v) for v in node.values)
        if all(isinstance(v, Test) for v in values):
            return Test(node, self.state.names.copy())
        return self.choice(values) if isinstance(node.op, ast.Or) else Unknown("a condition")

    def _compare(self, node: ast.Compare) -> Value:
        return Test(node, self.state.names.copy())

    def _conditional(self, node: ast.IfExp) -> Value:
        from coalesce_lint.launches import conditions

        certain = conditions.decided(self, node.test)
        if certain is not None:
            return self.expr(node.body if certain else node.orelse)
        by = arms.condition(self, node.test)
        before = self.state
        parts: list[tuple[Value, Any]] = []
        for holds, part in ((True, node.body), (False, node.orelse)):
            self.state = before.copy()
            conditions.learn(self, node.test, holds)
            parts.append((self.expr(part), self.state.known))
        self.state = before
        if all(isinstance(v, Tensor) for v, _ in parts):
            if parts[0][0] is parts[1][0]:
                return parts[0][0]
            value = self.joined([(v, k) for v, k in parts if isinstance(v, Tensor)])
            arms.chosen(self, value, (parts[0][0], parts[1][0]), by)
            return value
        return self.choice(tuple(v for v, _ in parts))

    def _sequence(self, node: ast.Tuple | ast.List) -> Value:
        return Items(tuple(
            Star(self.expr(e.value)) if isinstance(e, ast.Starred) else self.expr(e) for e in node.elts
        ))  # fmt: skip

    def _dict(self, node: ast.Dict) -> Value:
        items: dict[str, Value] = {}
        complete = True
        for key, value in zip(node.keys, node.values, strict=True):
            if key is None:
                inner = self.expr(value)
                if isinstance(inner, Table):
                    items.update(inner.items)
                    complete = complete and inner.complete
                else:
                    complete = False
            elif isinstance(key, ast.Constant) and isinstance(key.value, str):
                items[key.value] = self.expr(value)
        return Table(items, complete)

    def _comprehension(self, node: ast.ListComp | ast.GeneratorExp) -> Value:
        loop = node.generators[0]
        if len(node.generators) > 1 or loop.ifs:
            return Unknown("a comprehension")
        source = self.expr(loop.iter)
        spread = (source.element,) if isinstance(source, Each) else self.elements(source, None)
        if spread is None or len(spread) > 16:
            return Unknown("a comprehension")
        before = self.state
        self.state = before.copy()
        out = []
        for element in spread:
            self.bind(loop.target, element)
            out.append(self.expr(node.elt))
        before.known = self.state.known
        self.state = before
        return Each(out[0]) if isinstance(source, Each) else Items(tuple(out))

    def _walrus(self, node: ast.NamedExpr) -> Value:
        value = self.expr(node.value)
        self.state.names[node.target.id] = value
        return value

    def _await(self, node: ast.Await) -> Value:
        return self.expr(node.value)

    def _call(self, node: ast.Call) -> Value:
        return call(self, node)


def _folded(op: ast.operator, a: Any, b: Any) -> Value:
    apply: Callable[[Any, Any], Any] | None = {
        ast.Add: lambda x, y: x + y,
        ast.Sub: lambda x, y: x - y,
        ast.Mult: lambda x, y: x * y,
        ast.FloorDiv: lambda x, y: x // y,
        ast.Mod: lambda x, y: x % y,
    }.get(type(op))
    if apply is None or not all(isinstance(x, int) and abs(x) < 1 << 40 for x in (a, b)):
        return Sizes()
    try:
        return Number(apply(a, b))
    except (ArithmeticError, ValueError):
        return Unknown("arithmetic")


_HANDLERS: Mapping[type, Any] = {
    ast.Name: Evaluator._name,
    ast.Attribute: Evaluator._attribute,
    ast.Subscript: Evaluator._subscript,
    ast.Constant: Evaluator._constant,
    ast.BinOp: Evaluator._binary,
    ast.UnaryOp: Evaluator._unary,
    ast.BoolOp: Evaluator._either,
    ast.Compare: Evaluator._compare,
    ast.IfExp: Evaluator._conditional,
    ast.Tuple: Evaluator._sequence,
    ast.List: Evaluator._sequence,
    ast.Dict: Evaluator._dict,
    ast.ListComp: Evaluator._comprehension,
    ast.GeneratorExp: Evaluator._comprehension,
    ast.NamedExpr: Evaluator._walrus,
    ast.Await: Evaluator._await,
    ast.Call: Evaluator._call,
}
