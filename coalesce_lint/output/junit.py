"""A JUnit report: a test case for each file with findings, one failure for each finding."""

from __future__ import annotations

import itertools
from xml.etree import ElementTree

from coalesce_lint.check import Outcome
from coalesce_lint.output.text import printable, qualifiers


def render(outcome: Outcome, colour: bool) -> str:
    findings = [f for f in outcome.findings if f.severity != "info"]
    problems = [p for p in outcome.problems if p.fatal]
    suite = ElementTree.Element("testsuite", name="coalesce-lint")
    for path, group in itertools.groupby(findings, key=lambda f: f.place.path):
        case = ElementTree.SubElement(suite, "testcase", name=printable(path), classname="coalesce-lint")
        for f in group:
            where = f"{path}:{f.place.line}:{f.place.column + 1}: {f.code}{qualifiers(f)} {f.message}"
            message = printable(f"line {f.place.line}: {f.code} {f.message}")
            failure = ElementTree.SubElement(case, "failure", message=message, type=f.code)
            failure.text = printable(where)
    for problem in problems:
        case = ElementTree.SubElement(
            suite, "testcase", name=printable(problem.path), classname="coalesce-lint"
        )
        ElementTree.SubElement(case, "error", message=printable(problem.message), type="unreadable")
    if not len(suite):
        ElementTree.SubElement(suite, "testcase", name="no findings", classname="coalesce-lint")
    suite.set("tests", str(len(suite)))
    suite.set("failures", str(sum(case.find("failure") is not None for case in suite)))
    suite.set("errors", str(len(problems)))
    root = ElementTree.Element("testsuites")
    root.append(suite)
    ElementTree.indent(root)
    return '<?xml version="1.0" encoding="utf-8"?>\n' + ElementTree.tostring(root, encoding="unicode") + "\n"
