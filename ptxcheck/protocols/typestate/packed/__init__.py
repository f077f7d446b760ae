"""Words that code packs out of pieces: descriptors, followed bit by bit through shifts, masks and sums."""

from __future__ import annotations

from .follow import Follower
from .word import (
    Piece,
    Segment,
    Sum,
    Word,
)

__all__ = ["Follower", "Piece", "Segment", "Sum", "Word"]
