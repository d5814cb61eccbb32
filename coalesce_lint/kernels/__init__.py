"""Reading kernels: from Python source to the accesses of each kernel. Nothing here is imported or run."""
