"""Calls in expressions: the called value, its arguments, and ``range``."""

from __future__ import annotations

import ast

from coalesce_lint.access import Place
from coalesce_lint.index.nodes import Node, const
from coalesce_lint.kernels import language
from coalesce_lint.kernels.reading import Reading
from coalesce_lint.kernels.values import Arguments, Bound, Fn, Lambda, Ref, Tup, Value
from coalesce_lint.reasons import Reason


class Calls(Reading):
    """The values of calls."""

    def call(self, node: ast.Call) -> Value:
        func = self.expr(node.func)
        args = self.arguments(node)
        place = self.frame.function.module.place(node)
        self.build.pos = (place.path, place.line, place.column)
        return self.apply(func, args, place)

    def apply(self, func: Value, args: Arguments, place: Place) -> Value:
        if isinstance(func, Fn):
            return self.inline(func.function, args, place)
        if isinstance(func, Ref):
            return language.call(self, func, args, place)
        if isinstance(func, Bound):
            return language.call_method(self, func, args, place)
        if isinstance(func, Lambda) and self.lambda_depth < 8:
            return self.call_lambda(func, args)
        numbers = [a for a in args.positional if isinstance(a, Node)]
        if isinstance(func, Node) and func.op == "param":
            return self.build.opaque(Reason.CALL_OF_ARGUMENT.of(func.attr.name), *numbers, shape=None)
        return self.build.opaque(Reason.CALL_OF_VALUE.why, *numbers, shape=None)

    def call_lambda(self, func: Lambda, args: Arguments) -> Value:
        env = dict(func.env)
        for k, name in enumerate(func.params):
            env[name] = args.get(k, name, const(None))
        saved, self.frame.env = self.frame.env, env
        self.lambda_depth += 1
        try:
            if isinstance(func.body, list):
                return self.build.opaque(Reason.NESTED_FUNCTION.why, shape=None)
            return self.expr(func.body)
        finally:
            self.lambda_depth -= 1
            self.frame.env = saved

    def arguments(self, node: ast.Call) -> Arguments:
        out = Arguments([])
        for a in node.args:
            if not isinstance(a, ast.Starred):
                out.positional.append(self.expr(a))
            elif isinstance(value := self.expr(a.value), Tup):
                out.positional.extend(value.items)
            else:
                out.starred = True
        for keyword in node.keywords:
            value = self.expr(keyword.value)
            if keyword.arg is not None:
                out.keywords[keyword.arg] = value
            else:
                out.starred = True
        return out

    def range_bounds(self, node: ast.Call) -> tuple[Node, Node, Node] | None:
        """Start, stop and step of a ``range`` in any spelling; None for other iterables."""
        name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        if not name.endswith("range"):
            return None
        args = self.arguments(node)
        p = [self.number(x) for x in args.positional[:3]]
        named = [args.keywords.get(k) for k in ("arg1", "arg2", "step")]
        for k, v in enumerate(named):
            if v is not None and k == len(p):
                p.append(self.number(v))
        if not p:
            return None
        step = args.keywords.get("step")
        if len(p) == 1:
            return const(0), p[0], self.number(step) if step is not None else const(1)
        return p[0], p[1], p[2] if len(p) > 2 else const(1)
