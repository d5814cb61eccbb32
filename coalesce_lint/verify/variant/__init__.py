"""The stride-1 variant of a kernel: the algebra of the permutation, the rewrite of the source, no torch or
triton."""
