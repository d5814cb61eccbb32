"""Draws real kernels from folders of repositories and makes them stand alone, with a guessed launch each.

A kernel's file cannot be imported where the packages around it are not installed. So a kernel is written anew
with the jit functions, constants and imports of Triton that it needs, followed through the repository's own
modules. Launches are guessed from names: pointers, sizes, strides (the last of a tensor is 1), block sizes.
"""

from __future__ import annotations

import ast
import builtins
import random
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

from oracle.guess import BLOCK, FLAG, REAL, SMALL, TYPE, descriptors_of, pointers_of, texts_of, types_of

HEADER = "import math\nimport triton\nimport triton.language as tl\n"
#: Modules that a stand-alone kernel may import.
KNOWN = re.compile(r"^(triton|torch|math|numpy|typing|functools|enum)\b")
TABLE = re.compile(r"table|index|indices|idx|ids|seqlens|offsets?_|_map|slot|lens|loc\b|block_tables", re.I)


@dataclass
class Real:
    """A kernel that stands alone: where it came from, its name, its text, and its function."""

    origin: str
    name: str
    text: str
    node: ast.FunctionDef
    functions: dict[str, ast.FunctionDef] = field(default_factory=dict)


def is_jit(node: ast.stmt) -> bool:
    return isinstance(node, ast.FunctionDef) and any(
        re.search(r"\bjit\b", ast.unparse(d)) and "gluon" not in ast.unparse(d) for d in node.decorator_list
    )


