"""Findings, the base class of a rule, and the discovery of rules."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, ClassVar

from coalesce_lint.access import Access, FileError, Kernel, Place
from coalesce_lint.failures import debugging

HEADINGS = ("What it does", "Why is this bad", "Example", "Use instead", "How to fix", "Evidence")


@dataclass
class Finding:
    """One message at one place. ``column`` of the place counts from 0; text formats print ``column + 1``."""

    code: str
    name: str
    place: Place
    message: str
    severity: str = "warning"  #: "error", "warning" or "info"
    confidence: str = "proved"  #: "proved" or "assumed"
    kernel: str | None = None
    pointer: str | None = None
    related: list[tuple[Place, str]] = field(default_factory=list)
    access: Access | None = None
    optional: bool = False  #: told only where the rule was selected by name
    trail: list[tuple[Place, str]] = field(default_factory=list)  #: how the address came to be (``trail``)
    lines: dict[int, str] = field(default_factory=dict)  #: the source lines of the finding and its trail

    def sort_key(self) -> tuple[str, int, int, str, str]:
        return (self.place.path, self.place.line, self.place.column, self.code, self.message)

    def as_dict(self) -> dict[str, Any]:
        """The finding as in the JSON contract."""
        return {
            "path": self.place.path,
            "line": self.place.line,
            "column": self.place.column,
            "end_line": self.place.end_line,
            "end_column": self.place.end_column,
            "code": self.code,
            "name": self.name,
            "severity": self.severity,
            "confidence": self.confidence,
            "message": self.message,
            "kernel": self.kernel,
            "pointer": self.pointer,
            "related": [
                {"path": p.path, "line": p.line, "column": p.column, "message": m} for p, m in self.related
            ],
            "access": self.access.as_dict() if self.access else None,
        }


class Rule:
    """Base of all rules. A rule sees ``Kernel`` and ``Access`` records and never a syntax tree.

    A rule module's docstring is its page, with the headings of ``HEADINGS``. Override ``check_access`` for
    a rule about one access, ``check_kernel`` for a rule about accesses together, ``check_error`` for files.
    """

    code: ClassVar[str]
    name: ClassVar[str]
    summary: ClassVar[str]
    default: ClassVar[bool] = True
    always: ClassVar[bool] = False  #: on whatever is selected; only ``ignore`` turns it off
    severity: ClassVar[str] = "warning"

    def check_access(self, access: Access, kernel: Kernel) -> Iterable[Finding]:
        return ()

    def check_kernel(self, kernel: Kernel) -> Iterable[Finding]:
        for access in kernel.accesses:
            yield from self.check_access(access, kernel)

    def check_error(self, error: FileError) -> Iterable[Finding]:
        return ()

    def check_comment(self, place: Place, said: str) -> Iterable[Finding]:
        """About a comment at ``place`` that silences nothing; ``said`` is what it says."""
        return ()

    def finding(self, access: Access, message: str, **kw: Any) -> Finding:
        """A finding of this rule at ``access``."""
        return Finding(
            code=self.code,
            name=self.name,
            place=access.place,
            message=message,
            severity=kw.pop("severity", self.severity),
            kernel=access.kernel,
            pointer=access.pointer,
            related=kw.pop("related", [(c.place, f"called from {c.function}") for c in access.call_chain]),
            access=access,
            **kw,
        )

    @classmethod
    def page(cls) -> str:
        """The rule's documentation, from its module's docstring."""
        return inspect.getdoc(inspect.getmodule(cls)) or ""


def all_rules() -> tuple[Rule, ...]:
    """Every rule, by code: our own and those of installed packages (``discovery``)."""
    from coalesce_lint.discovery import discovered

    return discovered().rules


def run_rules(
    kernels: Iterable[Kernel],
    errors: Iterable[FileError],
    rules: Iterable[Rule],
    failed: Callable[[Rule, str, Exception], None] | None = None,
) -> Iterator[Finding]:
    """The findings of ``rules``, each place and message once even where several callers reach it.

    ``failed`` is told of a rule that raises, with the kernel or file it was about, and the rest goes on;
    without it the exception leaves.
    """
    seen = set()
    kernels = list(kernels)
    errors = list(errors)
    for rule in rules:
        checks = [(functools.partial(rule.check_kernel, k), f"in {k.name}") for k in kernels]
        checks += [(functools.partial(rule.check_error, e), "on what cannot be read") for e in errors]
        for check, where in checks:
            for finding in findings_of(rule, check, where, failed):
                key = finding.sort_key()
                if key not in seen:
                    seen.add(key)
                    yield finding


def findings_of(
    rule: Rule,
    check: Callable[[], Iterable[Finding]],
    where: str,
    failed: Callable[[Rule, str, Exception], None] | None,
) -> list[Finding]:
    """What one ``check`` of ``rule`` finds; as in ``run_rules``, ``failed`` is told where it raises."""
    try:
        findings = list(check())
        for finding in findings:
            if not isinstance(finding, Finding) or finding.code != rule.code:
                raise TypeError(f"not a finding of {rule.code}: {finding!r:.60}")
        return findings
    except Exception as error:
        if failed is None or debugging():
            raise
        failed(rule, where, error)
        return []
