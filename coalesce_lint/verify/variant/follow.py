"""Follows a kernel with the arguments of one launch: every memory call with what its pointer holds.

Values are sums of leaves (``forms.py``). A loop's body is followed once: a variable that the loop only adds
to becomes an accumulator, any other that it assigns is a leaf of its own. Branches that the launch does not
take are followed too, but what they assign does not count.
"""

from __future__ import annotations

import ast
from typing import Any

from coalesce_lint.verify.variant import expressions
from coalesce_lint.verify.variant.forms import Form, Item, Leaf, Number, Refusal
from coalesce_lint.verify.variant.scope import (
    Accumulator,
    BlockPointer,
    Broken,
    Joined,
    Plain,
    Scope,
    Several,
    Site,
    Update,
    count_assignments,
    increments,
)

#: Calls of helpers within helpers that are followed.
DEPTH_LIMIT = 12


class Follower:
    """Follows the kernel of a closure; ``sites`` are its memory calls in the order of the source."""

    def __init__(self, closure: dict[str, Any], arguments: dict[str, Any]) -> None:
        self.closure = closure
        self.trees = {k: parse_function(f) for k, f in enumerate(closure["functions"])}
        self.sites: list[Site] = []
        entry = closure["entry"]
        self.kernel = self.scope(entry, None, None)
        self.parameters: dict[str, Leaf] = {}
        for parameter in self.kernel.tree.args.args + self.kernel.tree.args.kwonlyargs:
            name = parameter.arg
            leaf = self.parameter_leaf(self.kernel, name)
            self.parameters[name] = leaf
            self.kernel.env[name] = self.argument(leaf, arguments.get(name), is_constexpr(parameter))
        self.block(self.kernel, self.kernel.tree.body)

    def scope(self, function: int, parent: Scope | None, call: ast.Call | None) -> Scope:
        tree = self.trees[function]
        found = Scope(function, tree, self.closure["functions"][function]["globals"], parent, call)
        found.assigned = count_assignments(tree)
        return found

    def parameter_leaf(self, scope: Scope, name: str) -> Leaf:
        if scope.assigned.get(name, 0) > 1:
            return Leaf(scope, None, Joined("entry", scope.tree, name), 0)
        return Leaf(scope, name, None, 0)

    def argument(self, leaf: Leaf, spec: Any, constexpr: bool) -> Any:
        """The value of a kernel parameter from the launch's record."""
        kind = spec.get("kind") if isinstance(spec, dict) else None
        if kind == "tensor":
            return Form(root=leaf)
        if kind in ("int", "bool") and isinstance(spec["value"], (int, bool)):
            if kind == "bool":
                return Plain(spec["value"]) if constexpr else Form.of(leaf)
            return Form(const=Number(spec["value"], runtime=not constexpr))
        if kind in ("float", "str", "none"):
            return Plain(spec.get("value"))
        if kind == "dtype":
            return Plain(f"tl.{spec['value']}")
        if kind == "function":
            return Plain(("function", spec["id"]))
        if kind == "tuple":
            # Elements have no name of their own that could be rendered, numbers do not need one.
            values = [self.argument(Leaf(leaf.scope, None, None, 0), v, constexpr) for v in spec["values"]]
            return Several(
                [v if isinstance(v, (Plain, Form)) and no_root(v) else Form.of(leaf) for v in values]
            )
        return Form.of(leaf)

    # statements

    def block(self, scope: Scope, body: list[ast.stmt]) -> None:
        for statement in body:
            self.statement(scope, statement)

    def statement(self, scope: Scope, node: ast.stmt) -> None:
        match node:
            case ast.Assign(targets=targets, value=value):
                found = self.value(scope, value)
                for target in targets:
                    self.assign(scope, target, found, node, value)
            case ast.AnnAssign(target=target, value=value) if value is not None:
                self.assign(scope, target, self.value(scope, value), node, value)
            case ast.AugAssign(target=ast.Name(id=name) as target, op=op, value=value):
                whole = ast.copy_location(ast.BinOp(ast.Name(name, ast.Load()), op, value), node)
                whole.left = ast.copy_location(whole.left, target)
                found = self.value(scope, whole)
                if isinstance(found, Form) and any(leaf.node is whole for leaf in found.leaves()):
                    found = Form.of(Leaf(scope, None, Joined("after", node, name), None))
                self.assign(scope, target, found, node, None)
            case ast.If(test=test, body=body, orelse=orelse):
                self.branch(scope, node, self.value(scope, test), body, orelse)
            case ast.For():
                self.for_loop(scope, node)
            case ast.While(test=test, body=body):
                self.enter(scope, node)
                self.value(scope, test)
                self.block(scope, body)
                self.leave(scope, node)
            case ast.Return(value=value):
                scope.returns.append(Plain(None) if value is None else self.value(scope, value))
            case ast.FunctionDef() | ast.Import() | ast.ImportFrom():
                pass
            case _:
                for child in ast.iter_child_nodes(node):
                    if isinstance(child, ast.expr):
                        self.value(scope, child)
                    elif isinstance(child, ast.stmt):
                        self.statement(scope, child)

    def assign(
        self, scope: Scope, target: ast.expr, value: Any, statement: ast.stmt, source: ast.expr | None
    ) -> None:
        if isinstance(target, (ast.Tuple, ast.List)):
            values = value.values if isinstance(value, Several) else []
            for k, element in enumerate(target.elts):
                if k < len(values) and len(values) == len(target.elts):
                    self.assign(scope, element, values[k], statement, None)
                elif isinstance(element, ast.Name):
                    scope.env[element.id] = self.unpacked(scope, element.id, statement, value)
            return
        if not isinstance(target, ast.Name):
            return
        name = target.id
        accumulator = scope.accumulators.get(name)
        if accumulator is not None and not within(statement, accumulator.loop):
            del scope.accumulators[name]
            accumulator = None
        if accumulator is not None and isinstance(value, Form):
            value = self.accumulate(accumulator, value, statement)
        elif isinstance(value, Form):
            value = self.named(scope, name, value, source)
        scope.env[name] = value

    def unpacked(self, scope: Scope, name: str, statement: ast.stmt, value: Any) -> Any:
        if isinstance(value, Broken):
            return value
        if scope.assigned.get(name) == 1:
            return Form.of(Leaf(scope, name, None, None))
        return Form.of(Leaf(scope, None, Joined("after", statement, name), None))

    def named(self, scope: Scope, name: str, value: Form, source: ast.expr | None) -> Form:
        """The value of a variable that is assigned once: the variable itself serves as a name."""
        if scope.assigned.get(name) != 1 or value.root is not None or not value.terms:
            return value
        if len(value.terms) == 1 and not value.const.value:
            ((item, number),) = value.terms.items()
            if number.value == 1:
                leaf = item.leaf
                if not item.views and leaf.node is not None and leaf.node is source:
                    return Form.of(Leaf(scope, name, None, leaf.rank))
                return value
        return Form({Item(Leaf(scope, name, None, None), (), value): Number(1)})

    def accumulate(self, accumulator: Accumulator, value: Form, statement: ast.stmt) -> Form:
        """The value after ``p += delta``. Raises Refusal where the statement does more than that."""
        delta = Form(dict(value.terms), value.const)
        own = [i for i in delta.terms if i.leaf.origin is accumulator and not i.views]
        number = delta.terms.pop(own[0]) if len(own) == 1 else None
        if number is None or number.value != 1 or any(x.origin is accumulator for x in delta.leaves()):
            raise Refusal(f"{accumulator.name} changes in a loop by more than an added step")
        accumulator.updates.append(Update(statement, delta))
        return accumulator.renew()

    def branch(
        self, scope: Scope, node: ast.If, test: Any, body: list[ast.stmt], orelse: list[ast.stmt]
    ) -> None:
        taken = expressions.truth(test)
        if taken is not None and not runtime(test):
            self.block(scope, body if taken else orelse)
            return
        before = dict(scope.env)
        current = {a: a.current for a in scope.accumulators.values()}
        self.block(scope, body)
        first, scope.env = scope.env, dict(before)
        for accumulator, leaf in current.items():
            accumulator.current = leaf
        self.block(scope, orelse)
        second = scope.env
        if taken is not None:
            scope.env = first if taken else second
            return
        scope.env = before
        for name in {**first, **second}:
            a, b = first.get(name), second.get(name)
            scope.env[name] = a if same(a, b) else self.joined(scope, name, node, [a, b])

    def joined(self, scope: Scope, name: str, node: ast.stmt, values: list[Any]) -> Any:
        """A variable that may hold one of several values from here on."""
        accumulator = scope.accumulators.get(name)
        if accumulator is not None:
            return accumulator.renew()
        roots = frozenset(r for v in values for r in roots_of(v))
        if roots:
            return Broken(roots, f"{name} is chosen by a branch")
        if scope.assigned.get(name) == 1:
            return Form.of(Leaf(scope, name, None, None))
        return Form.of(Leaf(scope, None, Joined("after", node, name), None))

    def for_loop(self, scope: Scope, node: ast.For) -> None:
        self.value(scope, node.iter)
        self.enter(scope, node)
        for name in [n.id for n in ast.walk(node.target) if isinstance(n, ast.Name)]:
            once = scope.assigned.get(name) == 1
            where = None if once else Joined("start", node, name)
            scope.env[name] = Form.of(Leaf(scope, name if once else None, where, 0))
        self.block(scope, node.body)
        self.leave(scope, node)
        self.block(scope, node.orelse)

    def enter(self, scope: Scope, node: ast.For | ast.While) -> None:
        """Sets the variables that a loop changes to what they are at the start of any of its rounds."""
        adds = increments(node)
        for name in count_assignments(node):
            old = scope.env.get(name)
            if old is None or isinstance(old, BlockPointer):
                continue
            known = scope.accumulators.get(name)
            if known is not None and within(node, known.loop):
                scope.env[name] = known.renew()
            elif name in adds and isinstance(old, Form):
                accumulator = Accumulator(scope, name, node, old)
                scope.accumulators[name] = accumulator
                scope.env[name] = accumulator.renew()
            elif roots_of(old):
                scope.env[name] = Broken(frozenset(roots_of(old)), f"{name} changes in a loop")
            else:
                scope.env[name] = Form.of(Leaf(scope, None, Joined("start", node, name), None))

    def leave(self, scope: Scope, node: ast.For | ast.While) -> None:
        """After a loop: its variables hold what the last round left, or what they held before."""
        for name in count_assignments(node):
            value = scope.env.get(name)
            if value is None or isinstance(value, BlockPointer):
                continue
            scope.env[name] = self.joined(scope, name, node, [value])

    # expressions

    def value(self, scope: Scope, node: ast.expr) -> Any:
        return expressions.value(self, scope, node)

    def access(self, scope: Scope, call: ast.Call, pointer: ast.expr, kind: str, value: Any) -> None:
        stale = isinstance(value, Form) and any(
            leaf.origin is not None and leaf.origin.current is not leaf for leaf in value.leaves()
        )
        self.sites.append(Site(scope, call, pointer, kind, value, stale))

    def call_helper(self, scope: Scope, node: ast.Call, function: int, arguments: dict[str, Any]) -> Any:
        """Follows a helper with bound arguments; what it returns, as far as the caller can name it."""
        if scope.depth >= DEPTH_LIMIT:
            raise Refusal("helpers call each other too deeply")
        inner = self.scope(function, scope, node)
        for name, value in arguments.items():
            if inner.assigned.get(name, 0) > 1 and isinstance(value, Form) and not value.is_number:
                value = Form.of(self.parameter_leaf(inner, name)) if value.root is None else value
            inner.env[name] = value
            leaf = single_leaf(value)
            if leaf is not None and leaf.scope is not inner and inner.assigned.get(name) == 1:
                inner.bound.setdefault(leaf, name)
        self.block(inner, inner.tree.body)
        opaque = expressions.opaque(scope, node, None)
        if len(inner.returns) != 1:
            roots = frozenset(r for v in inner.returns for r in roots_of(v))
            return Broken(roots, f"{inner.tree.name} returns one of several pointers") if roots else opaque
        return self.returned(scope, node, inner, inner.returns[0])

    def returned(self, scope: Scope, node: ast.Call, inner: Scope, value: Any) -> Any:
        if isinstance(value, (Plain, Broken)):
            return value
        if isinstance(value, Form) and all(leaf.scope is not inner for leaf in value.leaves()):
            return value
        roots = frozenset(roots_of(value))
        if roots:
            return Broken(roots, f"a pointer is made within {inner.tree.name} and returned")
        return expressions.opaque(scope, node, None)


