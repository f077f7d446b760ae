"""Descriptors that matrix instructions read: operands in shared memory, shapes and types."""
