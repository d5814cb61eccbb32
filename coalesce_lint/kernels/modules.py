"""Finds ``@triton.jit`` functions that a kernel calls and another file defines, by reading that file."""

from __future__ import annotations

import functools
import os
from collections.abc import Sequence
from pathlib import Path

from coalesce_lint import consulted
from coalesce_lint.kernels.source import Function, Module, read_module

_MAX_HOPS = 4
#: A file of helpers is read once for all that import them, as long as so many others are not in between.
_helper = functools.lru_cache(maxsize=128)(read_module)


class Resolver:
    """Looks up imported names in the source tree around the importing file.

    ``roots`` are folders in which absolute imports are looked up beside the importing file's own ancestors.
    """

    def __init__(self, roots: Sequence[Path] = ()) -> None:
        self.roots = [Path(r) for r in roots]
        self._modules: dict[str, Module | None] = {}
        self._found: dict[tuple[str, str], Function | None] = {}

    def function(self, module: Module, dotted: str) -> Function | None:
        """The function that ``dotted`` (as written in an import of ``module``) names, or None."""
        key = (module.path, dotted)
        if key not in self._found:
            self._found[key] = None
            self._found[key] = self._search(module, dotted, _MAX_HOPS)
        return self._found[key]

    def _search(self, module: Module, dotted: str, hops: int) -> Function | None:
        if hops == 0 or not module.path or dotted.startswith(("triton.", "torch.", "numpy.")):
            return None
        where, _, name = dotted.rpartition(".")
        if not name:
            return None
        for file in self.files(module.path, where or "."):
            target = self._load(file)
            if target is None:
                continue
            if name in target.functions:
                return target.functions[name]
            if name in target.imports:
                found = self._search(target, target.imports[name], hops - 1)
                if found is not None:
                    return found
        return None

    def files(self, path: str, where: str) -> list[str]:
        """The files that a dotted module path may mean, seen from ``path``."""
        folder = os.path.dirname(os.path.abspath(path))
        level = len(where) - len(where.lstrip("."))
        rest = where.lstrip(".").replace(".", os.sep)
        if level:
            for _ in range(level - 1):
                folder = os.path.dirname(folder)
            bases = [folder]
        else:
            bases = [folder, *(str(r) for r in self.roots)]
            up = folder
            for _ in range(8):
                parent = os.path.dirname(up)
                if parent == up:
                    break
                up = parent
                bases.append(up)
                if consulted.exists(os.path.join(up, ".git")):
                    break
        out = []
        for base in bases:
            stem = os.path.join(base, rest) if rest else base
            for candidate in (stem + ".py", os.path.join(stem, "__init__.py")):
                if candidate not in out and consulted.is_file(candidate):
                    out.append(candidate)
        return out

    def _load(self, file: str) -> Module | None:
        if file not in self._modules:
            self._modules[file] = None
            try:
                self._modules[file] = _helper(consulted.read_text(file), file)
            except (OSError, SyntaxError, ValueError, RecursionError, MemoryError):
                return None
        return self._modules[file]
