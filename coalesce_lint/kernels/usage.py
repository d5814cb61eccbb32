"""How a kernel uses its parameters: as pointers, as numbers, as sizes."""

from __future__ import annotations

import re

from coalesce_lint.index.nodes import Node, Param

_STRIDE = re.compile("stride", re.IGNORECASE)
_POINTER = re.compile(r"ptr|pointer|_p$|^p_", re.IGNORECASE)
_ARITHMETIC = frozenset(
    ("add", "sub", "mul", "neg", "cast", "expand", "broadcast", "min", "max", "hint", "div", "mod")
)
_INDEX = frozenset(("arange", "pid", "loopvar", "iter", "carried"))
_ADDITIVE = frozenset(("add", "sub", "cast", "expand", "broadcast", "hint", "trans", "reshape", "carried"))


class Usage:
    """Answers over all nodes of a kernel; computed once, on the first question."""

    def __init__(self, nodes: list[Node]) -> None:
        self._nodes = nodes
        self._leaves: dict[int, tuple[frozenset[Param], bool]] = {}
        self._sizes: set[Param] | None = None
        self._numbers: set[Param] | None = None

    def is_size(self, p: Param) -> bool:
        """True where the parameter is a bound (compared with an index, in range, cdiv, //, %) or part of a
        product of sizes. A bare multiplier is not: it is a stride argument.
        """
        if self._sizes is None:
            self._sizes = self._find_sizes()
        return p in self._sizes

    def is_number(self, p: Param) -> bool:
        """True where the parameter is multiplied, divided or compared: it cannot be a pointer."""
        if self._numbers is None:
            self._numbers = set()
            for n in self._nodes:
                if n.op in ("mul", "div", "mod", "loopvar", "arange", "shl", "shr", "min", "max"):
                    for a in n.args:
                        self._numbers |= self.leaves(a)[0]
        return p in self._numbers

    def leaves(self, node: Node) -> tuple[frozenset[Param], bool]:
        """The parameters that ``node`` is made of by arithmetic, and whether it holds an index (lane, program
        id, loop variable).
        """
        known = self._leaves.get(id(node))
        if known is not None:
            return known
        stack = [node]
        while stack:
            top = stack[-1]
            if id(top) in self._leaves:
                stack.pop()
                continue
            if top.op == "param":
                self._leaves[id(top)] = (frozenset((top.attr,)), False)
            elif top.op in _INDEX:
                self._leaves[id(top)] = (frozenset(), True)
            elif top.op in _ARITHMETIC:
                todo = [a for a in top.args if id(a) not in self._leaves]
                if todo:
                    stack.extend(todo)
                    continue
                names: frozenset[Param] = frozenset()
                index = False
                for a in top.args:
                    inner, i = self._leaves[id(a)]
                    names, index = names | inner, index or i
                self._leaves[id(top)] = (names, index)
            else:
                self._leaves[id(top)] = (frozenset(), False)
        return self._leaves[id(node)]

    def _find_sizes(self) -> set[Param]:
        sizes: set[Param] = set()
        factors: dict[Node, frozenset[Param]] = {}
        products: list[tuple[frozenset[Param], frozenset[Param]]] = []
        for n in self._nodes:
            if n.op == "cmp":
                first, second = self.leaves(n.args[0])[1], self.leaves(n.args[1])[1]
                if first and not second:
                    sizes |= _additive(n.args[1])
                elif second and not first:
                    sizes |= _additive(n.args[0])
            elif n.op in ("div", "mod"):
                sizes |= self.leaves(n.args[1])[0]
                if n.op == "div" and n.args[0].op == "sub":  # cdiv(n, block)
                    sizes |= {p for p in self.leaves(n.args[0])[0] if not _STRIDE.search(p.name)}
            elif n.op == "loopvar":
                for a in n.args[:2]:
                    sizes |= self.leaves(a)[0]
            elif n.op == "mul":
                left, right = (_factors(x, factors) for x in n.args)
                if left and right:
                    products.append((left, right))
        for left, right in products:
            both = left | right
            if not any(_STRIDE.search(p.name) for p in both):
                sizes |= both
        return sizes


def _additive(node: Node) -> set[Param]:
    """The parameters in a bound, strides that only multiply something in it left out."""
    out: set[Param] = set()
    stack = [node]
    while stack:
        n = stack.pop()
        if n.op == "param":
            out.add(n.attr)
        elif n.op in ("add", "sub", "min", "max", "cast", "broadcast", "expand", "neg"):
            stack.extend(n.args)
        elif n.op == "mul":
            names = {a.attr for a in n.args if a.op == "param"}
            out |= {p for p in names if not _STRIDE.search(p.name)}
        elif n.op == "div":
            stack.append(n.args[0])
    return out


def _factors(node: Node, known: dict[Node, frozenset[Param]]) -> frozenset[Param]:
    """The runtime parameters of a product, when it is nothing but a product.

    ``known``: those of nodes that were looked at before, for squares of squares share their factors.
    """
    if node not in known:
        known[node] = _factors_of(node, known)
    return known[node]


def _factors_of(node: Node, known: dict[Node, frozenset[Param]]) -> frozenset[Param]:
    if node.op == "param":
        return frozenset() if node.attr.constexpr else frozenset((node.attr,))
    if node.op == "mul" and all(x.op in ("param", "mul", "const") for x in node.args):
        return _factors(node.args[0], known) | _factors(node.args[1], known)
    if node.op == "cast":
        return _factors(node.args[0], known)
    return frozenset()


def leading_param(node: Node, usage: Usage) -> Param | None:
    """The first parameter of a chain of additions that can be a pointer: ``x_ptr + row * stride + col``."""
    seen: set[int] = set()
    stack = [node]
    fallback: Param | None = None
    while stack:
        n = stack.pop()
        if id(n) in seen:
            continue
        seen.add(id(n))
        if n.op == "param":
            p = n.attr
            if p.pointer or (p.pointer is None and not p.constexpr and not usage.is_number(p)):
                return p
            if fallback is None and not p.constexpr and _POINTER.search(p.name):
                fallback = p
        elif n.op in _ADDITIVE:
            stack.extend(reversed(n.args[:2] if n.op in ("add", "sub") else n.args[:1]))
        elif n.op in ("where", "phi"):
            stack.extend(reversed(n.args[1:]))
    return fallback