def parse_function(spec: dict[str, Any]) -> ast.FunctionDef:
    """The function's tree; lines and columns are those within its own source text."""
    tree = ast.parse(spec["source"])
    found = next(n for n in tree.body if isinstance(n, ast.FunctionDef))
    return found


def is_constexpr(parameter: ast.arg) -> bool:
    return parameter.annotation is not None and "constexpr" in ast.unparse(parameter.annotation)


def single_leaf(value: Any) -> Leaf | None:
    """The leaf, or the bare pointer, that a value is and nothing more."""
    if not isinstance(value, Form) or value.const.value:
        return None
    if not value.terms:
        return value.root
    if len(value.terms) == 1 and value.root is None:
        ((item, number),) = value.terms.items()
        if number.value == 1 and not item.views and item.leaf.origin is None:
            return item.leaf
    return None


def within(node: ast.AST, outer: ast.AST) -> bool:
    return any(n is node for n in ast.walk(outer))


def no_root(value: Any) -> bool:
    return not isinstance(value, Form) or value.is_number


def same(a: Any, b: Any) -> bool:
    return a is b or (isinstance(a, Form) and a.same(b)) or (isinstance(a, Plain) and a == b)


def runtime(value: Any) -> bool:
    return (isinstance(value, Form) and value.const.runtime) or bool(getattr(value, "runtime", False))


def roots_of(value: Any) -> set[Leaf]:
    """The pointer parameters behind a value."""
    match value:
        case Form(root=root) if root is not None:
            return {root}
        case Broken(roots=roots):
            return set(roots)
        case Several(values=values):
            return {r for v in values for r in roots_of(v)}
        case BlockPointer(base=base):
            return roots_of(base)
    return set()
