"""coalesce-lint: which memory accesses of a Triton kernel are strided, by what, and what to do about it."""

__version__ = "0.1.0"
