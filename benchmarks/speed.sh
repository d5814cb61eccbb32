#!/usr/bin/env bash
# Whole-process times side by side: coalesce-lint, libcst merely parsing the kernel-bearing files, flake8.
#
#     benchmarks/speed.sh TREE
#
# Needs hyperfine, flake8 and coalesce-lint on PATH. Absolute times mean little on a shared machine; the ratios do.
set -eu
tree=${1:?usage: speed.sh TREE}
list=$(mktemp)
trap 'rm -f "$list"' EXIT
grep -rlE '^[[:space:]]*@.*jit' "$tree" --include='*.py' > "$list"
lines=$(xargs cat < "$list" | wc -l)
echo "$(wc -l < "$list") kernel-bearing files, $lines lines"
hyperfine -i --warmup 1 --runs "${RUNS:-3}" \
  -n coalesce-lint "coalesce-lint --no-cache --quiet $tree" \
  -n 'coalesce-lint --jobs 1' "coalesce-lint --no-cache --quiet --jobs 1 $tree" \
  -n 'libcst parse' "python -c \"import sys, libcst; [libcst.parse_module(open(p.strip(), encoding='utf-8').read()) for p in open('$list')]\"" \
  -n flake8 "flake8 $tree"
