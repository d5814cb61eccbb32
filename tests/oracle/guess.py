"""Arguments for kernels that nobody says how to launch: guesses from names, annotations and use.

A guess can be wrong (two block sizes that do not fit each other); so several are made, and the kernel is run
with the ones that work.
"""

from __future__ import annotations

import ast
import random
import re
from collections.abc import Iterator
from typing import Any

from .dtypes import BY_NAME
from .execute import DescriptorArg, PointerArg
from .modules import JitFunction, Module

MEMORY_CALLS = (
    "load",
    "store",
    "make_block_ptr",
    "make_tensor_descriptor",
    "_experimental_make_tensor_descriptor",
)
STRIDES = (67, 71, 83, 97, 101, 113, 131, 149, 163, 179, 191, 211)
SIZES = (16, 37, 64, 96, 128)
SMALL_SIZES = (1, 2, 3, 5, 7, 12, 33)
FLAG = re.compile(
    r"^(IS|HAS|USE|ENABLE|WITH|DO|NEED|STORE|SAVE|APPLY|ALLOW|OUTPUT|RETURN|REVERSE|CAUSAL|EVEN|"
    r"INPLACE|FUSE|ADD|TRANS|NORM|SKIP)(_|$)|_(FLAG|ENABLED|CAUSAL|BIAS)$|CAUSAL|VARLEN|^is_|^has_|^use_"
)
BLOCK = re.compile(r"BLOCK|TILE|CHUNK|^B[A-Z]{1,2}$|^X?BLOCK|_SIZE$|^[XYRZ]BLOCK$", re.IGNORECASE)
SMALL = re.compile(r"GROUP|NUM_|STAGES|SPLIT|WARPS|^G$|PACK|num_|^N_", re.IGNORECASE)
TYPE = re.compile(r"dtype|_type$|^ty_|TYPE$", re.IGNORECASE)
REAL = re.compile(
    r"eps|scale$|^scale|alpha|beta|lr$|^lr|momentum|dropout|_p$|^p$|temperature|decay|slope|factor"
)


def pointers_of(node: ast.FunctionDef, functions: dict[str, ast.FunctionDef], depth: int = 0) -> set[str]:
    """The parameters that are dereferenced, directly, through names, or by helpers of the same file."""
    leading: set[str] = set()
    for call in ast.walk(node):
        if not isinstance(call, ast.Call):
            continue
        name = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
        first = (
            call.args[0]
            if call.args
            else next((k.value for k in call.keywords if k.arg in ("pointer", "base")), None)
        )
        if (name in MEMORY_CALLS or name.startswith("atomic_")) and first is not None:
            leading |= _leading(first)
        helper = functions.get(name)
        if helper is not None and helper is not node and depth < 4:
            wanted = pointers_of(helper, functions, depth + 1)
            names = [a.arg for a in helper.args.args]
            given = {
                **dict(zip(names, call.args, strict=False)),
                **{k.arg: k.value for k in call.keywords if k.arg},
            }
            for parameter, value in given.items():
                if parameter in wanted:
                    leading |= _leading(value)
    for _ in range(4):
        for statement in ast.walk(node):
            if isinstance(statement, ast.Assign):
                for target in statement.targets:
                    if isinstance(target, ast.Name) and target.id in leading:
                        leading |= _leading(statement.value)
    return leading & {a.arg for a in node.args.args}


def _leading(node: ast.expr) -> set[str]:
    """The names that may be the pointer of an address expression: the operands of its additions."""
    if isinstance(node, ast.Name):
        return {node.id}
    if isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Add, ast.Sub)):
        return _leading(node.left) or _leading(node.right)
    if isinstance(node, ast.IfExp):
        return _leading(node.body) | _leading(node.orelse)
    if isinstance(node, ast.Subscript):
        return _leading(node.value)
    if isinstance(node, ast.Call):
        inside = [node.func.value] if isinstance(node.func, ast.Attribute) else []
        return set().union(*(_leading(n) for n in [*inside, *node.args[:1]]), set()) - {"tl", "triton"}
    return set()


def descriptors_of(node: ast.FunctionDef) -> dict[str, int]:
    """Parameters used as tensor descriptors, ``p.load([a, b])``, with their rank."""
    names = {a.arg for a in node.args.args}
    found = {}
    for call in ast.walk(node):
        function = call.func if isinstance(call, ast.Call) else None
        if isinstance(function, ast.Attribute) and isinstance(function.value, ast.Name):
            offsets = call.args[0] if call.args else None
            if (
                function.attr in ("load", "store")
                and function.value.id in names
                and isinstance(offsets, (ast.List, ast.Tuple))
            ):
                found[function.value.id] = len(offsets.elts)
    return found


