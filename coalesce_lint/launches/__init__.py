"""Host code: the places that launch kernels, and what they are known to pass for strides and sizes."""
