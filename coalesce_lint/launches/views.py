"""Views of tensors: which dimension of the source a dimension of the view is, and what becomes of the order.

A view is a tuple whose head is its kind:

==================  ======================================================================================
("same",)           the same shape and strides (``detach``), or a copy that keeps them (``to(dtype)``)
("swap", i, j)      two dimensions change places
("order", p)        dimension k of the view is dimension p[k] of the source
("new", d)          a new dimension of size 1 at d
("drop", d)         the dimension d is taken away (``squeeze(d)``, ``select(d, n)``)
("items", (...))    subscripts: "all", "part" (a slice without a step), ("step", n), "one", "new", "rest"
("grow", sizes)     ``expand``; a size is a number, or None where it is not one
("part", d)         a stretch of the dimension d (``chunk``, ``split``, ``narrow``)
("reform",)         another shape (``view``, ``reshape``, ``flatten``)
("strides", (...))  strides given as numbers, None where they are not
==================  ======================================================================================
"""

from __future__ import annotations

from typing import Any

#: Where the stride of a dimension comes from: ("dim", k), ("step", k, n), ("value", n) or ("free",).
Source = tuple[Any, ...]


def source_of(view: tuple[Any, ...], k: int, rank: int | None, parent: int | None) -> Source | None:
    """Where the stride of dimension ``k`` comes from; None where that cannot be told.

    ``rank`` and ``parent`` are the numbers of dimensions of the view and of its source, None where they are
    not known; ``k`` may be negative.
    """
    kind = view[0]
    if kind == "same":
        return ("dim", k)
    if kind == "part":
        return ("dim", k)
    if kind == "swap":
        return _swapped(view[1], view[2], k, rank)
    if kind == "order":
        order = view[1]
        return ("dim", order[k]) if -len(order) <= k < len(order) else None
    if kind == "new":
        return _around_new(view[1], k, rank)
    if kind == "drop":
        return _around_dropped(view[1], k, parent)
    if kind == "items":
        return _subscripted(view[1], k, rank, parent)
    if kind == "grow":
        return _grown(view[1], k, parent)
    if kind == "reform":
        return ("dim", -1) if k == -1 or (rank is not None and k == rank - 1) else None
    if kind == "strides":
        given = view[1]
        value = given[k] if -len(given) <= k < len(given) else None
        return ("value", value) if value is not None else None
    return None


def normal(k: int, rank: int | None) -> int:
    """``k`` counted from the end where the rank is known, else as it is."""
    return k - rank if rank is not None and k >= 0 else k


def _swapped(i: int, j: int, k: int, rank: int | None) -> Source | None:
    if rank is None and len({i < 0, j < 0, k < 0}) > 1:
        return None
    i, j, here = (normal(x, rank) for x in (i, j, k))
    return ("dim", j if here == i else i if here == j else here)


def _around_new(d: int, k: int, rank: int | None) -> Source | None:
    if rank is not None:
        d, k = d % rank, k % rank
    elif (d < 0) != (k < 0):
        return None
    if k == d:
        return ("free",)
    if d < 0:
        return ("dim", k if k > d else k + 1)
    return ("dim", k if k < d else k - 1)


def _around_dropped(d: int, k: int, parent: int | None) -> Source | None:
    if parent is not None:
        return ("dim", k + (k >= d % parent) if k >= 0 else k - (k <= d % parent - parent))
    if (d < 0) != (k < 0):
        return ("dim", k) if d == 0 and k == -1 else None
    if d < 0:
        return ("dim", k if k > d else k - 1)
    return ("dim", k if k < d else k + 1)


def _subscripted(items: tuple[Any, ...], k: int, rank: int | None, parent: int | None) -> Source | None:
    if parent is not None:
        items = full(items, parent)
        if k >= 0 and rank is not None:
            k -= rank
        backwards = k < 0
    else:
        backwards = k < 0
        if backwards and "rest" not in items:
            return None
    used = 0  # dimensions of the source that were passed
    left = -1 - k if backwards else k
    for item in reversed(items) if backwards else items:
        if item == "rest":
            return None
        if item == "new":
            if left == 0:
                return ("free",)
            left -= 1
            continue
        here = -1 - used if backwards else used
        used += 1
        if item == "one":
            continue
        if left == 0:
            return ("step", here, item[1]) if isinstance(item, tuple) else ("dim", here)
        left -= 1
    return None if backwards else ("dim", used + left)


def full(items: tuple[Any, ...], rank: int) -> tuple[Any, ...]:
    """Subscripts written out for a source of ``rank`` dimensions."""
    given = sum(i not in ("new", "rest") for i in items)
    rest = ("all",) * max(rank - given, 0)
    if "rest" in items:
        at = items.index("rest")
        return (*items[:at], *rest, *items[at + 1 :])
    return (*items, *rest)


def _grown(sizes: tuple[int | None, ...] | None, k: int, parent: int | None) -> Source | None:
    if sizes is None or not -len(sizes) <= k < len(sizes):
        return ("dim", k) if sizes is None and k < 0 else None
    here = k - len(sizes) if k >= 0 else k
    if parent is not None and here < -parent:
        return ("value", 0)
    return ("dim", here) if sizes[here] == -1 else None


def keeps_order(view: tuple[Any, ...]) -> bool:
    """Whether the view of a contiguous tensor is contiguous for sure."""
    kind = view[0]
    if kind in ("same", "new", "drop", "reform"):
        # taking away a dimension of size 1 keeps the order; select(0, n) is a row
        return kind != "drop" or len(view) == 2 or view[1] == 0
    if kind == "part":
        return bool(view[1] == 0)
    if kind == "order":
        return list(view[1]) == sorted(view[1])
    if kind == "items":
        return broken_by(view[1]) is None and "rest" not in view[1][:-1]
    return False


def broken_by(items: tuple[Any, ...]) -> str | None:
    """What in the subscripts of a contiguous tensor leaves gaps between its elements, None for nothing."""
    behind = False  # a dimension that is more than one element was passed
    for item in items:
        if item == "new":
            continue
        if item == "rest":
            behind = True
        elif isinstance(item, tuple):
            return f"every {item[1]}th element of a dimension" if item[1] != 2 else "every second element"
        elif item == "one":
            if behind:
                return "one index of an inner dimension"
        elif item == "part":
            if behind:
                return "a slice of an inner dimension"
            behind = True
        else:
            behind = True
    return None


def disorder(view: tuple[Any, ...], parent: int | None) -> str | None:
    """Why the view of a contiguous tensor is not contiguous for sure, in words; None where it may be."""
    kind = view[0]
    if kind == "swap":
        return "transposed" if view[1] != view[2] else None
    if kind == "order":
        return None if list(view[1]) == sorted(view[1]) else "permuted"
    if kind == "items":
        return broken_by(view[1])
    if kind == "part":
        return None if view[1] == 0 else f"a part of dimension {view[1]}"
    if kind == "grow" and view[1] is not None and parent is not None and len(view[1]) > parent:
        return "expanded (stride 0)"
    if kind == "drop" and len(view) == 3 and view[1] != 0:
        return f"one index of dimension {view[1]}"
    return None
