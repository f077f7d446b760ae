"""Bugs of released kernels, shown in the kernels: delays or a busy neighbour, a reference, and the kernel mended."""
