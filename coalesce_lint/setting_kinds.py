"""The types that settings may have: what a value must be, in words, as a check and as JSON schema."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, Protocol

from coalesce_lint.pins import ELEMENT_BYTES


class Kind(Protocol):
    """A type of setting. ``wanted`` ends the sentence "'key' must be ..."."""

    @property
    def wanted(self) -> str: ...

    @property
    def schema(self) -> dict[str, Any]: ...

    def accepts(self, value: object) -> bool: ...


@dataclass(frozen=True)
class Key:
    """A key of the table: the type of its value, and what it says."""

    kind: Kind
    help: str


class Strings:
    wanted = "a list of strings"

    @property
    def schema(self) -> dict[str, Any]:
        return {"type": "array", "items": {"type": "string"}}

    def accepts(self, value: object) -> bool:
        return isinstance(value, list) and all(isinstance(v, str) for v in value)


class ListByPath:
    wanted = 'a table of lists of strings, such as { "tests/" = ["CL101"] }'

    @property
    def schema(self) -> dict[str, Any]:
        return {"type": "object", "additionalProperties": Strings().schema}

    def accepts(self, value: object) -> bool:
        return isinstance(value, dict) and all(Strings().accepts(v) for v in value.values())


class Choice:
    def __init__(self, *values: str) -> None:
        self.values = values

    @property
    def wanted(self) -> str:
        *others, last = (f"'{v}'" for v in self.values)
        return f"{', '.join(others)} or {last}"

    @property
    def schema(self) -> dict[str, Any]:
        return {"enum": list(self.values)}

    def accepts(self, value: object) -> bool:
        return isinstance(value, str) and value in self.values


@dataclass(frozen=True)
class Pattern:
    """A string that matches a regular expression as a whole."""

    expression: str
    wanted: str

    @property
    def schema(self) -> dict[str, Any]:
        return {"type": "string", "pattern": f"^(?:{self.expression})$"}

    def accepts(self, value: object) -> bool:
        return isinstance(value, str) and re.fullmatch(self.expression, value) is not None


class ElementTypes:
    wanted = f'a table of element types, such as {{ "*" = "fp16" }}; known are {", ".join(ELEMENT_BYTES)}'

    @property
    def schema(self) -> dict[str, Any]:
        return {"type": "object", "additionalProperties": {"enum": list(ELEMENT_BYTES)}}

    def accepts(self, value: object) -> bool:
        return isinstance(value, dict) and all(
            isinstance(v, str) and v in ELEMENT_BYTES for v in value.values()
        )


@dataclass(frozen=True)
class Number:
    """A finite number of at least ``least``."""

    least: float

    @property
    def wanted(self) -> str:
        return f"a number of at least {self.least:g}"

    @property
    def schema(self) -> dict[str, Any]:
        return {"type": "number", "minimum": self.least}

    def accepts(self, value: object) -> bool:
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            return False
        return self.least <= value < float("inf")


class PathText:
    wanted = "a path that is not empty"

    @property
    def schema(self) -> dict[str, Any]:
        return {"type": "string", "minLength": 1, "pattern": "^[^\u0000]*$"}

    def accepts(self, value: object) -> bool:
        return isinstance(value, str) and value != "" and "\0" not in value
