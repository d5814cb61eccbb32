"""Writes the body of a generated kernel line by line."""

from __future__ import annotations

from dataclasses import dataclass, field

from .expressions import Axis, Expr, Scope

BLOCKS = (("BLOCK_M", 128), ("BLOCK_N", 128), ("BLOCK_K", 128))


@dataclass
class Writer:
    """The lines of the kernel's body, and where the next one goes."""

    scope: Scope
    lines: list[str] = field(default_factory=list)
    indent: int = 1

    def line(self, text: str) -> None:
        self.lines.append("    " * self.indent + text)

    def name(self, stem: str, value: Expr) -> Expr:
        """``stem_n = value``; the name as an expression."""
        name = self.scope.fresh(stem)
        self.line(f"{name} = {value.text}")
        return Expr(name, value.axes, value.bound)

    def axis(self, number: int | None = None) -> Axis:
        """A tile axis: a constexpr block, rarely a number."""
        rng = self.scope.rng
        if rng.random() < 0.12:
            extent = rng.choice((4, 8, 16))
            return Axis(str(extent), extent)
        name, most = BLOCKS[rng.randrange(3) if number is None else number]
        self.scope.parameter(name, "block")
        return Axis(name, most)

    def pointer(self) -> str:
        name = self.scope.rng.choice(("x_ptr", "y_ptr", "z_ptr"))
        return self.scope.parameter(name, "pointer").text

    def access(self, pointer: str, offset: Expr | None, mask: str | None = None) -> None:
        """One load, store or atomic of ``pointer`` (plus an offset)."""
        rng = self.scope.rng
        address = pointer if offset is None else f"{pointer} + {offset.text}"
        tail = f", mask={mask}" if mask else ""
        kind = rng.random()
        if kind < 0.55:
            other = ", other=0.0" if mask and rng.random() < 0.5 else ""
            self.line(f"{self.scope.fresh('v')} = tl.load({address}{tail}{other})")
        elif kind < 0.9:
            self.line(f"tl.store({address}, 1.0{tail})")
        else:
            self.line(f"tl.atomic_add({address}, 1.0{tail})")
