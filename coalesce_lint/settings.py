"""Settings from ``[tool.coalesce-lint]`` of the nearest ``pyproject.toml``: the keys and the record."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from coalesce_lint import selection
from coalesce_lint.selection import Selection, split_codes
from coalesce_lint.setting_kinds import (
    Choice,
    ElementTypes,
    Key,
    ListByPath,
    Number,
    PathText,
    Pattern,
    Strings,
)

if TYPE_CHECKING:
    from coalesce_lint.findings import Rule

TABLE = "coalesce-lint"

#: The element type of a pointer where neither the source, nor a launch, nor a setting says it.
USUAL_ELEMENT = "fp32"

#: Formats of findings, each a module of ``output``.
FORMATS = ("concise", "full", "json", "json-lines", "sarif", "github", "gitlab", "junit")

KEYS: dict[str, Key] = {
    "select": Key(Strings(), "rules to turn on instead of the default set, codes or beginnings of codes"),
    "extend-select": Key(Strings(), "rules to turn on besides the default set"),
    "ignore": Key(Strings(), "rules to turn off"),
    "per-file-ignores": Key(
        ListByPath(), "rules to turn off in the files that a pattern of .gitignore matches"
    ),
    "exclude": Key(Strings(), "files and folders to leave out, as patterns of .gitignore"),
    "assume-contiguous": Key(
        Choice("innermost", "none"),
        "what is taken for granted of a tensor of unknown layout: that its innermost stride is 1, or nothing",
    ),
    "triton": Key(Choice("3.6", "3.9"), "the Triton version whose layouts are meant"),
    "arch": Key(
        Pattern("sm_?[0-9]{2,3}a?", "an NVIDIA architecture such as 'sm90'"),
        "the GPU architecture that is meant",
    ),
    "element-types": Key(
        ElementTypes(),
        "element types of pointers by parameter name (with * and ?) where neither source nor launch says",
    ),
    "min-waste": Key(
        Number(1), "leave out strided accesses that fetch fewer than so many times the sectors they need"
    ),
    "baseline": Key(PathText(), "a file of known findings, relative to the settings file"),
    "output-format": Key(Choice(*FORMATS), "the format of findings"),
}


class SettingsError(ValueError):
    """A settings file or option that cannot be used. ``str()`` of it is one line."""


@dataclass
class Settings:
    """What holds for a run. ``None`` means not said; ``origins`` says for each key that is said, by what."""

    layers: list[Selection] = field(default_factory=list)  #: the later goes over the earlier
    per_file_ignores: dict[str, list[str]] = field(default_factory=dict)  #: pattern -> beginnings of codes
    exclude: list[str] = field(default_factory=list)
    assume_contiguous: str = "innermost"  #: or "none"
    triton: str | None = None  #: one of ``pins.PROFILES``
    arch: str | None = None  #: "sm90"
    element_types: dict[str, str] = field(default_factory=dict)  #: pattern of parameter names -> "fp16"
    min_waste: float = 1.0  #: sectors fetched over sectors needed
    baseline: Path | None = None
    output_format: str = "concise"
    root: Path | None = None  #: the folder that patterns of paths are relative to
    source: Path | None = None  #: the file that the settings were read from
    origins: dict[str, str] = field(default_factory=dict)

    def active(self, rules: Iterable[Rule]) -> list[Rule]:
        """The rules to run. Raises SettingsError for an entry that no rule's code begins with."""
        rules = list(rules)
        try:
            for entries in self.per_file_ignores.values():
                selection.require_known(entries, [r.code for r in rules])
            return selection.active(self.layers, rules)
        except selection.SelectionError as error:
            raise SettingsError(str(error)) from None

    def values(self) -> dict[str, Any]:
        """The value of each key of ``KEYS``, None where none is set."""
        layer = self.layers[0] if self.layers else Selection()
        special: dict[str, Any] = {
            "select": layer.select,
            "extend-select": layer.extend_select,
            "ignore": layer.ignore,
            "baseline": None if self.baseline is None else str(self.baseline),
        }
        return {k: special[k] if k in special else getattr(self, k.replace("-", "_")) for k in KEYS}


