"""Functions being followed, and what their variables may hold besides sums."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from typing import Any

from coalesce_lint.verify.variant.forms import Form, Leaf


@dataclass
class Plain:
    """A value known to Python that is no integer: None, a string, a float, a boolean, a type by name."""

    value: Any


@dataclass
class Several:
    """A tuple."""

    values: list[Any]


@dataclass
class Broken:
    """A pointer that cannot be followed; ``roots`` are the parameters that it may come from."""

    roots: frozenset[Leaf]
    reason: str


@dataclass
class BlockPointer:
    """``make_block_ptr`` with the forms of its base and its strides."""

    scope: Scope
    node: ast.Call
    base: Any
    strides: list[Any]


@dataclass
class Update:
    """One ``p += delta`` of an accumulator, at a statement."""

    statement: ast.stmt
    delta: Form


@dataclass(eq=False)
class Accumulator:
    """A variable that a loop only ever adds to. ``start`` is its value before the loop."""

    scope: Scope
    name: str
    loop: ast.stmt
    start: Form
    updates: list[Update] = field(default_factory=list)
    current: Leaf | None = None

    def renew(self) -> Form:
        """The accumulator's value from here on: a leaf that goes stale with the next call."""
        self.current = Leaf(self.scope, self.name, None, None, self)
        return Form.of(self.current).plus(Form(root=self.start.root))


@dataclass(frozen=True)
class Joined:
    """Where a variable with several possible values gets a name of its own: "after" or at the "start" of a
    statement."""

    where: str
    statement: Any
    variable: str


@dataclass(eq=False)
class Scope:
    """One function as it is called from one place.

    ``function`` is its number in the closure, ``call`` the call in ``parent`` (None for the kernel).
    ``assigned`` counts assignments by name.
    """

    function: int
    tree: ast.FunctionDef
    globals: dict[str, Any]
    parent: Scope | None = None
    call: ast.Call | None = None
    env: dict[str, Any] = field(default_factory=dict)
    assigned: dict[str, int] = field(default_factory=dict)
    returns: list[Any] = field(default_factory=list)
    width: int | None = None  #: values of a return that is written as a tuple, None for any other
    doubt: int = 0  #: loops, and branches that constants do not decide, around the statement at hand
    done: bool = False  #: a return was reached for certain
    accumulators: dict[str, Accumulator] = field(default_factory=dict)
    bound: dict[Leaf, str] = field(default_factory=dict)  #: a caller's leaves that are parameters here

    @property
    def depth(self) -> int:
        return 0 if self.parent is None else self.parent.depth + 1

    def chain(self) -> list[Scope]:
        return [self] if self.parent is None else [self, *self.parent.chain()]


@dataclass
class Site:
    """One memory call. ``value`` is what its pointer argument holds."""

    scope: Scope
    call: ast.Call
    pointer: ast.expr
    kind: str
    value: Any
    stale: bool = False


def count_assignments(tree: ast.AST) -> dict[str, int]:
    """How often each name is assigned within a function or a loop, parameters of the function included."""
    found: dict[str, int] = {}
    for node in ast.walk(tree):
        name = None
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            name = node.id
        elif isinstance(node, ast.arg):
            name = node.arg
        if name is not None:
            found[name] = found.get(name, 0) + 1
    for node in ast.walk(tree):
        if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
            found[node.target.id] = found.get(node.target.id, 0) + 1
    return found


def increments(tree: ast.AST) -> set[str]:
    """Names whose every assignment within a loop adds to them (or advances a block pointer)."""
    adds: dict[str, int] = {}
    stores: dict[str, int] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
            stores[node.target.id] = stores.get(node.target.id, 0) + 1
            if isinstance(node.op, (ast.Add, ast.Sub)):
                adds[node.target.id] = adds.get(node.target.id, 0) + 1
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            stores[node.id] = stores.get(node.id, 0) + 1
        if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
            name = node.targets[0].id
            if _adds_to(node.value, name):
                adds[name] = adds.get(name, 0) + 1
    # The target of an augmented assignment is a Name with Store context too.
    for node in ast.walk(tree):
        if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
            stores[node.target.id] -= 1
    return {n for n, k in adds.items() if stores.get(n) == k}


def _adds_to(value: ast.expr, name: str) -> bool:
    match value:
        case ast.BinOp(left=ast.Name(id=left), op=ast.Add() | ast.Sub()) if left == name:
            return True
        case ast.BinOp(op=ast.Add(), right=ast.Name(id=right)) if right == name:
            return True
        case ast.Call(func=ast.Attribute(attr="advance"), args=[ast.Name(id=first), *_]) if first == name:
            return True
        case ast.Call(func=ast.Attribute(value=ast.Name(id=owner), attr="advance")) if owner == name:
            return True
    return False
