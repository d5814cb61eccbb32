"""Random kernels for comparing the static model of layouts with the compiler.

``generate(count, seed)`` gives source texts with a launch each. Kernels combine what decides a layout:
tiles of one to three axes, all element types, constant, specialized and unspecialized strides, wraps,
divisions, clamps, reversals, reshapes and transposes, masks of many kinds, hints, several memory operations
in one slice, loops, reductions, tiles smaller than the program, atomics.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from typing import Any

TYPES = ("i8", "i16", "i32", "i64", "fp16", "bf16", "fp32", "fp64", "fp16", "fp32", "fp8e5", "u8", "i1")
HEADER = "import triton\nimport triton.language as tl\n"


@dataclass
class Generated:
    """One kernel: its text (without the header), and the launch to compile it for."""

    name: str
    text: str
    arguments: dict[str, Any]
    num_warps: int
    arch: int
    features: list[str] = field(default_factory=list)


class Maker:
    """Writes one kernel."""

    def __init__(self, chance: random.Random, name: str) -> None:
        self.chance = chance
        self.name = name
        self.lines: list[str] = []
        self.parameters: list[str] = []
        self.arguments: dict[str, Any] = {}
        self.unspecialized: list[str] = []
        self.unaligned: list[str] = []
        self.types: dict[str, str] = {}
        self.features: list[str] = []
        self.counter = 0

    # -- parts

    def fresh(self, stem: str) -> str:
        self.counter += 1
        return f"{stem}{self.counter}"

    def emit(self, line: str, depth: int = 1) -> None:
        self.lines.append("    " * depth + line)

    def pointer(self, kind: str | None = None) -> str:
        name = self.fresh("p")
        kind = kind or self.chance.choice(TYPES)
        alignment = self.chance.choice([16, 16, 16, 16, 8, 4]) if kind not in ("fp64", "i64") else 16
        self.parameters.append(name)
        self.arguments[name] = f"*{kind}:{alignment}"
        return name

    def integer(self, values: list[int]) -> str:
        name = self.fresh("n")
        self.parameters.append(name)
        self.arguments[name] = self.chance.choice(values)
        luck = self.chance.random()
        if luck < 0.1:
            self.unspecialized.append(name)
            self.note("unspecialized")
        elif luck < 0.15:
            self.types[name] = self.chance.choice(["tl.int64", "tl.int32", "int"])
            self.note("annotated")
        elif luck < 0.2:
            self.unaligned.append(name)
            self.note("unaligned")
        return name

    def note(self, feature: str) -> None:
        if feature not in self.features:
            self.features.append(feature)

    def lanes(self, extent: int, axis: int) -> str:
        """A one-dimensional index along an axis, as a name."""
        c = self.chance
        name = self.fresh("i")
        base = f"tl.program_id({axis}) * {extent} + tl.arange(0, {extent})"
        kind = c.choices(
            [
                "plain",
                "arange",
                "wrap",
                "divide",
                "clamp",
                "reverse",
                "hint",
                "shift",
                "xor",
                "loaded",
                "scaled",
                "both",
            ],
            [30, 8, 8, 5, 4, 4, 6, 5, 2, 3, 5, 3],
        )[0]
        if kind != "plain":
            self.note(kind)
        if kind == "plain":
            self.emit(f"{name} = {base}")
        elif kind == "arange":
            self.emit(f"{name} = tl.arange(0, {extent})")
        elif kind == "wrap":
            bound = c.choice([self.integer([1024, 997, 96, 48]), "128", "96", "7"])
            self.emit(f"{name} = ({base}) % {bound}")
        elif kind == "divide":
            divisor = c.choice([self.integer([64, 12, 16]), "2", "4", "8", "3", "1"])
            self.emit(f"{name} = ({base}) // {divisor}")
        elif kind == "clamp":
            self.emit(f"{name} = tl.minimum({base}, {self.integer([1000, 1024])} - 1)")
        elif kind == "reverse":
            self.emit(f"{name} = {self.integer([1000, 1024])} - 1 - ({base})")
        elif kind == "hint":
            self.emit(f"{name} = ({base}) % {self.integer([1000, 1024, 997])}")
            run = c.choice([extent, 8, 4])
            hint = f"tl.max_contiguous({name}, {min(run, extent)})"
            self.emit(f"{name} = tl.multiple_of({hint}, {c.choice([extent, 8, 16])})")
        elif kind == "shift":
            self.emit(f"{name} = {base} + {c.choice([1, 2, 4, 8, 16, 32])}")
        elif kind == "xor":
            self.emit(f"{name} = ({base}) ^ {c.choice([1, 8, 3])}")
        elif kind == "loaded":
            table = self.pointer("i32")
            self.emit(f"{name} = tl.load({table} + {base})")
        elif kind == "scaled":
            self.emit(f"{name} = ({base}) * {c.choice(['2', '4', '1', self.integer([2, 16, 1])])}")
        elif kind == "both":
            width = c.choice(["4", "16", "64", self.integer([64, 16, 5])])
            flat = self.fresh("f")
            self.emit(f"{flat} = {base}")
            pitch = c.choice(["128", "80", self.integer([128, 80])])
            self.emit(f"{name} = ({flat} // {width}) * {pitch} + {flat} % {width}")
        return name

    def stride(self) -> str:
        c = self.chance
        if c.random() < 0.25:
            return c.choice(["1", "2", "3", "8", "64", "1024", "16", "4"])
        return self.integer([1, 1, 1, 64, 1024, 96, 24, 33, 4])

    def spread(self, name: str, axis: int, rank: int) -> str:
        """``name[:, None]`` and its kin."""
        if rank == 1:
            return name
        inner = ", ".join(":" if k == axis else "None" for k in range(rank))
        return f"{name}[{inner}]"

    def offsets(self, names: list[str]) -> str:
        """The offset of a tile from one index an axis."""
        c = self.chance
        rank = len(names)
        if rank == 1:
            stride = self.stride() if c.random() < 0.4 else None
            return f"{names[0]} * {stride}" if stride else names[0]
        unit = c.randrange(rank) if c.random() < 0.7 else -1
        terms = []
        for axis, name in enumerate(names):
            term = self.spread(name, axis, rank)
            if axis != unit:
                term = f"{term} * {self.stride()}"
            terms.append(term)
        if c.random() < 0.2:
            c.shuffle(terms)
        return " + ".join(terms)

    def mask(self, names: list[str]) -> str | None:
        c = self.chance
        if c.random() < 0.5:
            return None
        rank = len(names)
        parts = []
        for axis, name in enumerate(names):
            if c.random() < 0.6:
                bound = c.choice(
                    [self.integer([1024, 1000, 65536]), self.integer([1024, 1000]), "1000", "64"]
                )
                sign = c.choice(["<", "<", "<", "<=", ">=", ">", "!="])
                parts.append(f"({self.spread(name, axis, rank)} {sign} {bound})")
        if not parts:
            return None
        self.note("mask")
        return " & ".join(parts)

    # -- kernels ----------------------------------------------------------------------------------

    def shape(self) -> list[int]:
        c = self.chance
        rank = c.choices([1, 2, 3], [4, 5, 2])[0]
        largest = {1: 12, 2: 7, 3: 5}[rank]
        while True:
            extents = [2 ** c.randrange({1: 3, 2: 1, 3: 0}[rank], largest + 1) for _ in range(rank)]
            size = 1
            for e in extents:
                size *= e
            if size <= 16384 and size >= 8:
                return extents

    def access(self, names: list[str]) -> tuple[str, str, str | None]:
        """Names of a tile of pointers with its pointee pointer, and a mask."""
        pointer = self.pointer()
        offset = self.fresh("o")
        self.emit(f"{offset} = {self.offsets(names)}")
        mask = self.mask(names)
        if mask:
            name = self.fresh("m")
            self.emit(f"{name} = {mask}")
            mask = name
        return pointer, offset, mask

    def load(self, names: list[str], depth: int = 1) -> str:
        pointer, offset, mask = self.access(names)
        value = self.fresh("v")
        # Only floats convert to and from fp8.
        small = ".to(tl.float32)" if self.arguments[pointer].startswith("*fp8") else ""
        other = f", other={'0.0' if small else '0'}" if mask and self.chance.random() < 0.5 else ""
        rest = f", mask={mask}{other}" if mask else ""
        self.emit(f"{value} = tl.load({pointer} + {offset}{rest}){small}", depth)
        return value

    def body(self) -> None:
        c = self.chance
        extents = self.shape()
        rank = len(extents)
        names = [self.lanes(e, k) for k, e in enumerate(extents)]
        kind = c.choices(
            ["copy", "sum", "loop", "reduce", "bias", "reshape", "trans", "atomic"],
            [30, 20, 8, 8, 10, 6, 6, 5],
        )[0]
        self.note(kind)
        if kind == "reshape" and rank >= 2:
            self.reshaped(extents)
            return
        if kind == "loop":
            self.loop(names)
            return
        value = self.load(names)
        if kind == "sum":
            for _ in range(c.randrange(1, 3)):
                other = self.load(
                    [
                        self.lanes(e, k) if c.random() < 0.3 else n
                        for k, (e, n) in enumerate(zip(extents, names, strict=True))
                    ]
                )
                value = self.add(value, other)
        if kind == "bias" and rank >= 2:
            axis = c.randrange(rank)
            bias = self.load([names[axis]])
            value = self.add(value, self.spread(bias, axis, rank))
        if kind == "reduce":
            axis = c.randrange(rank)
            total = self.fresh("v")
            self.emit(f"{total} = tl.sum({value}.to(tl.float32), axis={axis})")
            rest = [n for k, n in enumerate(names) if k != axis]
            self.store(rest, total)
            return
        if kind == "trans" and rank == 2:
            turned = self.fresh("v")
            self.emit(f"{turned} = tl.trans({value})")
            self.store([names[1], names[0]], turned)
            return
        if kind == "atomic":
            pointer = self.pointer(c.choice(["fp32", "i32", "fp16"]))
            offset = self.fresh("o")
            self.emit(f"{offset} = {self.offsets(names)}")
            mask = self.mask(names)
            rest_text = f", mask={mask}" if mask else ""
            kinds = {"fp32": "float32", "i32": "int32", "fp16": "float16"}
            target = kinds[self.arguments[pointer][1:].split(":")[0]]
            self.emit(f"tl.atomic_add({pointer} + {offset}, {value}.to(tl.{target}){rest_text})")
            return
        self.store(names, value)
        if c.random() < 0.15:
            self.store(names, value)

    def add(self, a: str, b: str) -> str:
        value = self.fresh("v")
        self.emit(f"{value} = {a}.to(tl.float32) + {b}.to(tl.float32)")
        return value

    def store(self, names: list[str], value: str) -> None:
        if not names:
            self.emit(f"tl.store({self.pointer('fp32')} + tl.program_id(0), {value})")
            return
        pointer, offset, mask = self.access(names)
        rest = f", mask={mask}" if mask else ""
        # Only floats convert to fp8.
        value += ".to(tl.float32)" if self.arguments[pointer].startswith("*fp8") else ""
        self.emit(f"tl.store({pointer} + {offset}, {value}.to({pointer}.dtype.element_ty){rest})")

    def loop(self, names: list[str]) -> None:
        c = self.chance
        pointer, offset, mask = self.access(names)
        walk = self.fresh("w")
        zero = "0.0" if self.arguments[pointer].startswith("*fp8") else "0"
        rest = f", mask={mask}, other={zero}" if mask else ""
        trips = self.integer([64, 100])
        total = self.fresh("v")
        if c.random() < 0.5:
            self.emit(f"{walk} = {pointer} + {offset}")
            self.emit(f"{total} = tl.load({walk}{rest}).to(tl.float32)")
            self.emit(f"for k in range({trips}):")
            self.emit(f"{walk} += {self.stride()}", 2)
            self.emit(f"{total} += tl.load({walk}{rest}).to(tl.float32)", 2)
        else:
            self.emit(f"{total} = tl.load({pointer} + {offset}{rest}).to(tl.float32)")
            self.emit(f"for k in range(0, {trips}, {c.choice(['1', '16', '8', '64'])}):")
            self.emit(
                f"{total} += tl.load({pointer} + {offset} + k * {self.stride()}{rest}).to(tl.float32)", 2
            )
        self.store(names, total)

    def reshaped(self, extents: list[int]) -> None:
        size = 1
        for e in extents:
            size *= e
        flat = self.fresh("f")
        self.emit(f"{flat} = tl.program_id(0) * {size} + tl.arange(0, {size})")
        offset = self.fresh("o")
        self.emit(f"{offset} = tl.reshape({flat}, ({', '.join(map(str, extents))}))")
        a, b = self.pointer("fp32"), self.pointer("fp32")
        stride = self.chance.choice(["1", "2", self.integer([1, 64])])
        self.emit(f"tl.store({b} + {offset}, tl.load({a} + {offset} * {stride}))")

    def kernel(self) -> Generated:
        self.body()
        options = {"do_not_specialize": self.unspecialized, "do_not_specialize_on_alignment": self.unaligned}
        inner = ", ".join(f"{k}={v!r}" for k, v in options.items() if v)
        head = f"@triton.jit({inner})" if inner else "@triton.jit"
        parameters = ", ".join(f"{p}: {self.types[p]}" if p in self.types else p for p in self.parameters)
        text = "\n".join([head, f"def {self.name}({parameters}):", *self.lines, ""])
        warps = self.chance.choice([4, 4, 4, 8, 2, 1])
        return Generated(self.name, text, self.arguments, warps, self.chance.choice([80, 90]), self.features)


def generate(count: int, seed: int) -> list[Generated]:
    """``count`` kernels, the same ones for the same seed."""
    chance = random.Random(seed)
    return [Maker(chance, f"kernel_{k}").kernel() for k in range(count)]


def source(kernels: list[Generated]) -> str:
    return HEADER + "\n\n" + "\n\n".join(k.text for k in kernels)
