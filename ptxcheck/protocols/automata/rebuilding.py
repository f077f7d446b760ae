"""Building a part of an automaton anew when more is known of how its loops are kept.

Property: behind `Rebuilding.undo` everything is as it was at the checkpoint, but for what was learnt.

Argument: what is learnt of a block changes only what threads hold from that block on. Where no thread had come to any
of the blocks that it is about, what was built up to the checkpoint is what would be built again with it.

Not covered: what is learnt of reads of shared memory, which changes which registers matter anywhere.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from ..symex.values.assumptions import Assumptions
from .kept_loops import RestartError
from .loop_heads import LoopHeads
from .naming_decider import NamingDecider
from .nodes import Node

_T = TypeVar("_T")
_MOST = 300
"""Parts that are built anew before the whole is."""


@dataclass(frozen=True, slots=True)
class _Checkpoint:
    nodes: int
    passed: int
    heads: tuple[int, int]
    assumptions: int
    wanted: int


@dataclass(slots=True)
class Rebuilding:
    """What one builder can take back."""

    nodes: list[Node]
    passed: list[int]
    """Heads of loops that threads came to, in order."""
    heads: LoopHeads
    assumptions: Assumptions
    decider: NamingDecider
    count: int = 0
    """How often a part was built anew."""

    def build(self, part: Callable[[], _T]) -> _T:
        """Build a part, again as long as that learns only of blocks in it. Raises RestartError, NotFollowedError."""
        checkpoint = self._checkpoint()
        while True:
            try:
                return part()
            except RestartError as error:
                self.count += 1
                if self.count > _MOST or not self._undo(checkpoint, error):
                    raise

    def _checkpoint(self) -> _Checkpoint:
        return _Checkpoint(
            len(self.nodes), len(self.passed), self.heads.counts, self.assumptions.count, self.decider.wanted
        )

    def _undo(self, checkpoint: _Checkpoint, error: RestartError) -> bool:
        """Take back what was built since a checkpoint; False where what was learnt concerns what is older."""
        older = self.nodes[: checkpoint.nodes]
        if error.blocks is None or any(node.block in error.blocks for node in older):
            return False
        del self.nodes[checkpoint.nodes :]
        del self.passed[checkpoint.passed :]
        self.heads.forget_since(checkpoint.heads)
        self.assumptions.forget_since(checkpoint.assumptions)
        self.decider.wanted = checkpoint.wanted
        return True
