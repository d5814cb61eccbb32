"""Which memory instructions are really emitted: PTX is tagged, assembled, and found again in the machine
code.

``ptxas`` merges equal loads, so PTX alone overcounts. Every PTX instruction on global memory gets a line
number of its own in the debug information (``.loc``), which has no effect on the code; the disassembly then
tells which of them became machine instructions, and how wide these are.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from coalesce_lint.verify.ttgir import Operation

#: A source line of an operation is its serial number times this, for inline assembly of several lines
#: counts upwards.
LINES_PER_OPERATION = 1000

_LOC = re.compile(r"^\s*\.loc\s+(\d+)\s+(\d+)\s+(\d+)")
_MEMORY = re.compile(
    r"^\s*(?:@!?%p\d+\s+)?((?:ld|st|atom|red)(?:\.[\w:]+)*?\.global(?:\.[\w:]+)*|cp\.async\.c[ag]\.shared\.global[\w.:]*)\b(.*)$"
)
_SASS = re.compile(
    r"^\s*/\*[0-9a-f]+\*/\s+(?:@!?U?P\w+\s+)?((?:LDG|STG|ATOMG|ATOM|RED|REDG|LDGSTS)(?:\.[\w]+)*)\b"
)
_MADE_OF = {
    "LDG": "load", "LDGSTS": "load", "STG": "store", "ATOM": "atomic", "ATOMG": "atomic", "RED": "atomic",
    "REDG": "atomic",
}  # fmt: skip
_SASS_LINE = re.compile(r'//## File "([^"]*)", line (\d+)')


@dataclass
class Instruction:
    """One PTX instruction on global memory.

    ``line`` and ``column`` are those of the ``.loc`` in force where its block of inline assembly begins;
    ``bytes`` is what it moves a thread; ``copies`` and ``sass_bytes`` are filled in from the machine code.
    """

    opcode: str
    line: int
    column: int
    bytes: int
    copies: int = 1
    sass_bytes: int = 0

    @property
    def kind(self) -> str:
        if self.opcode.startswith("st"):
            return "store"
        return "atomic" if self.opcode.startswith(("atom", "red")) else "load"


def ptx_bytes(opcode: str, operands: str) -> int:
    """Bytes a thread that a PTX instruction moves, from its suffixes (``.v4.b32``, ``.f16x2``) or
    cp.async's size."""
    if opcode.startswith("cp.async"):
        size = re.search(r"\],\s*(0x[0-9a-fA-F]+|\d+)", operands)
        return int(size.group(1), 0) if size else 16
    vector = re.search(r"\.v(\d+)\b", opcode)
    kind = re.findall(r"\.(?:b|u|s|f|bf)(\d+)(x2)?\b", opcode)
    bits, pair = kind[-1] if kind else ("32", "")
    return int(bits) // 8 * (2 if pair else 1) * (int(vector.group(1)) if vector else 1)


def sass_bytes(opcode: str) -> int:
    """Bytes a thread that a machine instruction moves, from its suffixes (``LDG.E.64``, ``STG.E.U8``)."""
    parts = opcode.split(".")
    for suffix, size in (("256", 32), ("128", 16), ("64", 8), ("U8", 1), ("S8", 1), ("U16", 2), ("S16", 2)):
        if suffix in parts:
            return size
    return 4


def tag_ptx(ptx: str) -> tuple[str, list[Instruction]]:
    """PTX with one ``.loc`` before each instruction on global memory (line = its number + 1), and these
    instructions."""
    instructions: list[Instruction] = []
    lines = []
    line = column = 0
    in_assembly = fixed = False
    for text in ptx.splitlines():
        if "// begin inline asm" in text:
            in_assembly, fixed = True, False
        elif "// end inline asm" in text:
            in_assembly = False
        loc = _LOC.match(text)
        if loc:
            # Within inline assembly newer compilers count lines on from the first: that first one is the
            # operation's.
            if not (in_assembly and fixed):
                line, column = int(loc.group(2)), int(loc.group(3))
            fixed = fixed or in_assembly
            continue
        memory = _MEMORY.match(text)
        if memory:
            opcode, operands = memory.groups()
            instructions.append(Instruction(opcode, line, column, ptx_bytes(opcode, operands)))
            lines.append(f"\t.loc\t1 {len(instructions)} 0")
        lines.append(text)
    return "\n".join(lines) + "\n", instructions


