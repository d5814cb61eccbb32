"""Settings from ``[tool.coalesce-lint]`` of the nearest ``pyproject.toml``, and which rules they turn on."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from coalesce_lint.findings import Rule

TABLE = "coalesce-lint"

#: The keys of the table with their types; every one is a list of strings.
KEYS = {
    "select": "rules to turn on instead of the default set",
    "extend-select": "rules to turn on besides the default set",
    "ignore": "rules to turn off",
    "exclude": "files and folders to leave out, as patterns of .gitignore",
}


class SettingsError(ValueError):
    """A settings file or option that cannot be used. ``str()`` of it is one line."""


@dataclass
class Selection:
    """A layer of rule selection. An entry is a code or the beginning of one; ``select`` None: not said."""

    select: list[str] | None = None
    extend_select: list[str] = field(default_factory=list)
    ignore: list[str] = field(default_factory=list)


@dataclass
class Settings:
    """What holds for a run: the layers of selection, the later over the earlier, and the excludes."""

    layers: list[Selection] = field(default_factory=list)
    exclude: list[str] = field(default_factory=list)
    root: Path | None = None  #: the folder that ``exclude`` is relative to
    source: Path | None = None  #: the file that the settings were read from

    def active(self, rules: Iterable[Rule]) -> list[Rule]:
        """The rules to run. Raises SettingsError for an entry that no rule's code begins with."""
        rules = list(rules)
        codes = {r.code for r in rules}
        on = {r.code for r in rules if r.default}
        always = {r.code for r in rules if r.always}
        for layer in self.layers:
            for entry in [*(layer.select or []), *layer.extend_select, *layer.ignore]:
                if not entry or not any(c.startswith(entry) for c in codes):
                    raise SettingsError(f"no rule has a code that begins with '{entry}'")
            on = _apply(layer, on, codes, always)
        return [r for r in rules if r.code in on]


def _apply(layer: Selection, on: set[str], codes: set[str], always: set[str]) -> set[str]:
    """The codes that are on after ``layer``. The longer of two entries wins, then ``ignore``."""
    start = on if layer.select is None else always
    chosen = [*(layer.select or []), *layer.extend_select]
    result = set()
    for code in codes:
        said = _longest(code, chosen)
        unsaid = _longest(code, layer.ignore)
        if said > unsaid or (code in start and not unsaid):
            result.add(code)
    return result


def _longest(code: str, entries: Sequence[str]) -> int:
    return max((len(e) for e in entries if code.startswith(e)), default=0)


def split_codes(texts: Iterable[str]) -> list[str]:
    """The codes of repeated options that may each hold a list with commas, in capitals."""
    return [code.strip().upper() for text in texts for code in text.split(",") if code.strip()]


def load(path: Path) -> Settings:
    """The settings in the TOML file ``path``, or the defaults where it has no table of ours."""
    table = _table(path)
    if table is None:
        return Settings()
    for key, value in table.items():
        if key not in KEYS:
            known = ", ".join(KEYS)
            raise SettingsError(f"{path}: unknown setting '{key}' in [tool.{TABLE}]; known are {known}")
        if not isinstance(value, list) or not all(isinstance(v, str) for v in value):
            raise SettingsError(f"{path}: '{key}' in [tool.{TABLE}] must be a list of strings")
    select = table.get("select")
    layer = Selection(
        select=None if select is None else split_codes(select),
        extend_select=split_codes(table.get("extend-select", [])),
        ignore=split_codes(table.get("ignore", [])),
    )
    return Settings(layers=[layer], exclude=table.get("exclude", []), root=path.parent.resolve(), source=path)


def _table(path: Path) -> dict[str, Any] | None:
    if sys.version_info >= (3, 11):
        import tomllib
    else:
        import tomli as tomllib
    try:
        document = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise SettingsError(f"{path}: {error.strerror or error}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise SettingsError(f"{path}: not valid TOML: {error}") from None
    tool = document.get("tool")
    table = tool.get(TABLE) if isinstance(tool, dict) else None
    if table is not None and not isinstance(table, dict):
        raise SettingsError(f"{path}: [tool.{TABLE}] must be a table")
    return table


def find(paths: Sequence[str]) -> Settings:
    """The settings for ``paths``: of the nearest pyproject.toml with a table of ours above all of them."""
    folder = _common_folder(paths)
    for parent in [folder, *folder.parents]:
        candidate = parent / "pyproject.toml"
        if candidate.is_file():
            text = candidate.read_bytes()
            if TABLE.encode() in text and _table(candidate) is not None:
                return load(candidate)
    return Settings()


def _common_folder(paths: Sequence[str]) -> Path:
    folders = []
    for text in paths:
        path = Path.cwd() if text == "-" else Path(os.path.abspath(text))
        folders.append(path if path.is_dir() else path.parent)
    if not folders:
        return Path.cwd()
    common = folders[0]
    while not all(common == f or common in f.parents for f in folders):
        common = common.parent
    return common
