"""What the values of a kernel are called where the variant needs them: names that exist, and names that are
made.

A value of a caller reaches a helper as a new parameter of the helper's clone; a value of a helper reaches its
caller as a further result.
"""

from __future__ import annotations

import ast
from typing import Any

from coalesce_lint.verify.variant.follow import Follower
from coalesce_lint.verify.variant.forms import Leaf, Refusal
from coalesce_lint.verify.variant.scope import Joined, Scope
from coalesce_lint.verify.variant.writer import Edits, Results, Spans


class Namer:
    """Names leaves, and collects the edits that give them their names."""

    def __init__(self, follower: Follower) -> None:
        self.follower = follower
        self.edits: dict[Scope, Edits] = {}
        self.names: dict[tuple[Scope, Any], str] = {}
        self.numbers: dict[int, Leaf] = {}
        self.count = 0
        self.taken = {
            n.id for t in follower.trees.values() for n in ast.walk(t) if isinstance(n, ast.Name)
        } | {a.arg for t in follower.trees.values() for a in ast.walk(t) if isinstance(a, ast.arg)}

    def fresh(self, prefix: str) -> str:
        while True:
            self.count += 1
            name = f"{prefix}{self.count}"
            if name not in self.taken:
                return name

    def spans(self, scope: Scope) -> Spans:
        return Spans(self.follower.closure["functions"][scope.function]["source"])

    def edit(self, scope: Scope) -> Edits:
        if scope not in self.edits:
            self.edits[scope] = Edits()
            if scope.parent is not None:
                self.edit(scope.parent)
        return self.edits[scope]

    def name_of(self, scope: Scope, leaf: Leaf) -> str:
        """What the leaf is called within ``scope``, which is the leaf's own or one that calls connect
        it with."""
        if (scope, leaf) in self.names:
            return self.names[scope, leaf]
        if leaf in scope.bound:
            return scope.bound[leaf]
        if leaf.scope is scope:
            name = leaf.name if leaf.name is not None and leaf.origin is None else self.make_name(scope, leaf)
        elif (callee := called_on_the_way(scope, leaf.scope)) is not None:
            name = self.handed_back(callee, leaf)
        else:
            if scope.parent is None:
                raise Refusal("a value of a helper is used where no call leads to it")
            outer = self.name_of(scope.parent, leaf)
            name = self.fresh("_v")
            self.edit(scope).parameters.append(name)
            self.call_edit(scope)[name] = outer
        self.names[scope, leaf] = name
        return name

    def handed_back(self, callee: Scope, leaf: Leaf) -> str:
        """The name, in the caller, of a value of a helper that has returned: a further result of it."""
        assert callee.parent is not None and callee.call is not None
        inner = self.name_of(callee, leaf)
        self.call_edit(callee)
        self.edit(callee).returns.append(inner)
        span = self.spans(callee.parent).of(callee.call)
        results = self.edit(callee.parent).results
        if span not in results:
            width = callee.width
            results[span] = Results([self.fresh("_r") for _ in range(width or 1)], width is not None)
        name = self.fresh("_v")
        results[span].further.append(name)
        return name

    def call_edit(self, scope: Scope) -> dict[str, str]:
        """The extra arguments of the call that leads to ``scope``."""
        assert scope.parent is not None and scope.call is not None
        span = self.spans(scope.parent).of(scope.call)
        calls = self.edit(scope.parent).calls
        if span not in calls:
            clone = self.fresh(f"{scope.tree.name}_")
            self.edit(scope).name = clone
            calls[span] = (clone, {})
        return calls[span][1]

    def make_name(self, scope: Scope, leaf: Leaf) -> str:
        edits, spans = self.edit(scope), self.spans(scope)
        node = leaf.node
        if leaf.origin is not None:
            assert leaf.name is not None
            return leaf.name
        if isinstance(node, Joined):
            name = self.fresh("_v")
            span = spans.of(node.statement)[:2]
            text = f"{name} = {node.variable}"
            if node.where == "after":
                edits.after.setdefault(span, []).append(text)
            else:
                edits.start.setdefault(span, []).append(text)
            return name
        if isinstance(node, ast.Name):
            return node.id if scope.assigned.get(node.id, 0) <= 1 else self.hoist(edits, spans.of(node))
        if node is None:
            raise Refusal("a value has no name that could be used")
        return self.hoist(edits, spans.of(node))

    def hoist(self, edits: Edits, span: tuple[int, int, int, int]) -> str:
        if span not in edits.hoisted:
            edits.hoisted[span] = self.fresh("_v")
        return edits.hoisted[span]

    def number(self, scope: Scope, value: int, literal: bool) -> str:
        """A number's text: a literal, or the name of a new runtime argument."""
        if literal or value in (0, 1, -1):
            return str(value)
        if value not in self.numbers:
            self.numbers[value] = Leaf(self.follower.kernel, self.fresh("_k"), None, 0)
        return self.name_of(scope, self.numbers[value])


def called_on_the_way(scope: Scope, inner: Scope) -> Scope | None:
    """The helper that ``scope`` itself calls to reach ``inner``; None where ``inner`` is not within it."""
    chain = inner.chain()
    return chain[chain.index(scope) - 1] if scope in chain[1:] else None
