"""What ``verify`` says, as text and as JSON."""

from __future__ import annotations

import datetime
from typing import Any

from coalesce_lint import __version__

Result = dict[str, Any]


def render(results: list[Result]) -> str:
    """One paragraph a result."""
    return "\n".join("\n".join(lines(r)) + "\n" for r in results)


def lines(r: Result) -> list[str]:
    place = f"{r['path']}:{r['line']}:{r['column'] + 1}"
    if r["together"]:
        place = f"{r['path']}:{','.join(map(str, r['lines']))}"
    what = f"{place}: {r['kernel']}: {r['op']} {r['pointer']}".rstrip()
    if r["stride"] is not None and r["extent"] is not None:
        what += f", stride {r['stride']}, extent {r['extent']}"
    found = [what, f"  verdict   {verdict(r)}"]
    if r["measured"]:
        found += time_lines(r, r["measured"])
    if r["predicted"]:
        found.append(f"  traffic   {traffic(r)}")
    if r["counters"]:
        found.append(f"  counters  {counters(r['counters'])}")
    if r["padded"] and r["padded"]["predicted"]:
        found.append(f"  padded    {padded(r['padded'])}")
    if r["addresses_proved"]:
        done, total = r["programs_proved"]
        where = ", outputs of the whole grid on the GPU" if r["measured"] else ""
        equal = "equal" if r["outputs_equal"] else "NOT equal"
        found.append(
            f"  proof     addresses of {done} of {total} programs as predicted, outputs {equal}{where}"
        )
    found += best_lines(r.get("best"))
    if r["permute_us"] is not None:
        pays = r["pays_after_launches"]
        text = f"{r['permute_us']:.1f} us, not part of the times above"
        when = f"pays after {pays} launch{'es' if pays > 1 else ''}" if pays else "never pays"
        found.append(f"  permuting {text}; {when}")
    if r.get("note"):
        found.append(f"  note      {r['note']}")
    if r["split_copy"]:
        found.append(
            "  note      split copy: only this load reads a permuted copy; memory doubled, cache reuse lost"
        )
    return found


def best_lines(best: dict[str, Any] | None) -> list[str]:
    """Best against best, for a kernel that an autotuner launched."""
    if best is None:
        return []
    rows, m = best["configurations"], best["measured"]
    if m:
        timed = [sum(row[f"{side}_us"] is not None for row in rows) for side in ("before", "after")]
        found = [
            f"  best      {m['before_us']:.1f} us ({best['before']['name']}) -> {m['after_us']:.1f} us "
            f"({best['after']['name']}), ratio {m['ratio']:.2f} ({m['low']:.2f} to {m['high']:.2f}), "
            f"A/A {m['aa']:.3f}; best against best, of {timed[0]} and {timed[1]} configurations"
        ]
    else:
        proved = sum(row["proved"] for row in rows)
        found = [
            f"  best      {best['reason']}: best against best was not timed; the variant is proved under "
            f"{proved} of {len(rows)} configurations"
        ]
    left_out: dict[str, list[str]] = {}
    for row in rows:
        if row["reason"]:
            left_out.setdefault(row["reason"], []).append(row["name"])
        elif row["variant_reason"]:
            left_out.setdefault(row["variant_reason"], []).append(f"the variant under {row['name']}")
    for reason, names in left_out.items():
        which = "; ".join(names) if len(names) < 3 else f"{names[0]} and {len(names) - 1} more"
        found.append(f"  left out  {which}: {reason}")
    return found


def verdict(r: Result) -> str:
    m = r["measured"]
    if r.get("proxy"):
        p = r["proxy"]
        return (
            f"proxy bound: at most {p['ratio']:.2f}x slower than with contiguous addresses "
            f"({p['low']:.2f} to {p['high']:.2f}; wrong values, a bound and no measurement): {r['reason']}"
        )
    if not m:
        reason = r["reason"]
        return (
            r["verdict"] if r["verdict"].startswith("refused") or not reason else f"{r['verdict']}: {reason}"
        )
    if m["slower"]:
        text = f"{m['ratio']:.2f}x slower than with stride 1"
    elif m["low"] > 1.05:
        text = f"{m['ratio']:.2f}x, but the original against itself came to {m['aa']:.3f}: no claim"
    elif m["high"] < 0.95:
        text = f"{m['ratio']:.2f}x: the variant is slower"
    else:
        text = f"{m['ratio']:.2f}x: no slowdown"
    return f"{r['verdict']}: {text}"


