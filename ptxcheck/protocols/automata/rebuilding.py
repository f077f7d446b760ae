"""Building a part of an automaton anew when more is known of how its loops are kept.

Property: behind `Rebuilding._undo` everything is as it was at the checkpoint, but for what was learnt.

Argument: what is learnt of a block changes only what threads hold from that block on. Where no thread had come to any
of the blocks that it is about, what was built up to the checkpoint is what would be built again with it.

Not covered: what is learnt of reads of shared memory, which changes which registers matter anywhere.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from ..symex.values.assumptions import Assumptions
from ..symex.values.trace import ThreadSet
from .joins import Come
from .kept_loops import RestartError
from .loop_heads import LoopHeads
from .naming_decider import NamingDecider
from .nodes import Node
from .valuations import Key

_T = TypeVar("_T")
_MOST = 300
"""Parts that are built anew before the whole is."""


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """How much was built."""

    nodes: int
    passed: int
    heads: tuple[int, int]
    assumptions: int
    wanted: int


@dataclass(slots=True)
class Worklist:
    """What is left to do of a region."""

    waiting: list[Come]
    left: list[Come]
    """How threads leave the region."""
    known: dict[tuple[int, ThreadSet, tuple[int, ...], Key], int]
    """The nodes of it."""

    def copy(self) -> Worklist:
        return Worklist([*self.waiting], [*self.left], {**self.known})


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
        checkpoint = self.checkpoint()
        while True:
            try:
                return part()
            except RestartError as error:
                self.count += 1
                if self.count > _MOST or not self._undo(checkpoint, error):
                    raise

    def checkpoint(self) -> Checkpoint:
        return Checkpoint(
            len(self.nodes), len(self.passed), self.heads.counts, self.assumptions.count, self.decider.wanted
        )

    def follow(self, work: Worklist, go_on: Callable[[Worklist], None]) -> list[Come]:
        """Do what is left to do of a region; return how threads leave it. Raises RestartError, NotFollowedError.

        Where something is learnt of loops, the region is built anew from the last loop on the way that it leaves alone.
        """
        saved: dict[int, tuple[Checkpoint, Worklist]] = {}
        while work.waiting:
            block = work.waiting[-1].block
            if self.heads.is_head(block) and block not in saved:
                saved[block] = self.checkpoint(), work.copy()
            try:
                go_on(work)
            except RestartError as error:
                before = self._undo_to_last(saved, error)
                if before is None:
                    raise
                work = before
        return work.left

    def _undo_to_last(
        self, saved: dict[int, tuple[Checkpoint, Worklist]], error: RestartError
    ) -> Worklist | None:
        """Take back what was built since the last checkpoint that what was learnt leaves alone; None if there is none.

        Later ones are forgotten. Returns what was left to do there.
        """
        self.count += 1
        while saved and self.count <= _MOST:
            block, (checkpoint, work) = saved.popitem()
            if self._undo(checkpoint, error):
                saved[block] = checkpoint, work
                return work.copy()
        return None

    def _undo(self, checkpoint: Checkpoint, error: RestartError) -> bool:
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
