"""All launches of a run, by kernel: built once, before the kernels are read."""

from __future__ import annotations

import functools
import gc
import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from coalesce_lint import consulted, pool
from coalesce_lint.failures import debugging, describe
from coalesce_lint.launches.callers import Callers
from coalesce_lint.launches.candidates import LAUNCH
from coalesce_lint.launches.host import launches_of
from coalesce_lint.launches.modules import HostModule, HostTree
from coalesce_lint.launches.records import Launch

#: More launches of one kernel than these are not kept: they would say the same.
MOST_LAUNCHES = 64
#: Host files from which on worker processes pay. They are forked, since they need all syntax trees.
PARALLEL_FROM = 40 if sys.platform == "linux" else sys.maxsize


@dataclass
class LaunchIndex:
    """The launches that were found, by the path of the kernel's file (absolute) and the kernel's name."""

    launches: dict[tuple[str, str], list[Launch]] = field(default_factory=dict)
    #: Host files whose launches are not all known because the reading of them failed, and how.
    failures: dict[str, str] = field(default_factory=dict)

    def of(self, path: str, kernel: str) -> list[Launch]:
        return self.launches.get((os.path.abspath(path), kernel), [])

    def of_file(self, path: str) -> Mapping[str, list[Launch]]:
        """The launches of the kernels of one file, by kernel."""
        key = os.path.abspath(path)
        return {name: found for (file, name), found in self.launches.items() if file == key}


def build(
    texts: Sequence[tuple[str, str]], roots: Sequence[Path], innermost: bool, jobs: int = 1
) -> LaunchIndex:
    """The index of the launches in ``texts`` (path, source text), read by up to ``jobs`` processes. Never
    raises on what they hold.
    """
    # syntax trees are many objects without cycles; the collector would walk all of them over and over
    collecting = gc.isenabled()
    gc.disable()
    tree = HostTree(roots)
    try:
        return _build(texts, tree, innermost, jobs)
    finally:
        tree.forget_functions()
        if collecting:
            gc.enable()


@dataclass
class _Found:
    """What one host file launches: path and name of each kernel, the launch."""

    launches: list[tuple[str, str, Launch]] = field(default_factory=list)
    consulted: dict[str, str] = field(default_factory=dict)  #: as ``consulted.recording`` gives it
    failure: str = ""


def _build(texts: Sequence[tuple[str, str]], tree: HostTree, innermost: bool, jobs: int) -> LaunchIndex:
    index = LaunchIndex()
    modules = [m for path, text in texts if LAUNCH.search(text) and (m := tree.add(path, text)) is not None]
    read = functools.partial(_read, modules, tree, Callers(tree, modules, innermost))
    if jobs > 1 and len(modules) >= PARALLEL_FROM:
        answers = pool.run(
            read, range(len(modules)), jobs, size=lambda k: len(modules[k].text), lost="read for launches"
        )
    else:
        answers = [read(k) for k in range(len(modules))]
    for module, answer in zip(modules, answers, strict=True):
        path = os.path.abspath(module.path)
        for key, node in module.kernels.items():
            if key != node.name:  # inside a function: without an entry, launches of its namesakes would count
                index.launches.setdefault((path, key), [])
        told = answer if isinstance(answer, _Found) else _Found(failure=answer)
        consulted.add(told.consulted)
        if told.failure:
            index.failures[module.path] = told.failure
        for file, name, launch in told.launches:
            found = index.launches.setdefault((os.path.abspath(file), name), [])
            if len(found) < MOST_LAUNCHES and launch.place not in [x.place for x in found]:
                found.append(launch)
    return index


def _read(modules: Sequence[HostModule], tree: HostTree, callers: Callers, k: int) -> _Found:
    """The launches in the k-th module; what goes wrong is told in ``failure``."""
    found = _Found()
    with consulted.recording() as found.consulted:
        try:
            found.launches.extend(launches_of(modules[k], tree, callers))
        except RecursionError:
            pass  # an expression nested too deeply: the launches after it stay unknown
        except Exception as error:
            if debugging():
                raise
            found.failure = f"internal error: {describe(error)}; the launches in the file are not all known"
    return found
