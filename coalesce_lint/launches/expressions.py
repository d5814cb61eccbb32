"""The value of an expression of host code, from its syntax and the names that are known."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from coalesce_lint.launches import torch_calls
from coalesce_lint.launches.calls import INLINE_BUDGET, RawLaunch, call
from coalesce_lint.launches.modules import HostFunction, HostModule, HostTree, dotted
from coalesce_lint.launches.strides import Questions
from coalesce_lint.launches.torch_calls import integer
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
    StrideOf,
    StridesOf,
    Table,
    Tensor,
    Test,
    Unknown,
    Value,
)

#: A value has at most so many alternatives.
MOST_OPTIONS = 4
#: The text of a tensor that a forward pass saved, before it gets a name.
SAVED = "a saved tensor"
#: Expressions nested deeper are not looked into.
DEEPEST = 60
_SIZES = (Sizes, SizeOf, Number)
_PLAIN_CALLS = frozenset(("int", "tuple", "list", "float", "torch.Size", "torch.sym_int"))


class Evaluator:
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
        self.launches: list[RawLaunch] = []
        self.calls: list[tuple[HostFunction, tuple[Value, ...], Mapping[str, Value], Known]] = []
        self.saved: tuple[Facts, ...] | None = None
        self.returns: list[tuple[Value, Known]] = []
        self.trail: list[HostFunction] = []
        self.budget = INLINE_BUDGET
        self._count = 0

    # -- tensors ---------------------------------------------------------------------------------------------

    def tensor(self, text: str, origin: str, line: int, **kw: Any) -> Tensor:
        made = Tensor(self.fresh_number(), text, origin, line, **kw)
        if origin == "copy":
            self.copies.append(made)
        return made

    def fresh_number(self) -> int:
        self._count += 1
        return self._count

    def given(self, text: str, line: int, **kw: Any) -> Tensor:
        """A tensor (if it is one) of which nothing is known but how it is written."""
        return self.tensor(text, "given", line, guessed=True, **kw)

    def questions(self) -> Questions:
        return Questions(self.state.known, self.asked, self.innermost)

    def stride_of(self, t: Tensor, k: int) -> StrideOf:
        self.has_dimension(t, k)
        return StrideOf(t, k, self.state.known)

    def size_of(self, t: Tensor, k: int) -> SizeOf:
        self.has_dimension(t, k)
        return SizeOf(t, k)

    def has_dimension(self, t: Tensor, k: int) -> None:
        """The host code asks for dimension ``k`` of ``t``: it has so many at least."""
        highest = k if k >= 0 else -k - 1
        self.asked[t.number] = max(self.asked.get(t.number, highest), highest)

    def length(self, value: Value) -> int | None:
        """How many elements a shape, a tuple or the strides of a tensor have; None where not known."""
        if isinstance(value, Items):
            lengths = [self.length(i.value) if isinstance(i, Star) else 1 for i in value.items]
            return None if None in lengths else sum(n or 0 for n in lengths)
        if isinstance(value, (ShapeOf, StridesOf)):
            return self.questions().rank(value.tensor)
        return None

    def elements(self, value: Value, count: int | None) -> tuple[Value, ...] | None:
        """The elements of a sequence, of which there are ``count`` where that is said."""
        if isinstance(value, (ShapeOf, StridesOf)):
            t = value.tensor
            rank = self.questions().rank(t)
            if rank is None and count is not None:
                self.state.learn(t, Facts(rank=count))
            number = count if count is not None else rank
            if number is None:
                return None
            if isinstance(value, ShapeOf):
                return tuple(SizeOf(t, k) for k in range(number))
            return tuple(self.stride_of(t, k) for k in range(number))
        if isinstance(value, Each) and count is not None:
            return tuple(self.again(value.element) for _ in range(count))
        if isinstance(value, Items):
            return self._spread(value, count)
        if isinstance(value, Choice) and count is not None:
            columns = [self.elements(o, count) for o in value.options]
            if all(c is not None for c in columns):
                return tuple(self.choice(parts) for parts in zip(*(c or () for c in columns), strict=True))
        return None

    def _spread(self, value: Items, count: int | None) -> tuple[Value, ...] | None:
        """A tuple with its starred parts written out."""
        stars = [i for i in value.items if isinstance(i, Star)]
        open_ones = [s for s in stars if self.length(s.value) is None]
        if len(open_ones) > 1 or (open_ones and count is None):
            return None
        left = None
        if count is not None:
            taken = sum(1 if not isinstance(i, Star) else self.length(i.value) or 0 for i in value.items)
            left = count - taken
            if left < 0 or (left and not open_ones):
                return None
        out: list[Value] = []
        for item in value.items:
            if not isinstance(item, Star):
                out.append(item)
                continue
            inner = self.elements(item.value, left if item in open_ones else None)
            if inner is None:
                inner = (Unknown("a starred value"),) * (left or 0)
            out += inner
        return tuple(out)

    def again(self, value: Value) -> Value:
        """Another object like ``value``: two parts of a chunked tensor are not the same tensor."""
        if isinstance(value, Tensor):
            return replace(value, number=self.fresh_number())
        return value

    def choice(self, values: tuple[Value, ...]) -> Value:
        """One of ``values``, by a condition that is not known."""
        flat: list[Value] = []
        for v in values:
            flat += v.options if isinstance(v, Choice) else (v,)
        different = list(dict.fromkeys(flat))
        if len(different) == 1:
            return different[0]
        if all(isinstance(v, Tensor) for v in different):
            return self.joined([(v, self.state.known) for v in different if isinstance(v, Tensor)])
        if len(different) > MOST_OPTIONS:
            return Unknown("too many branches")
        return Choice(tuple(different))

    def joined(self, arms: list[tuple[Tensor, Any]]) -> Value:
        if len(arms) > MOST_OPTIONS:
            return self.given(arms[0][0].text, arms[0][0].line)
        first = arms[0][0]
        return self.tensor(first.text, "join", first.line, arms=tuple(arms),
                           guessed=all(t.guessed for t, _ in arms))  # fmt: skip

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
                return torch_calls.turned(self, base, self.text(node), node.lineno)
            if node.attr in ("data", "detach"):
                return base
            if node.attr in ("ndim",):
                rank = self.questions().rank(base)
                return Number(rank) if rank is not None else Unknown("number of dimensions")
            if node.attr in ("dtype", "device", "is_cuda", "layout", "requires_grad", "itemsize", "nbytes"):
                return Unknown(f".{node.attr}")
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
                origin = "given" if one.guessed and one.parent is None else "like"
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
        before = self.state
        arms: list[tuple[Value, Any]] = []
        for holds, part in ((True, node.body), (False, node.orelse)):
            self.state = before.copy()
            conditions.learn(self, node.test, holds)
            arms.append((self.expr(part), self.state.known))
        self.state = before
        if all(isinstance(v, Tensor) for v, _ in arms):
            if arms[0][0] is arms[1][0]:
                return arms[0][0]
            return self.joined([(v, k) for v, k in arms if isinstance(v, Tensor)])
        return self.choice(tuple(v for v, _ in arms))

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

    def bind(self, target: ast.expr, value: Value) -> None:
        """Assigns a value to a name, an attribute or the names of a tuple."""
        if isinstance(target, (ast.Name, ast.Attribute)):
            path = dotted(target)
            if isinstance(value, Tensor) and value.text == SAVED:
                value.text = path
            if path:
                self.forget(path)
                self.state.names[path] = value
        elif isinstance(target, (ast.Tuple, ast.List)):
            star = next((k for k, e in enumerate(target.elts) if isinstance(e, ast.Starred)), None)
            spread = self.elements(value, len(target.elts) if star is None else None)
            if star is not None and spread is not None:
                tail = len(target.elts) - star - 1
                middle = Items(spread[star : len(spread) - tail])
                spread = (*spread[:star], middle, *spread[len(spread) - tail :])
            for k, element in enumerate(target.elts):
                inner = element.value if isinstance(element, ast.Starred) else element
                if spread is not None and k < len(spread):
                    self.bind(inner, spread[k])
                else:
                    self.bind(inner, self.given(self.text(inner), inner.lineno))
        elif isinstance(target, ast.Subscript):
            base, key = target.value, target.slice
            held = self.state.names.get(dotted(base)) if dotted(base) else None
            if isinstance(held, Table) and isinstance(key, ast.Constant) and isinstance(key.value, str):
                self.state.names[dotted(base)] = Table({**held.items, key.value: value}, held.complete)
            elif isinstance(held, (Items, Each, ShapeOf, StridesOf, Choice, Table)):
                self.state.names[dotted(base)] = self._replaced(held, integer(self.expr(key)), value)

    def _replaced(self, held: Value, k: int | None, value: Value) -> Value:
        """A list in which one element was assigned."""
        spread = self.elements(held, None)
        if spread is None or k is None or not -len(spread) <= k < len(spread):
            return Unknown("a list that is changed")
        changed = list(spread)
        changed[k] = value
        return Items(tuple(changed))

    def forget(self, path: str) -> None:
        """``path`` is assigned anew: what was known of its attributes is gone."""
        for name in [n for n in self.state.names if n.startswith(path + ".")]:
            del self.state.names[name]


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
