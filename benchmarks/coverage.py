"""What the engine says about whole repositories: verdict counts, unknowns by reason, the slowest files.

    python benchmarks/coverage.py CORPUS [NAME ...] [--jobs N] [--list REASON] [--json FILE]

CORPUS holds one folder a repository; NAME keeps those whose name contains it. Run it before and after a
change of the engine: coverage is the share of the accesses that vary by lane and have a verdict other than
``unknown``.
"""

from __future__ import annotations

import argparse
import collections
import json
import multiprocessing
import pathlib
import re
import resource
import time
import traceback

RELEVANT = re.compile(rb"jit")


def one_file(path: str) -> dict:
    from coalesce_lint.engine import analyze_text

    start = time.process_time()  # CPU seconds: the machine may be busy with other work
    out: dict = {"path": path, "accesses": [], "errors": [], "crash": None, "kernels": 0}
    try:
        text = pathlib.Path(path).read_text(encoding="utf-8", errors="replace")
        report = analyze_text(text, path)
        out["kernels"] = len(report.kernels)
        out["errors"] = [e.message for e in report.errors]
        out["accesses"] = [
            (
                a.place.path,
                a.place.line,
                a.place.column,
                a.pattern,
                a.reason if a.pattern == "unknown" else None,
            )
            for k in report.kernels
            for a in k.accesses
        ]
    except Exception:
        out["crash"] = traceback.format_exc()
    out["seconds"] = time.process_time() - start
    out["rss_mb"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return out


def reason_class(reason: str) -> str:
    """A reason without the names in it."""
    return re.sub(r"\(.*\)", "(...)", re.sub(r"(call of|method|attribute|argument) \w+", r"\1 ...", reason))


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("corpus", type=pathlib.Path)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument(
        "--list", default=None, help="print the places of unknowns whose reason contains this"
    )
    parser.add_argument("--json", type=pathlib.Path, default=None)
    parser.add_argument("--limit", type=int, default=0, help="at most so many files a repository")
    args = parser.parse_args()
    total: collections.Counter = collections.Counter()
    slow: list = []
    summary = {}
    for repo in sorted(p for p in args.corpus.iterdir() if p.is_dir()):
        if args.names and not any(n in repo.name for n in args.names):
            continue
        files = [
            str(p) for p in sorted(repo.rglob("*.py")) if p.is_file() and RELEVANT.search(p.read_bytes())
        ]
        if args.limit:
            files = files[:: max(1, len(files) // args.limit)]
        with multiprocessing.Pool(args.jobs) as pool:
            results = pool.map(one_file, files, chunksize=4)
        counts: collections.Counter = collections.Counter()
        reasons: collections.Counter = collections.Counter()
        worst: dict = {}
        for r in results:
            slow.append((r["seconds"], r["path"], r["rss_mb"]))
            if r["crash"]:
                counts["crash"] += 1
                print("CRASH", r["path"], r["crash"].splitlines()[-1])
                print("   ", "\n    ".join(r["crash"].splitlines()[-5:-1]))
            for e in r["errors"]:
                counts["file errors"] += 1
                print("error", r["path"], e)
            for path, line, column, pattern, reason in r["accesses"]:
                counts[pattern] += 1
                if reason:
                    reasons[reason_class(reason)] += 1
                    worst.setdefault(reason_class(reason), f"{path}:{line}:{column} {reason}")
                    if args.list and args.list in reason:
                        print(f"  {path}:{line}:{column} {reason}")
        total.update(counts)
        varying = sum(counts[p] for p in ("strided", "unknown", "gather", "parametric", "contiguous"))
        share = 100 * (1 - counts["unknown"] / varying) if varying else 100.0
        kernels = sum(r["kernels"] for r in results)
        seconds = sum(r["seconds"] for r in results)
        print(
            f"{repo.name}: {len(files)} files, {kernels} kernels, {dict(counts)}; "
            f"decided {share:.1f}%; {seconds:.1f} s"
        )
        for reason, count in reasons.most_common(10):
            print(f"    {count:5d} {reason}   e.g. {worst[reason]}")
        summary[repo.name] = {"files": len(files), "kernels": kernels, **counts, "decided": round(share, 2),
                              "reasons": dict(reasons.most_common(10))}  # fmt: skip
    varying = sum(total[p] for p in ("strided", "unknown", "gather", "parametric", "contiguous"))
    print(
        f"all: {dict(total)}; "
        f"decided {100 * (1 - total['unknown'] / max(varying, 1)):.1f}% of {varying} lane-varying"
    )
    slow.sort(reverse=True)
    p99 = slow[len(slow) // 100][0] if slow else 0
    print(f"p99 of files {p99:.2f} s; peak memory {max((s[2] for s in slow), default=0):.0f} MB; slowest:")
    for seconds, path, _ in slow[:10]:
        print(f"    {seconds:.2f} s {path}")
    if args.json:
        args.json.write_text(json.dumps(summary, indent=1))


if __name__ == "__main__":
    main()
