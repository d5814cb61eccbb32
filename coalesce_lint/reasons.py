"""Why an access could not be judged: the closed list of the reasons that an ``unknown`` verdict may carry.

A reason travels through the engine as its text, typed ``Why``. Only ``Reason`` makes such texts, so that a
type checker refuses any other, and ``reason_of`` tells which one a text is.
"""

from __future__ import annotations

import enum
import re
from functools import cache
from typing import NewType

#: The text of a reason, as reports print it.
Why = NewType("Why", str)

#: What stands for ``{}``: a name, an operation or a number, never a sentence.
_NAME = r"[^\s()]{1,80}"


class Reason(enum.Enum):
    """Each reason with its text; ``{}`` stands for the name of what it is about."""

    # the source is not read
    CALL = "call of {}"
    CALL_OF_ARGUMENT = "call of the function argument {}"
    CALL_OF_VALUE = "call of a value that is not known"
    CALL_DEPTH = "calls nested too deeply ({})"
    NESTED_FUNCTION = "nested function"
    METHOD = "method {}"
    ATTRIBUTE = "attribute {}"
    ARGUMENT = "argument {} not known"
    EXPRESSION = "{} expression"
    NOT_A_NUMBER = "{} used as a number"
    NUMBER_SIZE = "number too large"
    ITEM_ASSIGNMENT = "item assignment"
    UNPACKED = "unpacked value"
    SUBSCRIPT = "subscript"
    TUPLE_INDEX = "tuple index not known"
    COMPREHENSION = "comprehension over an unknown value"
    LOOP_VALUES = "loop over an unknown value"
    MEETING = "different kinds of values meet"
    SHARED_MEMORY = "value in shared memory"
    # pointers and descriptors
    NO_POINTER = "load through a value that is not a pointer"
    NO_ATOMIC_POINTER = "atomic through a value that is not a pointer"
    BLOCK_POINTER = "block pointer"
    ADVANCE = "advance of a value that is not a block pointer"
    DESCRIPTOR = "tensor descriptor"
    DESCRIPTOR_LOAD = "load through a descriptor that is not known"
    POINTER_CAST = "pointer cast of a tile"
    OFFSET = "offset not understood"
    # shapes
    SHAPE = "shape not understood"
    UNKNOWN_CALLER = "tile passed by an unknown caller ({})"
    TILE_SHAPE = "tile of unknown shape"
    TILE_RANK = "tile of unknown rank"
    EXTENT = "extent of axis {}"
    ARANGE = "arange"
    ARANGE_LENGTH = "arange of unknown length"
    SLICE = "slice of a tile"
    TILE_SUBSCRIPT = "subscript of a tile"
    BROADCAST = "broadcast to an unknown shape"
    EXPAND_DIMS = "expand_dims"
    TRANSPOSE = "transpose"
    TRANSPOSE_RANK = "transpose of unknown rank"
    RESHAPE = "reshape"
    RAVEL = "ravel"
    INTERLEAVE = "interleave"
    CAT = "cat"
    # values
    RESULT = "result of {}"
    MATRIX_PRODUCT = "product of matrices"
    REDUCTION = "{} of a tile"
    REDUCTION_SHAPE = "{} of a tile of unknown shape"
    MAP = "map_elementwise"
    BIT_CAST = "bit cast"
    BIT_OPERATION = "bit operation"
    NARROWING = "narrowing cast"
    DIVISION_BY_ZERO = "division by zero"
    LOOP_CARRIED = "loop-carried value"
    LOOP_OVER_TILE = "loop over a tile"
    # the algebra
    IRREGULAR = "irregular division"
    LANE_DIVISOR = "division by a lane-varying value"
    VARYING = "step varies from lane to lane"
    LANE_CHOICE = "a choice that differs from lane to lane"
    LANE_VALUE = "lane-dependent {}"
    CANCELLED = "the steps cancel"
    TOO_MANY_BRANCHES = "too many branches"
    TOO_LARGE = "expression too large"

    @property
    def why(self) -> Why:
        """The text of a reason without a name in it."""
        return Why(self.value)

    def of(self, name: object) -> Why:
        """The text with a name in it; a name that is no single word is shortened to one."""
        word = "_".join(re.sub(r"[()]", " ", str(name)).split())[:80]
        return Why(self.value.replace("{}", word or "?"))


@cache
def reason_of(text: str) -> Reason | None:
    """The reason that a text states, or None where it is not on the list."""
    for reason in Reason:
        if "{}" not in reason.value and reason.value == text:
            return reason
    for reason in Reason:
        pattern = re.escape(reason.value).replace(r"\{\}", _NAME)
        if "{}" in reason.value and re.fullmatch(pattern, text):
            return reason
    return None
