"""Mutants of the synchronisation of kernels, and what the verifier says of each."""
