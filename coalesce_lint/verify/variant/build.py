"""Builds the variant: rewrites the pointers of the accesses to the permuted memory."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from typing import Any

from coalesce_lint.verify.variant.follow import Follower, roots_of
from coalesce_lint.verify.variant.forms import Form, Item, Leaf, Number, Refusal
from coalesce_lint.verify.variant.permutation import Permutation
from coalesce_lint.verify.variant.scope import Accumulator, BlockPointer, Broken, Joined, Scope, Site
from coalesce_lint.verify.variant.writer import Edits, Spans, apply

#: Extra arguments at or above this do not fit 32 bits.
INT32 = 2**31


@dataclass(frozen=True)
class Target:
    """One memory to permute: the pointer parameters that lead to it, and how it is permuted.

    With ``places`` (line and column in the file of the calls) only those accesses are rewritten, to read a
    copy that a new parameter points to (a split copy).
    """

    parameters: tuple[str, ...]
    permutation: Permutation
    places: frozenset[tuple[str, int, int]] | None = None


@dataclass
class Variant:
    """``closure`` of the rewritten kernel; ``arguments`` are its new integer parameters, ``copies`` its new
    pointers by the parameter whose copy they point to."""

    closure: dict[str, Any]
    name: str
    source: str
    arguments: dict[str, int] = field(default_factory=dict)
    copies: dict[str, str] = field(default_factory=dict)
    rewritten: list[tuple[str, int, int]] = field(default_factory=list)


class Builder:
    """Makes one variant of a followed kernel."""

    def __init__(self, follower: Follower, targets: list[Target], name: str, folded: bool = False) -> None:
        self.folded = folded
        self.ambiguous = False
        self.follower = follower
        self.targets = targets
        self.edits: dict[Scope, Edits] = {}
        self.names: dict[tuple[Scope, Any], str] = {}
        self.copies: dict[str, tuple[str, Leaf]] = {}
        self.numbers: dict[int, Leaf] = {}
        self.count = 0
        self.taken = {
            n.id for t in follower.trees.values() for n in ast.walk(t) if isinstance(n, ast.Name)
        } | {a.arg for t in follower.trees.values() for a in ast.walk(t) if isinstance(a, ast.arg)}
        self.name = name
        self.permutation: Permutation
        self.runtime = False

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

    # names

    def name_of(self, scope: Scope, leaf: Leaf) -> str:
        """What the leaf is called within ``scope``, which is the leaf's own or one that it reaches by
        calls."""
        if (scope, leaf) in self.names:
            return self.names[scope, leaf]
        if leaf in scope.bound:
            return scope.bound[leaf]
        if leaf.scope is scope:
            name = leaf.name if leaf.name is not None and leaf.origin is None else self.make_name(scope, leaf)
        else:
            if scope.parent is None:
                raise Refusal("a value of a helper is used after the helper has returned")
            outer = self.name_of(scope.parent, leaf)
            name = self.fresh("_v")
            self.edit(scope).parameters.append(name)
            self.call_edit(scope)[name] = outer
        self.names[scope, leaf] = name
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
            raise Refusal("a value of the launch's tuples has no name")
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

    # forms

    def moved(self, number: Number) -> int:
        self.ambiguous |= self.permutation.is_ambiguous(number.value)
        return self.permutation.step(number.value, self.folded)

    def step(self, number: Number) -> tuple[int, bool]:
        """The mapped number, and whether it may be written out."""
        found = self.moved(number)
        return found, not number.runtime and (found == number.value or not self.runtime)

    def ratio(self, form: Form, number: Number) -> int | None:
        """K with ``step(number * c) == K * c`` for every coefficient in ``form``; None where there is
        none."""
        found: set[int | None] = set()
        for item, factor in form.terms.items():
            whole = number * factor
            inner: int | None
            if item.form is not None:
                inner = self.ratio(item.form, whole)
            elif item.leaf.origin is not None:
                inner = self.accumulator_ratio(item.leaf.origin, whole)
            else:
                inner = self.moved(whole)
            found.add(None if inner is None else exact(inner, factor.value))
        if form.const.value:
            found.add(exact(self.moved(number * form.const), form.const.value))
        return found.pop() if len(found) == 1 else None

    def accumulator_ratio(self, accumulator: Accumulator, number: Number) -> int | None:
        parts = [accumulator.start, *(u.delta for u in accumulator.updates)]
        ratios = {self.ratio(p, number) for p in parts if p.terms or p.const.value}
        return ratios.pop() if len(ratios) == 1 else None

    def text(self, scope: Scope, form: Form, root: Leaf | None = None) -> str:
        """The mapped form as source text within ``scope``; ``root`` stands in for the pointer it begins
        with."""
        parts: list[str] = []
        base: list[str] = []
        self.add(scope, form, Number(1), parts, base, root)
        if form.root is not None and not base:
            base.append(self.name_of(scope, root or form.root))
        if not parts:
            return base[0] if base else "0"
        joined = " + ".join(parts)
        return f"{base[0]} + ({joined})" if base and len(parts) > 1 else " + ".join([*base, *parts])

    def add(
        self, scope: Scope, form: Form, factor: Number, parts: list[str], base: list[str], root: Leaf | None
    ) -> None:
        """Appends the texts of the mapped terms to ``parts``, and to ``base`` a pointer that is walked
        along."""
        for item, number in form.terms.items():
            whole = number * factor
            accumulator = item.leaf.origin
            if accumulator is not None and accumulator.start.root is not None:
                base.append(item.render(self.shadow(scope, accumulator, whole, root)))
                continue
            if accumulator is not None:
                ratio = self.accumulator_ratio(accumulator, whole)
                if ratio is None:
                    parts.append(item.render(self.shadow(scope, accumulator, whole, None)))
                    continue
                name = accumulator.name
                if accumulator.scope is not scope:
                    name = self.name_of(scope, item.leaf)
                literal = not whole.runtime and (ratio == whole.value or not self.runtime)
                parts.append(self.product(scope, item, ratio, literal, name))
                continue
            if item.form is not None:
                ratio = self.ratio(item.form, whole)
                if ratio is None:
                    self.add(scope, item.form, whole, parts, base, root)
                    continue
                literal = not whole.runtime and (ratio == whole.value or not self.runtime)
                parts.append(self.product(scope, item, ratio, literal))
                continue
            step, literal = self.step(whole)
            parts.append(self.product(scope, item, step, literal))
        const = form.const * factor
        if const.value:
            step, literal = self.step(const)
            parts.append(self.number(scope, step, literal))

    def product(self, scope: Scope, item: Item, step: int, literal: bool, name: str | None = None) -> str:
        leaf = item.render(name or self.name_of(scope, item.leaf))
        return leaf if step == 1 else f"{leaf} * {self.number(scope, step, literal)}"

    def shadow(self, scope: Scope, accumulator: Accumulator, number: Number, root: Leaf | None) -> str:
        """A variable that goes along with an accumulator and holds ``number`` times its value, mapped."""
        owner = accumulator.scope
        key = (owner, (accumulator, number.value, root))
        if key not in self.names:
            self.names[key] = self.fresh("_p" if accumulator.start.root is not None else "_v")
            name = self.names[key]
            edits, spans = self.edit(owner), self.spans(owner)
            start = self.text(owner, accumulator.start.times(number), root)
            edits.before.setdefault(spans.of(accumulator.loop)[:2], []).append(f"{name} = {start}")
            for update in accumulator.updates:
                delta = self.text(owner, update.delta.times(number))
                edits.after.setdefault(spans.of(update.statement)[:2], []).append(
                    f"{name} = {name} + {delta}"
                )
        if owner is scope:
            return self.names[key]
        return self.name_of(scope, Leaf(owner, self.names[key], None, None))

    # sites

    def target_of(self, site: Site) -> Target | None:
        roots = {leaf.name for leaf in roots_of(site.value)}
        for target in self.targets:
            if roots & set(target.parameters) and (
                target.places is None or self.place(site) in target.places
            ):
                return target
        return None

    def place(self, site: Site) -> tuple[str, int, int]:
        """Path, line and column in the file, where the column is that of the text as it stands there."""
        return place_of(self.follower.closure["functions"][site.scope.function], site.call)

    def build(self) -> Variant:
        rewritten = []
        chosen = [(s, t) for s in self.follower.sites if (t := self.target_of(s)) is not None]
        if not chosen:
            raise Refusal("no access of the tensor was found in the source")
        pointers: set[tuple[Scope, ast.Call]] = set()
        for site, target in chosen:
            self.permutation = target.permutation
            self.runtime = any(self.stride_is_runtime(s.value) for s, t in chosen if t is target)
            value = site.value
            if isinstance(value, Broken):
                raise Refusal(value.reason)
            if site.stale:
                raise Refusal("a pointer is kept beyond the step that changes it")
            if isinstance(value, BlockPointer):
                if target.places is not None:
                    raise Refusal("a block pointer cannot be given a copy of its own")
                if (value.scope, value.node) not in pointers:
                    pointers.add((value.scope, value.node))
                    self.block_pointer(value)
            else:
                root = self.copy_of(value) if target.places is not None else None
                span = self.spans(site.scope).of(site.pointer)
                self.edit(site.scope).replaced[span] = self.text(site.scope, value, root)
            if site.scope.parent is not None:
                self.call_edits(site.scope)
            rewritten.append(self.place(site))
        return self.written(rewritten)

    def call_edits(self, scope: Scope) -> None:
        while scope.parent is not None:
            self.call_edit(scope)
            scope = scope.parent

    def copy_of(self, value: Form) -> Leaf:
        assert value.root is not None and value.root.name is not None
        parameter = value.root.name
        if parameter not in self.copies:
            name = f"{parameter}_permuted"
            self.copies[parameter] = (name, Leaf(self.follower.kernel, name, None, 0))
        return self.copies[parameter][1]

    def stride_is_runtime(self, value: Any) -> bool:
        if isinstance(value, BlockPointer):
            return any(self.stride_is_runtime(v) for v in value.strides) or any(
                v.const.runtime and self.multiple(v.const) for v in value.strides if isinstance(v, Form)
            )
        if not isinstance(value, Form):
            return False
        return any(
            (n.runtime and self.multiple(n))
            or (i.form is not None and self.stride_is_runtime(i.form.times(n)))
            or (i.leaf.origin is not None and self.accumulates_runtime(i.leaf.origin, n))
            for i, n in value.terms.items()
        )

    def accumulates_runtime(self, accumulator: Accumulator, number: Number) -> bool:
        parts = [accumulator.start, *(u.delta for u in accumulator.updates)]
        return any(
            self.stride_is_runtime(p.times(number)) or (p.const.runtime and self.multiple(p.const))
            for p in parts
            if not any(leaf.origin is accumulator for leaf in p.leaves())
        )

    def multiple(self, number: Number) -> bool:
        return number.value % self.permutation.stride == 0

    def block_pointer(self, value: BlockPointer) -> None:
        """Maps the base and the strides of a block pointer where it is made."""
        node, scope = value.node, value.scope
        given = dict(
            zip(("base", "shape", "strides", "offsets", "block_shape", "order"), node.args, strict=False)
        )
        given.update({k.arg: k.value for k in node.keywords if k.arg})
        spans, edits = self.spans(scope), self.edit(scope)
        strides = given.get("strides")
        if not isinstance(value.base, Form) or not isinstance(strides, (ast.Tuple, ast.List)):
            raise Refusal("a block pointer whose strides are not written out")
        steps = []
        for element, stride in zip(strides.elts, value.strides, strict=True):
            if not isinstance(stride, Form) or not stride.is_number:
                raise Refusal("a block pointer with a stride that is not known before the launch")
            step, literal = self.step(stride.const)
            steps.append(step)
            edits.replaced[spans.of(element)] = self.number(scope, step, literal)
        edits.replaced[spans.of(given["base"])] = self.text(scope, value.base)
        order = given.get("order")
        if isinstance(order, (ast.Tuple, ast.List)):
            best = sorted(range(len(steps)), key=lambda k: steps[k])
            edits.replaced[spans.of(order)] = "(" + ", ".join(map(str, best)) + ",)"
        if scope.parent is not None:
            self.call_edits(scope)

    # the text

    def written(self, rewritten: list[tuple[str, int, int]]) -> Variant:
        kernel = self.edit(self.follower.kernel)
        kernel.name = self.name
        for name, _ in self.copies.values():
            kernel.parameters.append(name)
        numbers = {str(leaf.name): value for value, leaf in self.numbers.items()}
        if any(abs(v) >= INT32 for v in numbers.values()):
            raise Refusal("the permuted tensor needs steps beyond 32 bits")
        kernel.parameters += list(numbers)
        closure = dict(self.follower.closure)
        functions = [dict(f) for f in closure["functions"]]
        texts: list[str] = []
        line = 1
        links: dict[int, dict[str, Any]] = {}
        order = sorted(self.edits, key=lambda s: -s.depth)
        numbering = {scope: len(functions) + k for k, scope in enumerate(order)}
        for scope in order:
            original = functions[scope.function]
            try:
                text = apply(original["source"], self.edits[scope])
            except ValueError as error:
                raise Refusal(str(error)) from error
            new = {**original, "source": text, "path": None, "line": line, "column": 0}
            new["name"] = self.edits[scope].name or original["name"]
            new["globals"] = dict(original["globals"])
            texts.append(text.rstrip("\n") + "\n")
            line += texts[-1].count("\n") + 2
            functions.append(new)
            links[numbering[scope]] = new
        for scope in order:
            for inner in order:
                if inner.parent is scope:
                    functions[numbering[scope]]["globals"][self.edits[inner].name] = {
                        "kind": "function",
                        "id": numbering[inner],
                    }
        closure.update(functions=functions, entry=numbering[self.follower.kernel])
        source = "\n\n".join(texts)
        for new in links.values():
            new["file_text"] = source
        copies = {name: parameter for parameter, (name, _) in self.copies.items()}
        return Variant(closure, self.name, source, numbers, copies, rewritten)


def exact(product: int, factor: int) -> int | None:
    return product // factor if factor and product % factor == 0 else None


def place_of(function: dict[str, Any], node: Any) -> tuple[str, int, int]:
    """Where a node of a function's own text stands in its file."""
    return (function["path"], function["line"] + node.lineno - 1, function["column"] + node.col_offset)
