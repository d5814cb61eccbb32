"""Follows a kernel with the arguments of one launch: every memory call with what its pointer holds.

Values are sums of leaves (``forms.py``). A loop's body is followed once: a variable that the loop only adds
to becomes an accumulator, any other that it assigns is a leaf of its own. Branches that the launch does not
take are followed too, but what they assign does not count.
"""

from __future__ import annotations

import ast
from typing import Any

from coalesce_lint.verify.variant import control, expressions, operators
from coalesce_lint.verify.variant.forms import Form, Item, Leaf, Number, Refusal
from coalesce_lint.verify.variant.scope import (
    Accumulator,
    Broken,
    Joined,
    Plain,
    Scope,
    Several,
    Site,
    Update,
    count_assignments,
)
from coalesce_lint.verify.variant.values import is_stale, no_root, roots_of, single_leaf, within

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
            if not scope.done:
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
                control.branch(self, scope, node, self.value(scope, test), body, orelse)
            case ast.For():
                control.for_loop(self, scope, node)
            case ast.While(test=test, body=body):
                control.while_loop(self, scope, node, test, body)
            case ast.Return(value=value):
                scope.returns.append(Plain(None) if value is None else self.value(scope, value))
                scope.width = len(value.elts) if isinstance(value, ast.Tuple) else None
                scope.done = not scope.doubt
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
                if not item.views and leaf.origin is None and leaf.scope not in scope.chain():
                    # an element of a helper's tuple
                    return Form({Item(Leaf(scope, name, None, leaf.rank), (), item.form): Number(1)})
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

    # expressions

    def value(self, scope: Scope, node: ast.expr) -> Any:
        return expressions.value(self, scope, node)

    def access(self, scope: Scope, call: ast.Call, pointer: ast.expr, kind: str, value: Any) -> None:
        stale = isinstance(value, Form) and is_stale(value)
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
        opaque = operators.opaque(scope, node, None)
        if len(inner.returns) != 1:
            roots = frozenset(r for v in inner.returns for r in roots_of(v))
            return Broken(roots, f"{inner.tree.name} returns one of several pointers") if roots else opaque
        return self.returned(scope, node, inner, inner.returns[0])

    def returned(self, scope: Scope, node: ast.Call | None, inner: Scope, value: Any) -> Any:
        """What a helper returned, as its caller holds it: leaves of the helper are handed back by name when
        they are needed. ``node`` is the call, None for an element of a tuple that it returns."""
        if isinstance(value, Several):
            return Several([self.returned(scope, None, inner, v) for v in value.values])
        if not isinstance(value, Form) or not any(inner in leaf.scope.chain() for leaf in value.leaves()):
            return value
        if is_stale(value):
            roots = frozenset(roots_of(value))
            if roots:
                return Broken(roots, f"{inner.tree.name} returns a pointer as it was before a step")
            nameless = Form.of(Leaf(inner, None, None, None))
            return nameless if node is None else operators.opaque(scope, node, None)
        if node is None or value.root is not None:
            return value
        if len(value.terms) == 1 and not value.const.value:
            ((item, number),) = value.terms.items()
            if number.value == 1 and item.form is None:
                return operators.opaque(scope, node, operators.rank(value))
        # The call itself serves as a name for the sum, as a variable would.
        return Form({Item(Leaf(scope, None, node, operators.rank(value)), (), value): Number(1)})


def parse_function(spec: dict[str, Any]) -> ast.FunctionDef:
    """The function's tree; lines and columns are those within its own source text."""
    tree = ast.parse(spec["source"])
    found = next(n for n in tree.body if isinstance(n, ast.FunctionDef))
    return found


def is_constexpr(parameter: ast.arg) -> bool:
    return parameter.annotation is not None and "constexpr" in ast.unparse(parameter.annotation)
