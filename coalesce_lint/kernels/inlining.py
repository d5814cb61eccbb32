"""Calls of other kernels: their bodies are read in place, with their parameters bound."""

from __future__ import annotations

from coalesce_lint.access import Call, Place
from coalesce_lint.kernels import control
from coalesce_lint.kernels.reading import Frame, Reading
from coalesce_lint.kernels.source import Function
from coalesce_lint.kernels.values import Arguments, Tup, Value
from coalesce_lint.reasons import Reason

MAX_INLINE_DEPTH = 12


class Inlining(Reading):
    """Reads called functions."""

    def inline(self, fn: Function, args: Arguments, place: Place | None) -> Value:
        """Reads the body of a called function with its parameters bound."""
        depth = sum(f.function is fn for f in self.frames)
        if len(self.frames) > MAX_INLINE_DEPTH or depth > 1:
            return self.build.opaque(Reason.CALL_DEPTH.of(fn.name), shape=None)
        self.inlined.add(fn)
        self.sources.setdefault(fn.module.path, fn.module)
        env = self.bind(fn, args)
        frame = Frame(fn, env)
        frame.guard_base = len(self.guards)
        where = place or Place(self.frame.function.module.path, 0, 0)
        self.chain.append(Call(self.frame.function.name, where))
        self.frames.append(frame)
        loops, self.loops = self.loops, list(self.loops)
        try:
            self.block(fn.node.body)
        finally:
            self.frames.pop()
            self.chain.pop()
            self.loops = loops
            del self.guards[frame.guard_base :]
        return control.join_returns(self.build, frame.returns)

    def bind(self, fn: Function, args: Arguments) -> dict[str, Value]:
        env: dict[str, Value] = {}
        position = 0
        for p in fn.parameters:
            if p.variadic:
                env[p.name] = Tup(args.positional[position:])
                position = len(args.positional)
            elif p.name in args.keywords:
                env[p.name] = args.keywords[p.name]
            elif position < len(args.positional):
                env[p.name] = args.positional[position]
                position += 1
            elif p.default is not None:
                env[p.name] = self.constant_expr(p.default, fn.module)
            else:
                env[p.name] = self.build.opaque(Reason.ARGUMENT.of(p.name), shape=None)
        return env
