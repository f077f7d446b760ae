"""What somebody knows of landmarks, in eight senses at once, as the bits of one number.

Property: a *knowledge* is a number. Bit `row * width + n` says that landmark n is known in the sense of a `Row`: that
the last event of this landmark happened before, that its accesses are visible, and so on.

Argument: of two events of one landmark, the later one knows the earlier (each landmark belongs to one strand, or to
one barrier whose completions follow each other), so that who knows the later one knows both. When the later one
happens, nobody but its own strand knows it: the bits are cleared everywhere and set there. Joining what two sides
know is `|`.

Not covered: who knew an earlier event of a landmark is forgotten with the next one. That is less than was known,
never more."""

from __future__ import annotations

from typing import TypeAlias

from ..order.clock import Row

Bits: TypeAlias = int
"""A set of landmarks."""
Knowledge: TypeAlias = int
"""Landmarks known, in all rows."""
EXECUTED, VISIBLE, FENCED, CROSSED, INITIALISED, IN_ORDER, RELEASED, WIDE = map(int, Row)
AWAITED_BY_TEAM = INITIALISED
"""For reads by `wgmma`: another warp of the warpgroup has waited for its own. Nothing else uses this row for them."""


class Rows:
    """Masks of knowledge of so many landmarks."""

    def __init__(self, width: int) -> None:
        self.width = width
        self.all: Bits = (1 << width) - 1
        """All landmarks; as a knowledge: all of them executed."""
        self.every = sum(1 << row * width for row in range(len(Row)))
        """Times some landmarks: these, in all rows."""
        self.complete = sum(1 << row * width for row in (EXECUTED, VISIBLE))
        """Times some landmarks: these, as they are known when work that a group waits for is complete."""
        self.memory: Knowledge = self.all * (self.every - 1)
        """All rows but the first."""
        self.narrow: Knowledge = self.memory & ~(self.all << WIDE * width)
        self.of_cluster: Knowledge = self.all << RELEASED * width | self.all << WIDE * width
        """What releases of cluster scope publish."""
        self.in_order: Knowledge = self.all | self.all << IN_ORDER * width
        """What happened, and what is in order of that."""
        self._doublings = tuple(width << n for n in range((len(Row) - 1).bit_length()))
        self.at = tuple(row * width for row in range(len(Row)))
        """Where each row begins."""

    def in_all(self, landmarks: Bits) -> Knowledge:
        """Return some landmarks in all rows: `landmarks * every`, without a product of large numbers."""
        for distance in self._doublings:
            landmarks |= landmarks << distance
        return landmarks

    def of(self, knowledge: Knowledge, row: int) -> Bits:
        """Return the landmarks that are known in a row."""
        return knowledge >> self.at[row] & self.all