def apply_sass(instructions: list[Instruction], disassembly: str) -> None:
    """Fills ``copies`` and ``sass_bytes`` from a disassembly with line numbers (``nvdisasm -g -c``) of
    tagged PTX."""
    for instruction in instructions:
        instruction.copies = 0
    current = 0
    for text in disassembly.splitlines():
        place = _SASS_LINE.search(text)
        if place:
            current = int(place.group(2))
            continue
        machine = _SASS.match(text)
        if machine and 1 <= current <= len(instructions):
            instruction = instructions[current - 1]
            # The loop that an atomic may become is blamed on its neighbours too.
            if _MADE_OF[machine.group(1).split(".")[0]] == instruction.kind:
                instruction.copies += 1
                instruction.sass_bytes = max(instruction.sass_bytes, sass_bytes(machine.group(1)))
    for instruction in instructions:
        if instruction.kind == "atomic":  # never merged
            instruction.copies = max(instruction.copies, 1)


def assign(found: list[Operation], serials: list[int | None], instructions: list[Instruction]) -> None:
    """Writes to ``extra["emitted"]`` of each operation which registers its instructions move.

    Instructions carry their operation's serial number. Where several operations share one (a helper inlined
    twice, a pipelined loop's prologue), or LLVM unrolled a loop, they take turns in program order.
    """
    for serial in {s for s in serials if s is not None}:
        owners = [o for o, s in zip(found, serials, strict=True) if s == serial]
        queue = [i for i in instructions if i.line // LINES_PER_OPERATION == serial]
        taken: list[list[list[Instruction]]] = [[] for _ in owners]
        turn = 0
        while queue:
            owner = owners[turn % len(owners)]
            vector = max(1, queue[0].bytes * 8 // owner.element_bits)
            wanted = len(starts(owner, vector))
            taken[turn % len(owners)].append(queue[:wanted])
            queue = queue[wanted:]
            turn += 1
        for owner, groups in zip(owners, taken, strict=True):
            owner.extra["emitted"] = emitted(owner, groups)
            if groups:
                owner.extra["vector"] = max(1, groups[0][0].bytes * 8 // owner.element_bits)
                owner.extra["opcode"] = groups[0][0].opcode


def starts(operation: Operation, vector: int) -> list[int]:
    """The first registers of an operation's vector accesses: every ``vector``-th, duplicates left out."""
    if operation.layout is None:
        return [0]
    return [r for r in operation.layout.canonical_registers if r % vector == 0]


def emitted(operation: Operation, groups: list[list[Instruction]]) -> list[tuple[int, int, float]]:
    """(first register, elements, weight) of each instruction of an operation that reached the machine
    code."""
    alive: dict[tuple[int, int], float] = {}
    for group in groups:
        if not group:
            continue
        vector = max(1, group[0].bytes * 8 // operation.element_bits)
        for start, instruction in zip(starts(operation, vector), group, strict=False):
            # A wider machine instruction moves neighbours too; an atomic of 16 bits only works on a word of
            # 32.
            wide = instruction.sass_bytes * 8 // operation.element_bits if operation.kind != "atomic" else 0
            elements = max(vector, wide)
            if instruction.copies:
                key = (start, elements if operation.layout is not None else 1)
                alive[key] = alive.get(key, 0.0) + 1 / len(groups)
    return [(start, elements, weight) for (start, elements), weight in alive.items()]
