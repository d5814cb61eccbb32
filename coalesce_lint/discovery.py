"""Finds rules: those of ``coalesce_lint.rules``, and those that installed packages offer.

A package offers rules by entry points of the group ``coalesce_lint.rules``, each of them a class or a module
with classes that derive from ``findings.Rule``. What is wrong with one is told and costs nothing else.
"""

from __future__ import annotations

import importlib
import pkgutil
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from types import ModuleType
from typing import Any

from coalesce_lint.failures import debugging, describe
from coalesce_lint.findings import Rule

GROUP = "coalesce_lint.rules"
_CODE = re.compile(r"[A-Z]+[0-9]+")


@dataclass(frozen=True)
class Discovered:
    """All rules by code, and those that were left out: which and why, each on one line."""

    rules: tuple[Rule, ...]
    problems: tuple[tuple[str, str], ...]
    origins: dict[str, EntryPoint]  #: where the rules of other packages come from, by code


@cache
def discovered() -> Discovered:
    """Everything that is installed. Raises ValueError where two of our own rules share a code."""
    import coalesce_lint.rules as package

    found: dict[str, Rule] = {}
    for info in pkgutil.iter_modules(package.__path__):
        for cls in _classes(importlib.import_module(f"{package.__name__}.{info.name}")):
            if cls.code in found and type(found[cls.code]) is not cls:
                raise ValueError(f"two rules have the code {cls.code}")
            found[cls.code] = cls()
    problems: list[tuple[str, str]] = []
    origins: dict[str, EntryPoint] = {}
    for point in sorted(entry_points(group=GROUP), key=lambda p: (_package(p), p.name, p.value)):
        try:
            for rule in _offered(point):
                if type(found.get(rule.code)) is type(rule):
                    continue  # offered twice, by its module and by itself
                if rule.code in found:
                    owner = _package(origins[rule.code]) if rule.code in origins else "coalesce-lint"
                    raise ValueError(f"the code {rule.code} is taken by a rule of {owner}")
                found[rule.code], origins[rule.code] = rule, point
        except Exception as error:
            if debugging():
                raise
            why = str(error) if type(error) is ValueError else describe(error)
            problems.append((f"rule '{point.name}' of {_package(point)}", f"left out: {why}"))
    return Discovered(tuple(found[c] for c in sorted(found)), tuple(problems), origins)


def _offered(point: EntryPoint) -> Iterator[Rule]:
    """The rules of one entry point. Raises ValueError for unusable ones, and whatever their code raises."""
    loaded = point.load()
    classes = list(_classes(loaded)) if isinstance(loaded, ModuleType) else [loaded]
    if not classes:
        raise ValueError(f"the module {point.value} has no class that derives from Rule")
    for cls in classes:
        if not (isinstance(cls, type) and issubclass(cls, Rule)):
            raise ValueError(f"{point.value} does not derive from coalesce_lint.findings.Rule")
        for name in ("code", "name", "summary"):
            if not isinstance(getattr(cls, name, None), str):
                raise ValueError(f"{cls.__name__} has no {name}")
        if not _CODE.fullmatch(cls.code):
            raise ValueError(f"the code {cls.code!r} is not capital letters with a number behind them")
        if cls.severity not in ("error", "warning", "info"):
            raise ValueError(f"the severity {cls.severity!r} is none of error, warning, info")
        yield cls()


def _classes(module: Any) -> Iterator[type[Rule]]:
    """The rules that ``module`` defines or imports, without bases that have no code of their own."""
    for cls in vars(module).values():
        if isinstance(cls, type) and issubclass(cls, Rule) and cls is not Rule and "code" in vars(cls):
            yield cls


def _package(point: EntryPoint) -> str:
    return point.dist.name if point.dist is not None else "an installed package"


def origin(code: str) -> str | None:
    """The package that offers the rule ``code``; None for our own."""
    point = discovered().origins.get(code)
    return None if point is None else _package(point)


def sources() -> list[list[str]]:
    """What the rules of other packages are made of, for the result cache: versions and all their sources."""
    import os

    from coalesce_lint import consulted

    told = []
    for code, point in sorted(discovered().origins.items()):
        version = point.dist.version if point.dist is not None else ""
        told.append([code, _package(point), version])
        top = importlib.import_module(point.module.partition(".")[0])
        files = [f for f in (top.__file__,) if f]
        for folder in getattr(top, "__path__", ()):
            for where, _, names in os.walk(folder):
                files += [os.path.join(where, n) for n in names if n.endswith(".py")]
        for path in sorted(set(files)):
            with open(path, "rb") as file:
                told.append([path, consulted.digest(file.read())])
    return told