def time_lines(r: Result, m: dict[str, Any]) -> list[str]:
    registers = ""
    if r.get("resources"):
        a, b = r["resources"]["before"], r["resources"]["after"]
        registers = (
            f"  resources registers {a['registers']} -> {b['registers']}, "
            f"spills {a['spills']} -> {b['spills']}, "
            f"shared memory {a['shared_bytes']} -> {b['shared_bytes']} bytes"
        )
    return [
        f"  time      {m['before_us']:.1f} us -> {m['after_us']:.1f} us, ratio {m['ratio']:.2f} "
        f"({m['low']:.2f} to {m['high']:.2f}), warm {m['warm_ratio']:.2f}, A/A {m['aa']:.3f} "
        f"({m['aa_low']:.3f} to {m['aa_high']:.3f}), {m['rounds']} rounds",
        f"  asked for {m['before_gbps']:.0f} GB/s -> {m['after_gbps']:.0f} GB/s, caches included; "
        f"a copy moves {m['copy_gbps']:.0f} GB/s",
        *([registers] if registers else []),
    ]  # fmt: skip


def traffic(r: Result) -> str:
    p = r["predicted"]
    before, after = p["before"], p["after"]
    if after is None:
        return f"predicted {before['sectors']} sectors in {before['requests']} requests"
    text = (
        f"predicted sectors {before['sectors']} -> {after['sectors']} "
        f"({ratio(before['sectors'], after['sectors'])}), "
        f"requests {before['requests']} -> {after['requests']}"
    )
    whole = p.get("kernel")
    if whole:
        factor = whole["before"]["sectors"] / max(whole["after"]["sectors"], 1)
        text += f"; whole kernel {ratio(whole['before']['sectors'], whole['after']['sectors'])}"
        if r["measured"] and factor > 1.05 * r["measured"]["ratio"]:
            text += f", of which the caches gave back {factor / r['measured']['ratio']:.2f}x"
        elif r["measured"] and r["measured"]["ratio"] > 1.05 * factor:
            text += f"; {r['measured']['ratio'] / factor:.2f}x more than the sectors of L1 tell"
    return text


def ratio(a: float, b: float) -> str:
    return f"{a / b:.2f}x" if b else "-"


def counters(c: dict[str, Any]) -> str:
    before, after = c["before"], c["after"]
    parts = []
    for label in ("load_sectors", "load_requests", "store_sectors", "store_requests"):
        parts.append(f"{label.replace('_', ' ')} {before[label]:.0f} -> {after[label]:.0f}")
    dram = [sum(x[k] for k in ("dram_read_bytes", "dram_write_bytes")) / 1e6 for x in (before, after)]
    parts.append(f"DRAM {dram[0]:.1f} -> {dram[1]:.1f} MB")
    return ", ".join(parts)


def padded(p: dict[str, Any]) -> str:
    text = f"rows of {p['pitch']}: sectors {p['predicted']['sectors']}"
    if p["measured"]:
        m = p["measured"]
        text += f", ratio {m['ratio']:.2f} ({m['low']:.2f} to {m['high']:.2f})"
    return text


def document(results: list[Result], facts: dict[str, Any], command: str, notes: list[str]) -> dict[str, Any]:
    """The ``--json`` document."""
    bench = facts.get("bench") or {}
    gpu = facts.get("gpu") or {}
    versions = {"coalesce-lint": __version__, **(bench.get("versions") or {})}
    if facts.get("triton"):
        versions.setdefault("triton", facts["triton"])
    return {
        "schema": 1,
        "tool": f"coalesce-lint {__version__}",
        "device": bench.get("device") or gpu.get("name"),
        "driver": gpu.get("driver"),
        "versions": versions,
        "copy_gbps": bench.get("copy_gbps"),
        "command": command,
        "date": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ"),
        "notes": notes,
        "results": results,
    }
