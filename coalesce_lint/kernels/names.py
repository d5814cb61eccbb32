"""Names of a kernel: its variables, what its module defines or imports, elements of parameters."""

from __future__ import annotations

import ast

from coalesce_lint.index.nodes import Node, Param, const
from coalesce_lint.kernels import language
from coalesce_lint.kernels.builtin_functions import BUILTINS
from coalesce_lint.kernels.jit import LANGUAGE_NAMES
from coalesce_lint.kernels.reading import Reading
from coalesce_lint.kernels.source import Module
from coalesce_lint.kernels.values import Fn, Ref, Tup, Value

_AST_BINARY = {
    ast.Add: "add",
    ast.Sub: "sub",
    ast.Mult: "mul",
    ast.FloorDiv: "div",
    ast.Mod: "mod",
    ast.Pow: "pow",
    ast.LShift: "shl",
    ast.RShift: "shr",
    ast.BitOr: "or",
    ast.Div: "truediv",
}


class Names(Reading):
    """The values of names and of module-level constants."""

    def name(self, node: ast.Name) -> Value:
        return self.lookup(node.id)

    def lookup(self, name: str) -> Value:
        env = self.frame.env
        if name in env:
            return env[name]
        function = self.frame.function
        if name in function.hidden:
            return self.global_symbol(name, f"{function.name}.{name}")
        return self.module_name(function.module, name)

    def module_name(self, module: Module, name: str) -> Value:
        if name in module.functions:
            return Fn(module.functions[name])
        if name in module.imports:
            return Ref(module.imports[name])
        if name in module.constants:
            return self.constant_expr(module.constants[name], module, name)
        if name in LANGUAGE_NAMES:
            return Ref("triton.language")
        if any(language.is_language(star) for star in module.stars) and language.knows(name):
            return language.named(self, Ref("triton.language"), name)
        return Ref(f"builtins.{name}") if name in BUILTINS else self.global_symbol(name)

    def global_symbol(self, name: str, key: str = "") -> Node:
        """A global or closed-over name whose value is not known: fixed when the kernel is compiled."""
        known = self.global_symbols
        key = key or name
        if key not in known:
            known[key] = Node("param", (), Param(name, True, None, False), (), None, None, True)
        return known[key]

    def constant_expr(self, node: ast.expr, module: Module, name: str = "") -> Value:
        """The value of a module-level constant or a default, from its syntax alone."""
        if isinstance(node, ast.Constant):
            if isinstance(node.value, (bool, int, float, str, type(None))):
                return const(node.value)
        elif isinstance(node, (ast.Tuple, ast.List)):
            return Tup([self.constant_expr(e, module) for e in node.elts])
        elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            value = self.constant_expr(node.operand, module)
            if isinstance(value, Node) and value.op == "const" and isinstance(value.attr, (int, float)):
                return const(-value.attr)
        elif isinstance(node, ast.Call) and len(node.args) == 1:
            called = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            if called in ("constexpr", "int", "float", "bool"):
                return self.constant_expr(node.args[0], module, name)
        elif isinstance(node, ast.Name) and node.id != name:
            return self.module_name(module, node.id)
        elif isinstance(node, ast.Attribute):
            base = node
            parts = []
            while isinstance(base, ast.Attribute):
                parts.append(base.attr)
                base = base.value  # type: ignore[assignment]
            if isinstance(base, ast.Name) and base.id in module.imports:
                return Ref(".".join([module.imports[base.id], *reversed(parts)]))
        elif isinstance(node, ast.BinOp) and type(node.op) in _AST_BINARY:
            a, b = self.constant_expr(node.left, module), self.constant_expr(node.right, module)
            if isinstance(a, Node) and isinstance(b, Node):
                return self.build.binary(_AST_BINARY[type(node.op)], a, b)
        return self.global_symbol(name or f"global{node.lineno}_{node.col_offset}")

    def element(self, value: Node, key: int | str) -> Node:
        """An element or attribute of a parameter that is a tuple or an aggregate: a parameter of its own."""
        known = self.elements
        name = f"{value.attr.name}[{key}]" if isinstance(key, int) else f"{value.attr.name}.{key}"
        if name not in known:
            p = Param(name, value.attr.constexpr, None, None, value.attr.index, value.attr.specialize)
            known[name] = Node("param", (), p, (), None, None, value.static)
        return known[name]