def load(path: Path) -> Settings:
    """The settings in the TOML file ``path``, or the defaults where it has no table of ours.

    Raises SettingsError for a file that cannot be read, an unknown key and a value of the wrong type.
    """
    table = _table(path)
    if table is None:
        return Settings()
    for key, value in table.items():
        if key not in KEYS:
            known = ", ".join(KEYS)
            raise SettingsError(f"{path}: unknown setting '{key}' in [tool.{TABLE}]; known are {known}")
        if not KEYS[key].kind.accepts(value):
            raise SettingsError(f"{path}: '{key}' in [tool.{TABLE}] must be {KEYS[key].kind.wanted}")
    return _record(table, path)


def _record(table: dict[str, Any], path: Path) -> Settings:
    select = table.get("select")
    layer = Selection(
        select=None if select is None else split_codes(select),
        extend_select=split_codes(table.get("extend-select", [])),
        ignore=split_codes(table.get("ignore", [])),
    )
    root = path.parent.resolve()
    plain = ("exclude", "assume-contiguous", "triton", "element-types", "min-waste", "output-format")
    values = {key.replace("-", "_"): table[key] for key in plain if key in table}
    return Settings(
        layers=[layer],
        per_file_ignores={p: split_codes(codes) for p, codes in table.get("per-file-ignores", {}).items()},
        arch=table["arch"].replace("_", "") if "arch" in table else None,
        baseline=root / table["baseline"] if "baseline" in table else None,
        root=root,
        source=path,
        origins=dict.fromkeys(table, str(path)),
        **values,
    )


def _document(path: Path) -> dict[str, Any]:
    if sys.version_info >= (3, 11):
        import tomllib
    else:
        import tomli as tomllib
    try:
        # a byte order mark is no TOML, but editors write it
        return tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except OSError as error:
        raise SettingsError(f"{path}: {error.strerror or error}") from None
    except UnicodeDecodeError as error:
        raise SettingsError(f"{path}: not UTF-8: byte 0x{error.object[error.start]:02x}") from None
    except (tomllib.TOMLDecodeError, RecursionError, ValueError) as error:
        raise SettingsError(f"{path}: not valid TOML: {str(error) or type(error).__name__}") from None


def _table(path: Path) -> dict[str, Any] | None:
    """Our table in the TOML file ``path``, None without one. Raises SettingsError where it cannot be told."""
    tool = _document(path).get("tool", {})
    if not isinstance(tool, dict):
        raise SettingsError(f"{path}: 'tool' must be a table")
    table = tool.get(TABLE)
    if table is not None and not isinstance(table, dict):
        raise SettingsError(f"{path}: [tool.{TABLE}] must be a table")
    return table


def find(paths: Sequence[str]) -> Settings:
    """The settings for ``paths``: of the nearest pyproject.toml with a table of ours above all of them.

    A file that does not mention us is passed over, whatever is wrong with it.
    """
    folder = _common_folder(paths)
    for parent in [folder, *folder.parents]:
        candidate = parent / "pyproject.toml"
        if os.path.isfile(candidate) and _mentions_us(candidate) and _table(candidate) is not None:
            return load(candidate)
    return Settings()


def _mentions_us(path: Path) -> bool:
    try:
        return TABLE.encode() in path.read_bytes().replace(b"\0", b"")
    except OSError as error:
        raise SettingsError(f"{path}: {error.strerror or error}") from None


def _common_folder(paths: Sequence[str]) -> Path:
    folders = []
    for text in paths:
        path = Path.cwd() if text == "-" else Path(os.path.abspath(text))
        folders.append(path if os.path.isdir(path) else path.parent)
    if not folders:
        return Path.cwd()
    common = folders[0]
    while not all(common == f or common in f.parents for f in folders):
        common = common.parent
    return common


def json_schema() -> dict[str, Any]:
    """The JSON schema (draft 2020-12) of the table ``[tool.coalesce-lint]``."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": f"[tool.{TABLE}] of pyproject.toml",
        "type": "object",
        "additionalProperties": False,
        "properties": {name: {"description": key.help, **key.kind.schema} for name, key in KEYS.items()},
    }
