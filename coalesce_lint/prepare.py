"""What a run of ``check`` does according to its settings: for the command line and for flake8."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from coalesce_lint import files, selection
from coalesce_lint.assume import Assumptions
from coalesce_lint.check_file import Work
from coalesce_lint.failures import debugging
from coalesce_lint.per_file import PerFileIgnores

if TYPE_CHECKING:
    from coalesce_lint.findings import Rule
    from coalesce_lint.result_cache import ResultCache
    from coalesce_lint.settings import Settings


def work(found: Settings, rules: Sequence[Rule], paths: Sequence[str]) -> Work:
    """What ``rules`` do with the files of ``paths`` under the settings ``found``."""
    table, root = found.per_file_ignores, found.root
    return Work(
        codes=tuple(r.code for r in rules),
        asked=frozenset(selection.asked(found.layers, (r.code for r in rules))),
        roots=tuple(files.roots(paths)),
        assumptions=Assumptions.of(found),
        per_file=PerFileIgnores(table, root) if table and root else None,
    )


def cache(found: Settings, todo: Work) -> Callable[[], ResultCache] | None:
    """Opens the results of earlier runs that did ``todo``; None while a fault is looked for."""
    if debugging():
        return None

    def opened() -> ResultCache:
        from coalesce_lint.discovery import sources
        from coalesce_lint.result_cache import ResultCache, folder_for

        return ResultCache(folder_for(found.root), todo, sources())

    return opened
