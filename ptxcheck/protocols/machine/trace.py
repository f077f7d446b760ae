"""What the SIMT machine records: synchronising instructions with their operands, in program order per thread."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ...launch import Dim
from .symbol import Condition, Form, Lanes, Value

ThreadSet = int
"""Threads of a CTA as the bits of an integer."""

SHARED_WINDOW = 1 << 56
"""Generic address of shared memory; CTA ranks stand in bits 24 and up of a shared address."""
PARAM_WINDOW = 1 << 57
RANK_SHIFT = 24
OFFSET_MASK = (1 << RANK_SHIFT) - 1


class NotFollowedError(Exception):
    """The machine cannot go on: why, and at which point. The verdict becomes `unknown`."""

    def __init__(self, reason: str, point: int) -> None:
        super().__init__(reason)
        self.reason = reason
        self.point = point


@dataclass(frozen=True, slots=True)
class Shape:
    """The launch that a run is for."""

    block: Dim
    cluster: Dim = (1, 1, 1)

    @property
    def threads(self) -> int:
        return self.block[0] * self.block[1] * self.block[2]

    @property
    def ctas(self) -> int:
        return self.cluster[0] * self.cluster[1] * self.cluster[2]


@dataclass(frozen=True, slots=True, eq=False)
class Event:
    """One synchronising instruction, executed together by `threads`."""

    index: int
    point: int
    threads: ThreadSet
    operands: Mapping[str, Value]
    guard: ThreadSet


@dataclass(frozen=True, slots=True)
class Assumption:
    """A named approximation of a run: a verdict that rests on one says so."""

    kind: str
    text: str
    point: int


@dataclass(frozen=True, slots=True)
class Trace:
    """One run of one CTA of a cluster: its events in an order that is program order for every thread."""

    rank: int
    shape: Shape
    events: tuple[Event, ...]
    path: tuple[tuple[Condition, bool], ...]
    assumptions: tuple[Assumption, ...]


__all__ = [
    "OFFSET_MASK",
    "PARAM_WINDOW",
    "RANK_SHIFT",
    "SHARED_WINDOW",
    "Assumption",
    "Event",
    "Form",
    "Lanes",
    "NotFollowedError",
    "Shape",
    "ThreadSet",
    "Trace",
]
