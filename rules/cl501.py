"""
Offset arithmetic in 32 bits that can pass 2**31.

## What it does
Reports a product in the address of an access whose operands are all 32 bits wide: a loaded index (a page
id, a row number, an expert) times a step, or an index made of a program id times a runtime stride. Off
where an operand was cast to int64, however early: on the loaded value, on the program id, on the index.

One finding a kernel is made for the products with loaded indices (a warning). Those with program ids (info:
whether they overflow depends on the size of the tensor alone) and those with sizes and constexprs are told
only where the rule is selected by its code. Silent for a stride that every launch
in the checked files passes as 1 or as another small number, for an index that is known to be loaded from an
int64 tensor, and for products that stay small:

- into tensors of indices, such as block tables and token ids: what is loaded from them places other accesses,
  a launch passes integers, or the pointer's name says so;
- of a program id into one number for each program, and into scales and log-sum-exps by name;
- of a program id alone, or by a stride between heads, where the same address has the stride of an outer
  dimension: heads lie within the row of their token. Dimensions are known from launches, else strides named
  so count in the order of the parameters;
- of the number of a sequence (lengths are loaded with it), where the access has one row for each.

## Why is this bad
The product wraps around at 2**31 elements, 4 GiB of fp16. The address is then below the tensor: an illegal
access at best, wrong numbers at worst, and only for inputs that no test has. KV caches, gathered expert
weights and long sequences reach this size.

## Example
```python
import triton
import triton.language as tl


@triton.jit
def read_pages(pages_ptr, kv_ptr, out_ptr, stride_page, T: tl.constexpr, D: tl.constexpr):
    t = tl.arange(0, T)
    d = tl.arange(0, D)
    page = tl.load(pages_ptr + t)
    kv = tl.load(kv_ptr + page[:, None] * stride_page + d[None, :])
    tl.store(out_ptr + t[:, None] * D + d[None, :], kv)
```

## Use instead
```python
import triton
import triton.language as tl


@triton.jit
def read_pages(pages_ptr, kv_ptr, out_ptr, stride_page, T: tl.constexpr, D: tl.constexpr):
    t = tl.arange(0, T)
    d = tl.arange(0, D)
    page = tl.load(pages_ptr + t).to(tl.int64)
    kv = tl.load(kv_ptr + page[:, None] * stride_page + d[None, :])
    tl.store(out_ptr + t[:, None] * D + d[None, :], kv)
```

## How to fix
Cast the index before it is multiplied: `tl.program_id(0).to(tl.int64)`, `tl.load(...).to(tl.int64)`. One wide
operand is enough. The lanes' own offsets can stay narrow.

## Evidence
Public bug reports: illegal accesses above some 7,700 pages of a KV cache, wrong results from token 99,866
on at 56 heads of 128.
"""

import re
from collections.abc import Iterable

from coalesce_lint.access import Access, Kernel
from coalesce_lint.advice import operation
from coalesce_lint.findings import Finding, Rule
from coalesce_lint.launches.pitches import STRIDE_NAME
from coalesce_lint.overflow import Product, products
from coalesce_lint.small_products import SmallProducts

#: A parameter of such a name is an index or a count, not a step.
_INDEX_NAME = re.compile(r"(?i)(^|_)(idx|index|ids?|pid|offs?|offset|start|num|n|size|len|head|expert)(_|$)")
#: Products that are named in one finding.
NAMED = 3


class NarrowProduct(Rule):
    code = "CL501"
    name = "narrow-product"
    summary = "offset arithmetic in 32 bits that can pass 2**31"

    def check_kernel(self, kernel: Kernel) -> Iterable[Finding]:
        found: dict[tuple[str, bool], list[tuple[Access, Product]]] = {}
        small = SmallProducts(kernel)
        for access in kernel.accesses:
            for product in products(access):
                if not _harmless(product, kernel) and not small.stays_small(access, product):
                    found.setdefault((product.kind, not _is_stride(product, kernel)), []).append(
                        (access, product)
                    )
        for (kind, fixed), pairs in found.items():
            yield self._finding(kind, fixed, pairs)

    def _finding(self, kind: str, fixed: bool, pairs: list[tuple[Access, Product]]) -> Finding:
        access, first = pairs[0]
        texts = list(dict.fromkeys(p.factor for _, p in pairs if p.index == first.index))
        more = f" and {len(texts) - NAMED} more" if len(texts) > NAMED else ""
        others = list({a.place.line: a for a, _ in pairs[1:] if a.place != access.place}.values())
        message = (
            f"{operation(access)} of {access.pointer} multiplies {first.index} by "
            f"{', '.join(texts[:NAMED])}{more} "
            f"in 32 bits: the offset wraps around at 2**31 elements; cast the index to tl.int64 first"
        )
        related = [(a.place, "another such product") for a in others[:NAMED]]
        loaded = kind == "loaded"
        severity = "warning" if loaded else "info"
        # of program ids times strides few that were read in public code can overflow with tensors in use
        optional = fixed or not loaded
        return self.finding(
            access, message, severity=severity, confidence="assumed", related=related, optional=optional
        )


def _is_stride(product: Product, kernel: Kernel) -> bool:
    """Whether the factor is a stride that the launch passes; sizes and constexprs are told on request."""
    name = product.runtime
    if name is None:
        return False
    passed = [p for launch in kernel.launches if (p := launch.arguments.get(name)) is not None]
    if STRIDE_NAME.search(name) or any(p.kind == "stride" for p in passed):
        return True
    return not passed and name not in kernel.sizes and not _INDEX_NAME.search(name)


def _harmless(product: Product, kernel: Kernel) -> bool:
    """Whether the launches say that the product stays small."""
    if product.scaled and not STRIDE_NAME.search(product.factor):
        return True  # an index into a dimension: what it is multiplied with further tells
    if product.pointer and kernel.launches and all(_is_wide(x, product.pointer) for x in kernel.launches):
        return True
    if product.runtime is None:
        return False
    passed = [launch.arguments.get(product.runtime) for launch in kernel.launches]
    return bool(passed) and all(
        p is not None and (p.stride.one or p.stride.value is not None) for p in passed
    )


def _is_wide(launch: object, pointer: str) -> bool:
    passed = launch.arguments.get(pointer)  # type: ignore[attr-defined]
    return bool(passed is not None and passed.tensor is not None and passed.tensor.dtype == "int64")
