"""What the callers of a host function are known to pass, and what a forward pass saves for its backward."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from coalesce_lint.launches import walk
from coalesce_lint.launches.decorators import learn_from_decorators
from coalesce_lint.launches.expressions import Evaluator
from coalesce_lint.launches.modules import HostFunction, HostModule, HostTree
from coalesce_lint.launches.names import SAVED
from coalesce_lint.launches.values import Facts, Items, Known, Number, Star, Tensor, Value

#: Functions with more callers than these are taken to be called in every way.
MOST_CALLERS = 24
_NO_WORD = re.compile(r"\W")
#: No name that is called is longer.
_LONGEST = 120


@dataclass
class Seen:
    """A host function that was read: the calls in it that lead into the tree, and what it saved."""

    calls: list[tuple[HostFunction, tuple[Value, ...], Mapping[str, Value], Known]] = field(
        default_factory=list
    )
    saved: tuple[Facts, ...] | None = None


class Callers:
    """Answers about the callers of functions in ``modules``."""

    def __init__(self, tree: HostTree, modules: Iterable[HostModule], innermost: bool) -> None:
        self._tree = tree
        self._modules = list(modules)
        self._innermost = innermost
        self._places: dict[str, list[HostFunction]] | None = None
        self._seen: dict[HostFunction, Seen] = {}
        self._believed: dict[HostFunction, dict[str, str]] = {}

    def reached(self, fn: HostFunction) -> bool:
        """Whether anything in the files that were read calls ``fn`` by its name, or may."""
        return fn.owner != "" or fn.name.startswith("<") or bool(self._callers(fn))

    def believed(self, fn: HostFunction) -> dict[str, str]:
        """The parameters of ``fn`` that are contiguous for every caller, with why. Callers of callers are not
        followed: of a caller's own parameters nothing is known.
        """
        if fn in self._believed:
            return self._believed[fn]
        self._believed[fn] = {}
        callers = self._callers(fn)
        if not callers or len(callers) > MOST_CALLERS:
            return {}
        found: dict[str, str] | None = None
        for caller in callers:
            for target, args, kw, known in self._read(caller).calls:
                if target is not fn:
                    continue
                passed = self._passed(fn, args, kw, known)
                found = passed if found is None else {n: w for n, w in found.items() if n in passed}
        self._believed[fn] = found or {}
        return self._believed[fn]

    def _passed(
        self, fn: HostFunction, args: tuple[Value, ...], kw: Mapping[str, Value], known: Known
    ) -> dict[str, str]:
        questions = Evaluator(self._tree, fn, self._innermost).questions().under(known)
        out = {}
        if not any(isinstance(a, Star) for a in args):
            named = {p.arg: a for p, a in zip(fn.parameters, args, strict=False)}
            for name, value in {**named, **kw}.items():
                if isinstance(value, Tensor):
                    why = questions.contiguous(value)
                    if why:
                        out[name] = f"for its callers, {why}"
                elif isinstance(value, Number):
                    out[name] = "no tensor"
        return out

    def saved(self, fn: HostFunction) -> tuple[Facts, ...] | None:
        """What is known of the tensors that the forward pass of ``fn``'s class saves, in their order."""
        forward = fn.module.methods.get((fn.owner, "forward"))
        return self._read(forward).saved if forward is not None and fn.name == "backward" else None

    def _read(self, fn: HostFunction) -> Seen:
        if fn not in self._seen:
            self._seen[fn] = Seen()
            ev = self.evaluator(fn)
            walk.block(ev, fn.node.body)
            self._seen[fn] = Seen(ev.calls, ev.saved)
        return self._seen[fn]

    def evaluator(self, fn: HostFunction) -> Evaluator:
        """An evaluator at the head of ``fn``, with what is known of its parameters."""
        ev = Evaluator(self._tree, fn, self._innermost)
        walk.bind_parameters(ev, fn)
        learn_from_decorators(ev, self._tree)
        if (saved := self.saved(fn)) is not None:
            tensors = []
            for facts in saved:
                t = ev.given(SAVED, fn.node.lineno)
                ev.state.learn(t, facts)
                tensors.append(t)
            ev.state.names[f"{fn.parameters[0].arg}.saved_tensors"] = Items(tuple(tensors))
        return ev

    def _callers(self, fn: HostFunction) -> list[HostFunction]:
        if self._places is None:
            self._places = self._all_places()
        name = fn.owner if fn.name == "forward" and fn.owner else fn.name
        return [c for c in self._places.get(name, []) if c is not fn]

    def _all_places(self) -> dict[str, list[HostFunction]]:
        """The functions in which a name is called, by name."""
        names = {f.owner or f.name for m in self._modules for f in m.all_functions if f.outer is None}
        out: dict[str, list[HostFunction]] = {}
        for module in self._modules:
            outer = sorted((f for f in module.all_functions if f.outer is None), key=lambda f: f.node.lineno)
            line, where = 1, 0
            for before in module.text.split("(")[:-1]:  # twice as fast as a regular expression for calls
                line += before.count("\n")
                called = before[-_LONGEST:].rstrip(" \t").removesuffix(".apply")
                name = _NO_WORD.split(called)[-1]
                if name not in names:
                    continue
                while where < len(outer) and (outer[where].node.end_lineno or 0) < line:
                    where += 1
                if where < len(outer) and outer[where].node.lineno < line:
                    found = out.setdefault(name, [])
                    if outer[where] not in found:
                        found.append(outer[where])
        return out
