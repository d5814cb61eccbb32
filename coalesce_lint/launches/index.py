"""All launches of a run, by kernel: built once, before the kernels are read."""

from __future__ import annotations

import gc
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from coalesce_lint.launches.callers import Callers
from coalesce_lint.launches.candidates import LAUNCH
from coalesce_lint.launches.host import launches_of
from coalesce_lint.launches.modules import HostTree
from coalesce_lint.launches.records import Launch

#: More launches of one kernel than these are not kept: they would say the same.
MOST_LAUNCHES = 64


@dataclass
class LaunchIndex:
    """The launches that were found, by the path of the kernel's file (absolute) and the kernel's name."""

    launches: dict[tuple[str, str], list[Launch]] = field(default_factory=dict)

    def of(self, path: str, kernel: str) -> list[Launch]:
        return self.launches.get((os.path.abspath(path), kernel), [])

    def of_file(self, path: str) -> Mapping[str, list[Launch]]:
        """The launches of the kernels of one file, by kernel."""
        key = os.path.abspath(path)
        return {name: found for (file, name), found in self.launches.items() if file == key}


def build(texts: Sequence[tuple[str, str]], roots: Sequence[Path], innermost: bool) -> LaunchIndex:
    """The index of the launches in ``texts`` (path, source text). Never raises on what they hold."""
    # syntax trees are many objects without cycles; the collector would walk all of them over and over
    collecting = gc.isenabled()
    gc.disable()
    tree = HostTree(roots)
    try:
        return _build(texts, tree, innermost)
    finally:
        tree.forget_functions()
        if collecting:
            gc.enable()


def _build(texts: Sequence[tuple[str, str]], tree: HostTree, innermost: bool) -> LaunchIndex:
    index = LaunchIndex()
    modules = [m for path, text in texts if LAUNCH.search(text) and (m := tree.add(path, text)) is not None]
    callers = Callers(tree, modules, innermost)
    for module in modules:
        path = os.path.abspath(module.path)
        for key, node in module.kernels.items():
            if key != node.name:  # inside a function: without an entry, launches of its namesakes would count
                index.launches.setdefault((path, key), [])
        try:
            for path, name, launch in launches_of(module, tree, callers):
                found = index.launches.setdefault((os.path.abspath(path), name), [])
                if len(found) < MOST_LAUNCHES and launch.place not in [x.place for x in found]:
                    found.append(launch)
        except RecursionError:
            continue  # an expression nested too deeply: its launches stay unknown
    return index