class Repository:
    """Modules of one repository, parsed when they are asked for."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.files = sorted(
            p
            for p in root.rglob("*.py")
            if re.search(rb"\bjit\b", p.read_bytes()) and p.stat().st_size < 400_000
        )
        self.parsed: dict[Path, ast.Module | None] = {}

    def module(self, path: Path) -> ast.Module | None:
        if path not in self.parsed:
            try:
                self.parsed[path] = ast.parse(path.read_text())
            except (SyntaxError, ValueError, OSError, RecursionError):
                self.parsed[path] = None
        return self.parsed[path]

    def imported(self, path: Path, node: ast.ImportFrom) -> Path | None:
        """The file that a ``from ... import`` names, where it lies in this repository."""
        parts = (node.module or "").split(".") if node.module else []
        if node.level:
            folder = path.parent
            for _ in range(node.level - 1):
                folder = folder.parent
            places = [folder.joinpath(*parts)]
        else:
            places = [
                base.joinpath(*parts)
                for base in (path.parent, *path.parents)
                if self.root in (base, *base.parents)
            ]
        for place in places:
            for file in (place.with_suffix(".py"), place / "__init__.py"):
                if parts and file.exists():
                    return file
        return None


class Writer:
    """Collects what one kernel needs."""

    def __init__(self, repository: Repository) -> None:
        self.repository = repository
        self.imports: list[str] = []
        self.parts: list[tuple[int, str]] = []
        self.functions: dict[str, ast.FunctionDef] = {}
        self.seen: set[tuple[Path, str]] = set()

    def need(self, path: Path, name: str, depth: int = 0) -> None:
        """Adds what ``name`` is bound to at the top of a module, and what that needs."""
        tree = self.repository.module(path)
        if tree is None or (path, name) in self.seen or depth > 12:
            return
        self.seen.add((path, name))
        for node in flattened(tree.body):
            if isinstance(node, ast.FunctionDef) and node.name == name and is_jit(node):
                for used in names_in(node):
                    self.need(path, used, depth + 1)
                self.functions[name] = node
                self.parts.append((1, function_text(node)))
                return
            if isinstance(node, (ast.Assign, ast.AnnAssign)) and name in targets(node):
                for used in names_in(node):
                    self.need(path, used, depth + 1)
                self.parts.append((0, f"try:\n    {ast.unparse(node)}\nexcept Exception:\n    pass\n"))
            elif isinstance(node, ast.Import):
                for alias in node.names:
                    if name == (alias.asname or alias.name.split(".")[0]) and KNOWN.match(alias.name):
                        self.imports.append(guarded(ast.unparse(ast.Import([alias]))))
            elif isinstance(node, ast.ImportFrom):
                self._from(path, node, name, depth)

    def _from(self, path: Path, node: ast.ImportFrom, name: str, depth: int) -> None:
        for alias in node.names:
            if name != (alias.asname or alias.name):
                continue
            if not node.level and KNOWN.match(node.module or ""):
                self.imports.append(guarded(ast.unparse(ast.ImportFrom(node.module, [alias], 0))))
            elif (file := self.repository.imported(path, node)) is not None:
                self.need(file, alias.name, depth + 1)
                if name != alias.name:
                    self.parts.append((2, f"try:\n    {name} = {alias.name}\nexcept Exception:\n    pass\n"))
            elif alias.name in ("triton", "tl"):
                self.imports.append("")

    def text(self) -> str:
        return "\n".join([HEADER, *dict.fromkeys(self.imports), *dict.fromkeys(p for _, p in self.parts)])


def guarded(statement: str) -> str:
    return f"try:\n    {statement}\nexcept ImportError:\n    pass"


def flattened(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    """Top-level statements, those in ``if`` and ``try`` too."""
    for node in body:
        if isinstance(node, (ast.If, ast.Try)):
            yield from flattened(node.body)
            yield from flattened(node.orelse)
            for handler in getattr(node, "handlers", []):
                yield from flattened(handler.body)
        else:
            yield node


def targets(node: ast.Assign | ast.AnnAssign) -> set[str]:
    places = node.targets if isinstance(node, ast.Assign) else [node.target]
    return {n.id for p in places for n in ast.walk(p) if isinstance(n, ast.Name)}


def names_in(node: ast.AST) -> set[str]:
    found = {n.id for n in ast.walk(node) if isinstance(n, ast.Name)}
    return found - set(dir(builtins)) - {"triton", "tl"}


def function_text(node: ast.FunctionDef) -> str:
    """The function with its jit decorator only."""
    jit = [d for d in node.decorator_list if re.search(r"\bjit\b", ast.unparse(d))]
    keep = jit[-1]
    if isinstance(keep, ast.Call):
        words = [k for k in keep.keywords if k.arg and k.arg.startswith("do_not_specialize")]
        inner = ", ".join(f"{k.arg}={ast.unparse(k.value)}" for k in words)
        head = f"@triton.jit({inner})"
    else:
        head = "@triton.jit"
    bare = ast.FunctionDef(**{**vars(node), "decorator_list": [], "body": without_text(node.body)})
    return f"\n{head}\n{ast.unparse(ast.fix_missing_locations(bare))}\n"


def without_text(body: list[ast.stmt]) -> list[ast.stmt]:
    first = body[0]
    documented = isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant)
    return body[1:] if documented and len(body) > 1 else body


def draw(corpus: Path, count: int, seed: int) -> list[Real]:
    """``count`` kernels; repositories take turns, then files by chance, one kernel a file at first."""
    chance = random.Random(seed)
    queues = []
    for root in sorted(p for p in corpus.iterdir() if p.is_dir()):
        repository = Repository(root)
        order = list(repository.files)
        chance.shuffle(order)
        if order:
            queues.append((repository, order))
    found: list[Real] = []
    while len(found) < count and queues:
        for repository, order in list(queues):
            real = None
            while order and real is None:
                real = one_of(repository, order.pop(), chance)
            if not order:
                queues.remove((repository, order))
            if real is not None:
                found.append(real)
    return found[:count]


def one_of(repository: Repository, path: Path, chance: random.Random) -> Real | None:
    """One kernel of a file that accesses memory and that no other function of the file calls."""
    tree = repository.module(path)
    if tree is None:
        return None
    jits = [n for n in flattened(tree.body) if is_jit(n)]
    called = {
        c.func.id
        for n in jits
        for c in ast.walk(n)
        if isinstance(c, ast.Call) and isinstance(c.func, ast.Name)
    }
    entries = [n for n in jits if n.name not in called and re.search(r"\btl\.(load|store)", ast.unparse(n))]
    if not entries:
        return None
    node = chance.choice(entries)
    writer = Writer(repository)
    writer.need(path, node.name)
    origin = f"{repository.root.name}/{path.relative_to(repository.root)}:{node.lineno}"
    return Real(origin, node.name, writer.text(), node, writer.functions)


def integers_of(node: ast.FunctionDef, pointers: set[str]) -> set[str]:
    """The pointers whose loads are used as integers: in addresses, loop bounds, shifts, divisions."""
    assigned: dict[str, list[ast.expr]] = {}
    uses: list[ast.expr] = []
    for n in ast.walk(node):
        if isinstance(n, (ast.Assign, ast.AugAssign, ast.AnnAssign)) and n.value is not None:
            for target in n.targets if isinstance(n, ast.Assign) else [n.target]:
                for name in ast.walk(target):
                    if isinstance(name, ast.Name):
                        assigned.setdefault(name.id, []).append(n.value)
        elif isinstance(n, ast.Call) and getattr(n.func, "attr", "") in ("load", "store", "atomic_add"):
            uses += n.args[:1]
        elif isinstance(n, ast.Call) and "range" in ast.unparse(n.func):
            uses += n.args
        elif isinstance(n, ast.BinOp) and isinstance(
            n.op, (ast.RShift, ast.LShift, ast.BitAnd, ast.FloorDiv, ast.Mod)
        ):
            uses += [n.left, n.right]
        elif isinstance(n, ast.keyword) and n.arg == "mask":
            uses.append(n.value)
    found: set[str] = set()
    seen: set[str] = set()

    def follow(expression: ast.expr) -> None:
        for n in ast.walk(expression):
            if isinstance(n, ast.Call) and getattr(n.func, "attr", "") == "load" and n is not expression:
                found.update(root_of(n.args[0]) if n.args else ())
            elif isinstance(n, ast.Call) and getattr(n.func, "attr", "") == "load" and n.args:
                found.update(root_of(n.args[0]))
            elif isinstance(n, ast.Name) and n.id not in seen:
                seen.add(n.id)
                for value in assigned.get(n.id, ()):
                    follow(value)

    def root_of(address: ast.expr) -> set[str]:
        names = [n.id for n in ast.walk(address) if isinstance(n, ast.Name)]
        direct = [n for n in names if n in pointers]
        return set(direct[:1]) or {
            p for n in names for v in assigned.get(n, ()) for p in root_names(v) if p in pointers
        }

    def root_names(value: ast.expr) -> list[str]:
        return [n.id for n in ast.walk(value) if isinstance(n, ast.Name)]

    for use in uses:
        follow(use)
    return found


# -- launches ----------------------------------------------------------------------------------------------


def launches(real: Real, tries: int, seed: int) -> Iterator[dict[str, Any]]:
    """Guessed arguments by name, the plainest first; a pointer is "*fp16"."""
    pointers = pointers_of(real.node, real.functions)
    arguments = [*real.node.args.posonlyargs, *real.node.args.args, *real.node.args.kwonlyargs]
    names = [a.arg for a in arguments]
    constexprs = {a.arg for a in arguments if a.annotation and "constexpr" in ast.unparse(a.annotation)}
    pointers |= {n for n in names if re.search(r"(ptrs?|pointer)\d*$", n, re.I)} - constexprs
    descriptors = descriptors_of(real.node)
    if descriptors:
        return
    integers = integers_of(real.node, pointers)
    texts, types = texts_of(real.node), types_of(real.node)
    defaults = real.node.args.defaults
    positional = [*real.node.args.posonlyargs, *real.node.args.args]
    known = dict(zip([a.arg for a in positional][len(positional) - len(defaults) :], defaults, strict=True))
    for attempt in range(tries):
        chance = random.Random(f"{seed} {real.origin} {attempt}")
        block = (32, 64, 16, 128, 64, 32)[attempt % 6] if real.name != "triton_" else 128
        kind = ("fp16", "fp32", "bf16", "fp32", "i32", "mixed")[attempt % 6]
        values: dict[str, Any] = {}
        for place, name in enumerate(names):
            following = names[place + 1] if place + 1 < len(names) else ""
            if name in pointers and name not in constexprs:
                element = chance.choice(("fp16", "fp32", "bf16")) if kind == "mixed" else kind
                integer = name in integers or (attempt < 3 and TABLE.search(name) is not None)
                values[name] = f"*{'i32' if integer else element}"
            elif "stride" in name.lower():
                last = "stride" not in following.lower() or stem(following) != stem(name)
                values[name] = 1 if last else chance.choice((1024, 4096, 128, 1000, 64))
            elif name in constexprs:
                values[name] = constexpr(name, known.get(name), attempt, chance, block, texts, types)
            elif REAL.search(name):
                values[name] = 0.5
            elif re.search(r"numel|n_elements|total", name):
                values[name] = 65536
            elif SMALL.search(name) or re.search(r"head|group|batch|^[HBG]$", name, re.I):
                values[name] = chance.choice((4, 8, 16))
            else:
                values[name] = chance.choice((1024, 512, 128, 1000, 1024))
        yield values


def stem(name: str) -> str:
    """What the strides of one tensor have in common: "stride_q" of ``stride_qm``, "x" of ``x_stride_0``."""
    low = name.lower()
    front, _, back = low.partition("stride")
    return front or "stride" + back[:2].strip("_")


def constexpr(
    name: str,
    default: ast.expr | None,
    attempt: int,
    chance: random.Random,
    block: int,
    texts: dict[str, list[str]],
    types: set[str],
) -> Any:
    if default is not None and attempt % 2 == 0:
        try:
            value = ast.literal_eval(default)
            if value is None or isinstance(value, (bool, int, float, str)):
                return value
        except ValueError:
            pass
    if name in types or TYPE.search(name):
        return chance.choice(("fp16", "fp32"))
    if FLAG.search(name):
        return chance.random() < (0.3 if attempt < 3 else 0.6)
    if name in texts:
        return chance.choice(texts[name])
    if BLOCK.search(name) and not SMALL.search(name):
        return block
    if SMALL.search(name):
        return chance.choice((2, 4, 8))
    return chance.choice((64, block, 128))
