"""Litmus tests: for each axiom of the hardware profile and each ordering rule, kernels that look for weak outcomes."""
