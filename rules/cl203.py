"""
A row pitch that is taken from a size, or from another tensor, although the tensor's own stride is passed.

## What it does
Looks at the launches of a kernel and at how the kernel finds the rows of each tensor. It reports

- an access whose rows are a size apart (`row * N + col`), although the launch passes the stride of that
  dimension of that tensor: the stride is there and is not used;
- a launch that passes the stride of one tensor for the rows of another, unless both are known to be
  contiguous, one is known to have the other's strides, one function made both of contiguous tensors, or
  their names are a pair (cos and sin, k and v, gate and up, the weights and ids of a selection, one attribute
  of two objects);
- a launch that passes a size (`x.shape[-1]`) for a parameter that is named a stride and multiplies the rows
  of a tensor that is not known to be contiguous.

## Why is this bad
The numbers are usually equal, and occasionally not: as soon as rows are padded, or the tensor is a slice of a
larger one, the kernel reads and writes the wrong addresses. `torch.empty_like(x)` is no protection: of a
tensor with gaps between its rows it makes one without.

## Example
```python
import torch
import triton
import triton.language as tl


@triton.jit
def normalize(x_ptr, y_ptr, stride_row, n_cols, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    cols = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * stride_row + cols, mask=cols < n_cols, other=0.0)
    tl.store(y_ptr + row * stride_row + cols, x / tl.sum(x, axis=0), mask=cols < n_cols)


def launch(x):
    y = torch.empty_like(x)
    normalize[(x.shape[0],)](x, y, x.stride(0), x.shape[1], BLOCK=1024)
```

## Use instead
```python
import torch
import triton
import triton.language as tl


@triton.jit
def normalize(x_ptr, y_ptr, stride_x, stride_y, n_cols, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    cols = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * stride_x + cols, mask=cols < n_cols, other=0.0)
    tl.store(y_ptr + row * stride_y + cols, x / tl.sum(x, axis=0), mask=cols < n_cols)


def launch(x):
    y = torch.empty_like(x)
    normalize[(x.shape[0],)](x, y, x.stride(0), y.stride(0), x.shape[1], BLOCK=1024)
```

## How to fix
- Multiply rows by the stride that is passed for this tensor; pass one for each tensor.
- Where a single stride is meant to serve several tensors, `assert` that all are contiguous.

## Evidence
This is about wrong results; there is nothing to measure. Padded rows are common where a row must begin on a
16-byte boundary, and gradients that arrive as slices are common in backward passes.
"""

import re
from collections.abc import Iterable, Iterator

from coalesce_lint.access import Kernel
from coalesce_lint.advice import operation
from coalesce_lint.findings import Finding, Rule
from coalesce_lint.launches.pitches import STRIDE_NAME, Addressed, addressed_tensors, understood
from coalesce_lint.launches.records import Launch, Passed, TensorFacts

#: Tensors that come in twos. Of a selection of the largest: ``topk_weights`` (or ``topk_logits``) and
#: ``topk_ids``, ``expt_scal`` and ``expt_indx``.
_PAIRS = (
    re.compile(r"(?i)cos|sin"),
    re.compile(r"(?i)key|value|(?<![a-z])[kv](?![a-z])"),
    re.compile(r"(?i)(?<![a-z])(gate|up)(?![a-z])"),
    re.compile(
        r"(?i)(?<=[a-z]_)(scal|vals?|values|weights?|scores?|logits?|probs?|indi?c?e?x|indices|inds?|ids)$"
    ),
)


