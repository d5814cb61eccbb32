"""What generated kernels are made of: one pattern for each construct that the engine reads."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable

CONSTRUCTS: dict[str, str] = {
    "2-D tile": r"\[:, None\]",
    "3-D tile": r"\[:, None, None\]|\[None, :, None\]|\[None, None, :\]",
    "helper": r"\b(folded|scaled|wrapped|clipped|swapped|moved)\(",
    "helper that calls a helper": r"\bswapped\(",
    "helper that returns a tuple or a pointer": r"= (placed|rebased)\(",
    "helper with an access": r"= fetch\(",
    "helper with default and keyword arguments": r"\bspread\(",
    "branch": r"^    +if .*:\n(?!.*return)",
    "branch over tiles of other ranks": r"# ranks",
    "conditional expression": r" if .* else ",
    "for loop": r"for \w+ in (tl\.)?range\(",
    "static_range": r"tl\.static_range\(",
    "while loop": r"\bwhile ",
    "loop with a pointer step": r"for .*:\n(        .*\n)*        ptrs\w* \+=",
    "loop with an offset step": r"for .*:\n(        .*\n)*        at\w* \+=",
    "lanes that change in a loop": r"# again",
    "nested loop": r"for .*:\n +for ",
    "persistent loop": r"for tile\w* in range",
    "nested // or %": r"(//|%) \w+\)[^\n]*?\)? (//|%) ",
    "shift": r"<<|>>",
    "bit operation": r" [&|^] ",
    "mask": r"mask=",
    "compound mask": r"mask=\(\(.*&",
    "minimum or maximum": r"tl\.(minimum|maximum)\(",
    "where": r"tl\.where\(",
    "where by a period": r"tl\.where\([^\n]* % \d+ (==|<) ",
    "where of pointers": r"tl\.where\([^\n]*_ptr",
    "wide cast": r"\.to\(tl\.int64\)",
    "narrowing cast": r"\.to\(tl\.u?int(8|16)\)",
    "unsigned cast": r"\.to\(tl\.uint\d+\)",
    "trans or permute": r"tl\.(trans|permute)\(|\)\.T\b",
    "reshape": r"tl\.reshape\(|\.reshape\(|tl\.view\(",
    "ravel or flip": r"tl\.(ravel|flip)\(",
    "join": r"tl\.join\(",
    "split": r"tl\.split\(",
    "interleave": r"tl\.interleave\(",
    "cat": r"tl\.cat\(",
    "expand_dims": r"expand_dims\(",
    "broadcast_to": r"broadcast_to\(",
    "reduction": r"tl\.(max|min|sum)\(",
    "scan": r"tl\.cumsum\(",
    "sort": r"tl\.sort\(",
    "hint": r"tl\.(multiple_of|max_contiguous)\(",
    "swizzle2d": r"tl\.swizzle2d\(",
    "grouped program order": r"first_\w+ = ",
    "gather": r"tl\.load\(index_ptr",
    "table indexed by a row": r"# table",
    "pointer loaded from memory": r"\.to\(tl\.pointer_type\(|tl\.cast\(",
    "pointer for each row": r"base\w*\[:, None\]",
    "parameter rebound": r"# rebound",
    "local number": r"^    number\w* = -?\d+$",
    "constexpr local": r": tl\.constexpr = ",
    "block pointer": r"make_block_ptr",
    "advance": r"tl\.advance\(",
    "descriptor": r"make_tensor_descriptor",
    "atomic": r"tl\.atomic_",
    "full mask": r"tl\.full\(\[.*tl\.int1\)",
}


def count(texts: Iterable[str]) -> Counter[str]:
    """In how many kernels each construct occurs."""
    found: Counter[str] = Counter(dict.fromkeys(CONSTRUCTS, 0))
    patterns = {name: re.compile(text, re.MULTILINE) for name, text in CONSTRUCTS.items()}
    for text in texts:
        found.update(name for name, pattern in patterns.items() if pattern.search(text))
    return found
