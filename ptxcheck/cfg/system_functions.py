"""Functions of the CUDA device runtime: they synchronise no threads and leave shared memory alone.

Every program may call them without a body for them (PTX interoperability guide, "System Calls").
"""

from __future__ import annotations

ABORTING = frozenset({"__assertfail", "__trap"})
"""They do not return: the grid is aborted, as by `trap` (CUDA C++ Programming Guide, "Assertion")."""
SYSTEM_FUNCTIONS = frozenset({"vprintf", "malloc", "free"}) | ABORTING
