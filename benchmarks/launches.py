"""How many parametric accesses the launches of a repository decide, and why the others stay open.

    python benchmarks/launches.py CORPUS [NAME ...] [--jobs N] [--list REASON] [--sample N --seed N]

CORPUS holds one folder a repository; NAME keeps those whose name contains it. An access counts where a launch
of its kernel is in the same repository. It is decided where every launch that reaches it makes it contiguous
or strided; "proved" where none of that rests on the policy. ``--sample`` prints that many decided by the
policy, to be read by hand.
"""

from __future__ import annotations

import argparse
import collections
import functools
import multiprocessing
import pathlib
import random
import re
import time

from coalesce_lint import files
from coalesce_lint.launches import index as indexes


def one_file(path: str, launches: indexes.LaunchIndex) -> list[dict]:
    """The parametric accesses of a file, each with what became of it."""
    from coalesce_lint.engine import analyze_text
    from coalesce_lint.launches.verdict import attach

    text = pathlib.Path(path).read_text(encoding="utf-8", errors="replace")
    report = analyze_text(text, path)
    attach(report.kernels, launches.of_file(path))
    out = []
    for kernel in report.kernels:
        for access in kernel.accesses:
            if access.pattern == "parametric":
                out.append({"place": (access.place.path, access.place.line, access.place.column),
                            "condition": access.condition, "kernel": kernel.name, "source": access.source,
                            "launched": bool(kernel.launches), "under": access.launches})  # fmt: skip
    return out


def outcome(access: dict) -> tuple[str, str]:
    """What became of an access, and the reason where it stays open."""
    if not access["launched"]:
        return "no launch in the repository", ""
    if not access["under"]:
        return "never happens", ""
    for under in access["under"]:
        if under.pattern == "parametric":
            reasons = [a.why for a in under.axes if a.stride is None] or ["a stride that is no argument"]
            return "open", reasons[0]
    basis = {u.basis for u in access["under"]}
    patterns = {u.pattern for u in access["under"]}
    word = "strided" if "strided" in patterns else "contiguous" if "contiguous" in patterns else "uniform"
    return f"{'assumed' if 'assumed' in basis else 'proved'} {word}", ""


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("corpus", type=pathlib.Path)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--list", default=None, help="print the open accesses whose reason contains this")
    parser.add_argument("--sample", type=int, default=0)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    total: collections.Counter = collections.Counter()
    reasons: collections.Counter = collections.Counter()
    drawn: list = []
    for repo in sorted(p for p in args.corpus.iterdir() if p.is_dir()):
        if args.names and not any(n in repo.name for n in args.names):
            continue
        start = time.process_time()
        found = [(str(p), p.read_bytes()) for p in sorted(repo.rglob("*.py")) if p.is_file()]
        texts = [(p, d.decode(errors="replace")) for p, d in found if files.may_launch(d)]
        launches = indexes.build(texts, [repo], innermost=True)
        seconds = time.process_time() - start
        kernels = [p for p, d in found if files.may_hold_kernel(d)]
        counts: collections.Counter = collections.Counter()
        work = functools.partial(one_file, launches=launches)
        seen = set()
        with multiprocessing.Pool(args.jobs) as pool:
            for accesses in pool.imap(work, kernels, chunksize=2):
                for access in accesses:
                    key = (access["place"], access["kernel"], access["condition"])
                    if key in seen:
                        continue
                    seen.add(key)
                    word, reason = outcome(access)
                    counts[word] += 1
                    if reason:
                        short = re.sub(r"\d+", "N", re.sub(r": .*|of \S+.*|the view .* is", " ...", reason))
                        reasons[short] += 1
                        if args.list is not None and args.list in reason:
                            place = "{}:{}:{}".format(*access["place"])
                            print(
                                f"  {place} {access['condition']} {reason}  {access['under'][-1].place.line}"
                            )
                    if "assumed" in word:
                        drawn.append((word, access))
        total.update(counts)
        print(f"{repo.name}: index {seconds:.1f} s, {share(counts)}; {dict(counts)}")
    print(f"all: {share(total)}; {dict(total)}")
    for reason, count in reasons.most_common(40):
        print(f"    {count:5d} {reason}")
    if args.sample:
        print(f"seed {args.seed}")
        for word, access in random.Random(args.seed).sample(drawn, min(args.sample, len(drawn))):
            print(
                "{}:{}:{}".format(*access["place"]),
                access["kernel"],
                access["condition"],
                word,
                access["source"],
            )
            for u in access["under"][:2]:
                print(f"    {u.place.path}:{u.place.line} {u.pattern} {u.basis} {u.axes}")


def share(counts: collections.Counter) -> str:
    launched = sum(n for word, n in counts.items() if word != "no launch in the repository")
    decided = launched - counts["open"]
    return f"{decided} of {launched} decided ({100 * decided / max(launched, 1):.1f} %)"


if __name__ == "__main__":
    main()