def texts_of(node: ast.FunctionDef) -> dict[str, list[str]]:
    """The strings that a name is compared with."""
    found: dict[str, list[str]] = {}
    for n in ast.walk(node):
        if isinstance(n, ast.Compare) and isinstance(n.left, ast.Name):
            for other in ast.walk(n.comparators[0]):
                if isinstance(other, ast.Constant) and isinstance(other.value, str):
                    found.setdefault(n.left.id, []).append(other.value)
    return found


def types_of(node: ast.FunctionDef) -> set[str]:
    """Names used as element types: ``x.to(T)``, ``dtype=T``."""
    found = set()
    for n in ast.walk(node):
        if isinstance(n, ast.Call):
            places = [k.value for k in n.keywords if k.arg in ("dtype", "out_dtype")]
            if isinstance(n.func, ast.Attribute) and n.func.attr in ("to", "cast", "zeros", "full"):
                places += n.args
            found |= {p.id for p in places if isinstance(p, ast.Name)}
    return found


class Guesser:
    """Guesses for one kernel. ``arguments`` yields bindings, the plainest first."""

    def __init__(self, kernel: JitFunction, text: str) -> None:
        tree = ast.parse(text)
        functions = {n.name: n for n in ast.walk(tree) if isinstance(n, ast.FunctionDef)}
        self.kernel = kernel
        self.node = functions[kernel.name]
        self.pointers = pointers_of(self.node, functions)
        self.pointers |= {
            n for n in kernel.parameters if re.search(r"(ptrs?|pointer)$", n) and n not in kernel.constexprs
        }
        self.descriptors = descriptors_of(self.node)
        self.texts = texts_of(self.node)
        self.types = types_of(self.node)
        positional = [*self.node.args.posonlyargs, *self.node.args.args]
        values = self.node.args.defaults
        self.defaults = (
            dict(zip([a.arg for a in positional][len(positional) - len(values) :], values, strict=True))
            if values
            else {}
        )
        tables = re.compile(
            r"table|index|indices|idx|ids|seqlens|offsets?_|_map|slot|lens|start|loc", re.IGNORECASE
        )
        self.integers = {n for n in self.pointers if tables.search(n)}

    def arguments(self, tries: int, seed: int) -> Iterator[dict[str, Any]]:
        rng = random.Random(seed)
        for attempt in range(tries):
            block = rng.choice((16, 32)) if attempt else 16
            mixed = attempt % 4 == 3
            yield {name: self._value(name, attempt, rng, block, mixed) for name in self.kernel.parameters}

    def _value(self, name: str, attempt: int, rng: random.Random, block: int, mixed: bool) -> Any:
        if name in self.descriptors:
            rank = self.descriptors[name]
            return DescriptorArg(
                (256,) * rank, tuple(256 ** (rank - 1 - k) for k in range(rank)), (block,) * rank
            )
        if name in self.kernel.constexprs:
            return self._constexpr(name, attempt, rng, rng.choice((16, 32)) if mixed else block)
        if name in self.pointers:
            optional = attempt >= 2 and rng.random() < 0.3
            return (
                None
                if optional and self._tested(name)
                else PointerArg("int32" if name in self.integers else "float32")
            )
        if "stride" in name.lower():
            return 1 if attempt % 3 == 2 and rng.random() < 0.5 else rng.choice(STRIDES)
        if REAL.search(name) and "stride" not in name:
            return 0.5
        return rng.choice(SMALL_SIZES if attempt % 2 and rng.random() < 0.6 else SIZES)

    def _tested(self, name: str) -> bool:
        """Whether the kernel asks if this parameter is None."""
        return any(
            isinstance(n, ast.Compare)
            and isinstance(n.left, ast.Name)
            and n.left.id == name
            and isinstance(n.ops[0], (ast.Is, ast.IsNot))
            for n in ast.walk(self.node)
        )

    def _constexpr(self, name: str, attempt: int, rng: random.Random, block: int) -> Any:
        default = self.defaults.get(name)
        if default is not None and attempt % 2 == 0:
            try:
                return ast.literal_eval(default)
            except ValueError:
                pass
        if TYPE.search(name) and (name in self.types or attempt % 4 < 3):
            return BY_NAME["float32"]
        if FLAG.search(name):
            return rng.random() < 0.5
        if name in self.texts:
            return rng.choice(self.texts[name])
        if BLOCK.search(name) and not SMALL.search(name):
            return block
        if "stride" in name.lower():
            return 1 if attempt % 3 == 2 and rng.random() < 0.5 else rng.choice(STRIDES)
        if SMALL.search(name):
            return rng.choice((2, 4, 8))
        # A dimension, or a flag by another name.
        return rng.choice((block, block, 2 * block, 64, *((True, False) if attempt > 3 else ())))


def guesses(module: Module, kernel: str, text: str, tries: int, seed: int) -> Iterator[dict[str, Any]]:
    return Guesser(module.functions[kernel], text).arguments(tries, seed)
