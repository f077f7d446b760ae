"""ptxcheck: a static verifier and linter for PTX and CUDA kernels."""

__version__ = "0.1.0"