class WrongPitch(Rule):
    code = "CL203"
    name = "wrong-pitch"
    summary = "a row pitch from a size or another tensor, although the tensor's own stride is passed"

    def check_kernel(self, kernel: Kernel) -> Iterable[Finding]:
        for launch in kernel.launches:
            tensors = [t for t in addressed_tensors(kernel, launch) if understood(t.accesses)]
            for given in tensors:
                yield from self._from_size(given, launch)
            yield from self._from_others(kernel, tensors, launch)

    def _from_size(self, given: Addressed, launch: Launch) -> Iterator[Finding]:
        """``row * N`` although the stride of the rows is passed."""
        tensor = given.tensor
        if tensor.contiguous or tensor.rank != 2:
            return
        strides = [
            (name, p)
            for name, p in launch.arguments.items()
            if p.kind == "stride"
            and p.tensor is not None
            and p.tensor.root == tensor.root
            and p.dim in (0, -2)
        ]
        if not strides or any(name in _factors(given) for name, _ in strides):
            return
        for access in given.accesses:
            for summand in access.summands:
                for size in summand.parameters if summand.kinds else ():
                    if launch.arguments[size].kind == "size" and not summand.axes - {access.lane_axis}:
                        name, passed = strides[0]
                        message = (
                            f"{operation(access)} of {access.pointer} takes its row pitch from "
                            f"the size {size}, "
                            f"although {passed.text} is passed as {name}; multiply rows by {name}"
                        )
                        related = [(launch.place, f"launched here by {launch.function}")]
                        yield self.finding(access, message, confidence="assumed", related=related)
                        return

    def _from_others(self, kernel: Kernel, tensors: list[Addressed], launch: Launch) -> Iterator[Finding]:
        """Parameters that multiply the rows of one tensor and are another one's strides, or its size."""
        borrowed: dict[str, list[tuple[Addressed, str, Passed]]] = {}
        for given in tensors:
            for name in sorted(_factors(given)):
                passed = launch.arguments.get(name)
                if passed is None or passed.tensor is None:
                    continue
                if passed.kind == "stride" and passed.stride.one is not True:
                    if not _alike(passed.tensor, given.tensor) and _own_rows(passed.tensor, name, tensors):
                        borrowed.setdefault(passed.tensor.name, []).append((given, name, passed))
                elif passed.kind == "size" and STRIDE_NAME.search(name):
                    same = passed.tensor.root == given.tensor.root
                    if same and not given.tensor.contiguous:
                        message = (
                            f"the size {passed.text} is passed to {kernel.name} as {name} and "
                            "multiplies the rows "
                            f"of {given.parameter}; pass the stride of that dimension"
                        )
                        yield self._at_launch(kernel, launch, [given], message)
        for source, uses in borrowed.items():
            strides = " and ".join(dict.fromkeys(p.text for _, _, p in uses))
            names = ", ".join(dict.fromkeys(name for _, name, _ in uses))
            others = list({g.parameter: g for g, _, _ in uses}.values())
            rows = ", ".join(f"{g.parameter} ({g.passed.text})" for g in others)
            message = (
                f"{strides} of {source} ({names} of {kernel.name}) also "
                f"{'place' if len(uses) > 1 else 'places'} "
                f"the rows of {rows}; pass strides for each tensor, or assert that all are contiguous"
            )
            yield self._at_launch(kernel, launch, others, message)

    def _at_launch(self, kernel: Kernel, launch: Launch, given: list[Addressed], message: str) -> Finding:
        related = [(g.accesses[0].place, f"{operation(g.accesses[0])} of {g.parameter}") for g in given]
        return Finding(
            code=self.code,
            name=self.name,
            place=launch.place,
            message=message,
            severity=self.severity,
            confidence="assumed",
            kernel=kernel.name,
            pointer=given[0].parameter,
            related=related,
            access=given[0].accesses[0],
        )


def _factors(given: Addressed) -> set[str]:
    """The runtime parameters that multiply an index."""
    return {n for a in given.accesses for s in a.summands if s.kinds for n in s.parameters}


def _pair(a: str, b: str) -> bool:
    """Whether the names are those of tensors that are made together.

    Cos and sin, keys and values, the gate and up projections of one layer, the values and indices of a
    selection, one attribute of two objects: the weights of layers of one kind.
    """
    if a == b:
        return False
    dotted = all("." in x and x.replace(".", "").isidentifier() for x in (a, b))
    if dotted and a.rpartition(".")[2] == b.rpartition(".")[2]:
        return True
    return any(p.sub("*", a) == p.sub("*", b) for p in _PAIRS)


def _alike(a: TensorFacts, b: TensorFacts) -> bool:
    """Whether the strides of ``a`` are right for ``b``."""
    if a.root == b.root or b.root in a.strided or a.root in b.strided or _pair(a.name, b.name):
        return True
    if (a.contiguous or a.believed) and (b.contiguous or b.believed):
        return True  # whether their shapes differ cannot be told, and they hardly do
    if a.makers and a.makers == b.makers:
        return True  # of contiguous tensors, by the same function
    same_source = b.like == a.root or a.like == b.root or (a.like is not None and a.like == b.like)
    return same_source and bool(a.contiguous or b.contiguous or a.believed or b.believed)


def _own_rows(tensor: TensorFacts, name: str, tensors: list[Addressed]) -> bool:
    """Whether the stride also serves the tensor that it is a stride of."""
    return any(t.tensor.root == tensor.root and name in _factors(t) for t in tensors)
