"""The analyzer's verdicts on one kernel against what the kernel really does."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from .claims import Claim, Run
from .compare import Outcome, compare
from .dtypes import OracleUnsupported
from .execute import Launch, launch
from .expressions import Parameter
from .generate import Case, binding, bindings, launches
from .memory import Taken
from .modules import JitFunction, Module

Analyzer = Callable[[str, str], list[Claim]]
MANY_RUNS = 24
TABLES = {"index": "int32", "address": "int64"}  #: what a pointer by that name points to


def engine_claims(text: str, kernel: str) -> list[Claim]:
    """What coalesce-lint says about every access of one kernel, as in its JSON contract."""
    from coalesce_lint.engine import analyze_text

    report = analyze_text(text, "kernel.py")
    if report.errors:
        raise RuntimeError(f"the engine could not read the kernel: {report.errors[0].message}")
    return [a.as_dict() for k in report.kernels if k.name == kernel for a in k.accesses]


def _run(function: JitFunction, arguments: dict[str, Any], how: list[Launch], seed: int | None) -> Run:
    """One binding; with a ``seed``, run again with memory that holds other data."""
    records, other = [], []
    taken: set[Taken] = set()
    for one in how:
        records += launch(function, arguments, one, taken)
        if seed is not None:
            # negative numbers too: where they are possible a remainder depends on them
            other += launch(function, arguments, Launch(one.programs, one.grid, seed, -one.table), taken)
    return Run(arguments, records, other, taken)


def observe(case: Case, claims: list[Claim], count: int = 4) -> list[Run]:
    """Runs the kernel with several arguments, and again with 1 for each stride that a claim names."""
    import random

    function = Module(case.text, "kernel.py").functions[case.kernel]
    chosen = bindings(case, count)
    rng = random.Random(case.seed + 5)
    names = {p.name for p in case.parameters}
    for claim in claims:
        for name in sorted(set(re.findall(r"[A-Za-z_]\w*", claim.get("condition") or "")) & names):
            chosen.append(binding(case, rng, (name,)))
    gathers = any(c["pattern"] == "gather" for c in claims)
    return [
        _run(function, arguments, launches(case, count > 4), case.seed + 1001 + k if gathers else None)
        for k, arguments in enumerate(chosen)
    ]


def _by_chance(outcome: Outcome) -> bool:
    """Whether more runs may say otherwise: a few can look alike, miss a branch, or hold all lanes."""
    return outcome.kind in ("wrong gather", "wrong offset", "never seen", "degenerate")


def check_case(case: Case, analyzer: Analyzer = engine_claims, count: int = 4) -> list[Outcome]:
    """An outcome for every access of a kernel, run with ``count`` sets of arguments or a few more.

    A crash of the analyzer is a disagreement too.
    """
    try:
        claims = analyzer(case.text, case.kernel)
    except Exception as error:
        claim = {"line": 0, "column": 0, "pattern": "none"}
        return [Outcome(claim, "disagree", "crash", f"{type(error).__name__}: {error}")]
    outcomes = compare(claims, observe(case, claims, count))
    if count < MANY_RUNS and any(_by_chance(o) for o in outcomes):
        return check_case(case, analyzer, MANY_RUNS)
    return outcomes


def case_of(text: str, kernel: str = "kernel", seed: int = 0) -> Case:
    """A case from source text; what a parameter is, its name and annotation say."""
    function = Module(text, "kernel.py").functions.get(kernel)
    if function is None:
        raise OracleUnsupported(f"no kernel named {kernel}")
    return Case(seed, text, [_parameter(function, name) for name in function.parameters], kernel)


def _parameter(function: JitFunction, name: str) -> Parameter:
    if name in function.constexprs:
        kind = "block" if name.startswith("BLOCK") else "flag" if "FLAG" in name else "literal"
    elif name.endswith("_ptr"):
        return Parameter(name, "pointer", TABLES.get(name.split("_")[0], "float32"))
    else:
        kind = "stride" if name.startswith("stride") else "size"
    return Parameter(name, kind)
