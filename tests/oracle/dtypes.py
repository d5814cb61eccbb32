"""Element types, as far as addresses need them: kind, width, and what a pointer points to."""

from __future__ import annotations

import numpy as np


class OracleUnsupported(Exception):
    """The kernel does something that the oracle does not model; the text says what."""


class DType:
    """An element type. ``kind`` is one of "b", "i", "u", "f", "p"; ``bits`` the width of one element."""

    def __init__(self, name: str, kind: str, bits: int, element: DType | None = None) -> None:
        self.name = name
        self.kind = kind
        self.bits = bits
        self.element_ty = element if element is not None else self
        self.primitive_bitwidth = bits

    @property
    def scalar(self) -> DType:
        return self

    @property
    def bytes(self) -> int:
        """Size of one element in bytes; a bool takes a byte."""
        return max(1, self.bits // 8)

    @property
    def itemsize(self) -> int:
        return self.bytes

    def is_ptr(self) -> bool:
        return self.kind == "p"

    def is_int(self) -> bool:
        return self.kind in "biu"

    def is_floating(self) -> bool:
        return self.kind == "f"

    def is_block(self) -> bool:
        return False

    def is_int_signed(self) -> bool:
        return self.kind == "i"

    def is_int_unsigned(self) -> bool:
        return self.kind == "u"

    def is_bool(self) -> bool:
        return self.kind == "b"

    def __getattr__(self, name: str):
        if name.startswith("is_"):  # is_fp16(), is_bf16(), is_fp8e4nv() ...
            want = {"fp16": "float16", "bf16": "bfloat16", "fp32": "float32", "fp64": "float64"}
            kind = name[3:]
            if kind == "fp8":
                return lambda: self.name.startswith("float8")
            return lambda: self.name == want.get(kind, kind.replace("fp8", "float8"))
        raise AttributeError(name)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, DType) and self.name == other.name

    def __hash__(self) -> int:
        return hash(self.name)

    def __repr__(self) -> str:
        return self.name

    def wrap(self, data: np.ndarray) -> np.ndarray:
        """``data`` as a value of this type holds it: integers wrap round, bools are bools."""
        if self.kind == "b":
            return data != 0
        if self.kind == "f":
            return data.astype(np.float64)
        if data.dtype.kind == "f":
            data = np.nan_to_num(data, posinf=0, neginf=0).astype(np.int64)
        data = data.astype(np.int64)
        if self.kind in "iu" and self.bits < 64:
            low = np.bitwise_and(data, (1 << self.bits) - 1)
            if self.kind == "u":
                return low
            return np.where(low >= 1 << (self.bits - 1), low - (1 << self.bits), low)
        return data


def pointer_type(element: DType, *_args, **_kwargs) -> DType:
    return DType(f"pointer<{element.name}>", "p", 64, element)


INTEGERS = {
    f"{u}int{b}": DType(f"{u}int{b}", "u" if u else "i", b) for u in ("", "u") for b in (8, 16, 32, 64)
}
FLOATS = {
    n: DType(n, "f", b) for n, b in (("float16", 16), ("bfloat16", 16), ("float32", 32), ("float64", 64))
}
FLOATS |= {f"float8{s}": DType(f"float8{s}", "f", 8) for s in ("e5", "e4nv", "e4b8", "e4b15", "e5b16")}
int1 = DType("int1", "b", 1)
int32 = INTEGERS["int32"]
int64 = INTEGERS["int64"]
float32 = FLOATS["float32"]

#: Everything by its name in ``triton.language``.
BY_NAME = {**INTEGERS, **FLOATS, "int1": int1, "pi32_t": pointer_type(int32)}
