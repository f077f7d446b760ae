"""Ordinary kernels of a block: correct ones from PyPI packages, and what is said of them and of their mutants."""
