"""Output formats: each module turns findings or kernels into text, and knows nothing of source code."""
