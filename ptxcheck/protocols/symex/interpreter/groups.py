"""Threads of a CTA that run together, and the branches at whose joins they meet again.

Property: every thread is in one group, waits at one join, or has ended; from a join go on all threads that came to
it, once the last side of its branch has come or ended.

Argument: a frame counts the sides under way; each arrival or end takes one away, and each split adds those it makes.

Not covered: threads that wait for what others store; `release` lets those at a join go on without them.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from ..values.trace import Side, ThreadSet


@dataclass(slots=True)
class Frame:
    """A branch whose sides are under way: threads wait at the join until all of them have come or ended."""

    join: int
    source: int
    parent: Frame | None
    left: int
    turns: dict[int, int]
    arrived: ThreadSet = 0
    is_outermost: bool = False
    """Nobody goes on from the join."""
    side: Side | None = None
    """The side of an outer branch that the threads were on when they parted."""
    fork: int = 0
    """Number of the parting."""
    has_released: bool = False
    """Some have gone on from the join without others."""

    def side_behind(self) -> Side | None:
        """Return the side that threads are on which go on from the join now."""
        return Side(self.side, -self.fork, self.arrived) if self.has_released else self.side


@dataclass(slots=True)
class Group:
    """Threads that are at the same place: a block, and how many of its steps they have done."""

    block: int
    threads: ThreadSet
    frame: Frame | None
    at: int = 0
    came_from: int = -1
    rounds: int = 0
    turns: dict[int, int] = field(default_factory=dict)
    """How often each loop that they are in has started anew."""
    side: Side | None = None

    @property
    def is_aside(self) -> bool:
        """Tell whether nobody goes on from a join that the threads are to come to."""
        frame = self.frame
        while frame is not None and not frame.is_outermost:
            frame = frame.parent
        return frame is not None

    def move(self, block: int, source: int) -> None:
        """Go to the start of a block."""
        self.block, self.at, self.came_from = block, 0, source
        self.rounds += 1

    def arrive(self, frame: Frame) -> bool:
        """Come to a join; the last side goes on from there, with all threads that came."""
        frame.arrived |= self.threads
        frame.left -= 1
        return self._go_on(frame)

    def end(self) -> bool:
        """End threads; False when nobody goes on from the join that they were to come to."""
        frame = self.frame
        if frame is None:
            return False
        frame.left -= 1
        return self._go_on(frame)

    def _go_on(self, frame: Frame | None) -> bool:
        while frame is not None:
            if frame.left or frame.is_outermost:
                return False
            if frame.arrived:
                self.move(frame.join, frame.source)
                self.threads, self.frame, self.turns = frame.arrived, frame.parent, dict(frame.turns)
                self.side = frame.side_behind()
                return True
            frame = frame.parent
            if frame is not None:
                frame.left -= 1
        return False


def release(groups: list[Group], parked: list[Group]) -> bool:
    """Let threads that wait at a join for others go on without them; False when nobody waits."""
    for group in parked:
        frame = group.frame
        while frame is not None:
            if frame.arrived and not frame.is_outermost:
                early = Group(frame.join, frame.arrived, frame.parent)
                frame.has_released = True
                early.came_from, early.turns, early.side = (
                    frame.source,
                    dict(frame.turns),
                    frame.side_behind(),
                )
                frame.arrived = 0
                if frame.parent is not None:
                    frame.parent.left += 1
                groups.append(early)
                return True
            frame = frame.parent
    return False
