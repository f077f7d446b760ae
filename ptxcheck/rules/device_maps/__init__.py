"""Rules on tensor maps that kernels make, and on maps that host and kernel have to agree about."""
