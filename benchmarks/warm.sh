#!/usr/bin/env bash
# Whole-process times side by side: a warm run (all results kept) against ruff without a cache on the same tree, and
# one file from a cold start against the mere import of libcst and sympy.
#
#     benchmarks/warm.sh TREE [FILE]
#
# Needs hyperfine, ruff and coalesce-lint on PATH. Exits with 1 where the warm run takes more than 0.5 s and more than
# three times ruff's time, or the file more than 0.8/0.45 times the imports' time. Absolute times mean little on a
# shared machine; the ratios do.
set -eu
tree=$(realpath "${1:?usage: warm.sh TREE [FILE]}")
here=$(cd "$(dirname "$0")/.." && pwd)
file=$(realpath "${2:-$here/fixtures/seeds/row_and_column_walk.py}")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"  # --isolated keeps the results here, not in the tree
hyperfine -i --warmup 2 --runs "${RUNS:-10}" --export-json times.json \
  -n 'coalesce-lint, warm' "coalesce-lint --isolated --quiet $tree" \
  -n 'ruff check --no-cache' "ruff check --no-cache --quiet $tree" \
  -n 'one file, cold' "coalesce-lint --isolated --no-cache --quiet $file" \
  -n 'import libcst, sympy' "python -c 'import libcst, sympy'"
python - <<'END'
import json, sys
warm, ruff, file, imports = (r["median"] for r in json.load(open("times.json"))["results"])
print(f"warm run       {warm:.2f} s, {warm / ruff:.1f} times ruff (at most 0.5 s or 3 times)")
print(f"one file, cold {file:.2f} s, {file / imports:.2f} times the imports (at most {0.8 / 0.45:.2f} times)")
sys.exit(not ((warm <= 0.5 or warm <= 3 * ruff) and file <= 0.8 / 0.45 * imports))
END
