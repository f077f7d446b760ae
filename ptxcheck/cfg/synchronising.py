"""Which instructions synchronise threads or asynchronous work."""

from __future__ import annotations

from ..opcodes.spec import Trait

SYNCHRONISING = frozenset({
    Trait.BARRIER, Trait.MBARRIER, Trait.WAIT, Trait.COMMIT, Trait.ASYNC, Trait.FENCE, Trait.COLLECTIVE,
    Trait.ALIGNED, Trait.WARPGROUP, Trait.TENSOR_MEMORY, Trait.ANYTHING,
})  # fmt: skip
"""An instruction with one of these traits belongs to the synchronising skeleton of a kernel."""
