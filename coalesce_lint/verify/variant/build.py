"""Builds the variant: rewrites the pointers of the accesses to the permuted memory."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from typing import Any

from coalesce_lint.syntax import characters
from coalesce_lint.verify.variant.follow import Follower
from coalesce_lint.verify.variant.forms import Form, Leaf, Refusal
from coalesce_lint.verify.variant.permutation import Permutation
from coalesce_lint.verify.variant.render import Renderer
from coalesce_lint.verify.variant.scope import BlockPointer, Broken, Scope, Site
from coalesce_lint.verify.variant.values import roots_of
from coalesce_lint.verify.variant.writer import apply

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


class Builder(Renderer):
    """Makes one variant of a followed kernel."""

    def __init__(self, follower: Follower, targets: list[Target], name: str, folded: bool = False) -> None:
        super().__init__(follower, folded)
        self.targets = targets
        self.name = name
        self.copies: dict[str, tuple[str, Leaf]] = {}

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


def place_of(function: dict[str, Any], node: Any) -> tuple[str, int, int]:
    """Where a node of a function's own text stands in its file; the column counts characters."""
    column = characters(function["source"].split("\n"), node.lineno, node.col_offset)
    return (function["path"], function["line"] + node.lineno - 1, function["column"] + column)
