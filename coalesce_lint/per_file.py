"""``per-file-ignores``: rules that are off in the files that a pattern matches."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from coalesce_lint.files import Ignore, is_ignored


@dataclass
class PerFileIgnores:
    """``table`` has beginnings of codes by pattern of .gitignore, relative to ``root``."""

    table: Mapping[str, Sequence[str]]
    root: Path
    _known: dict[str, tuple[str, ...]] = field(default_factory=dict)

    def ignores(self, path: str, code: str) -> bool:
        """Whether the rule ``code`` is off in the file ``path``."""
        if path not in self._known:
            where = os.path.abspath(path)
            matching = [c for p, codes in self.table.items() if self._matches(p, where) for c in codes]
            self._known[path] = tuple(matching)
        return code.startswith(self._known[path])

    def _matches(self, pattern: str, where: str) -> bool:
        return is_ignored([Ignore.of(self.root, [pattern])], where, False)
