"""Stores of several threads to the same bytes by one instruction: which value stays is open, unless it is one.

Released kernels let all threads that know a value store it. That it is one is seen where no register of the store
depends on the thread; elsewhere it is taken for granted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

import numpy as np

from ...cfg.cfg import Cfg
from ...cfg.uniform import Uniformity
from ...ir import Register, registers_of
from ...opcodes.op import Op
from ..model.outcome import Flaw, Problem
from ..symex.values.register_file import lanes_of
from ..symex.values.symbol import Form
from ..symex.values.trace import Event, Trace

_WARP = 32
Uniform = Callable[[int], Uniformity]
"""Returns the largest groups of threads that store one value at a point."""


def uniform_stores(cfg: Cfg, level: Callable[[int, Register], Uniformity]) -> Uniform:
    """Return how alike what threads store is, by what tells it of a register at a point; GRID for numbers alone."""

    def found(point: int) -> Uniformity:
        value = cfg.instructions[point].operands[-1]
        return max(
            (max(level(point, each), Uniformity.CTA) for each in registers_of(value)), default=Uniformity.GRID
        )

    return found


def stored_together(cfg: Cfg, trace: Trace, uniform: Uniform, done: set[int]) -> Iterator[int]:
    """Yield points at which threads store to the same bytes what may differ: the first time, and none that are done."""
    for event in trace.events:
        if (
            event.access is None
            or event.point in done
            or cfg.instructions[event.point].operation.op is not Op.ST
        ):
            continue
        done.add(event.point)
        level = _shared_by(event, trace.shape.threads)
        if level is not None and uniform(event.point) > level:
            yield event.point


def _shared_by(event: Event, threads: int) -> Uniformity | None:
    """Return which threads store to the same place, None when each has a place of its own, or that is not known."""
    access = event.access
    assert access is not None
    if access.address is None or isinstance(access.address, Form) or not access.certain:
        return None
    own = np.flatnonzero(lanes_of(event.threads, threads))
    places = np.broadcast_to(np.asarray(access.address, dtype=np.uint64), threads)[own]
    if len(np.unique(places)) == len(places):
        return None
    named = np.stack([places, (own // _WARP).astype(np.uint64)])
    by_warps = len(np.unique(named, axis=1).T) > len(np.unique(places))
    return Uniformity.CTA if by_warps else Uniformity.WARP


def collisions(cfg: Cfg, problems: Iterable[Problem], uniform: Uniform) -> Iterator[int]:
    """Yield points of stores of several warps to the same bytes, by one instruction, of values that may differ.

    In a loop, warps may be in different rounds, and what they agree about in each round may be another number.
    """
    for problem in problems:
        same = problem.point >= 0 and any(point == problem.point for _, point in problem.related)
        if problem.flaw is Flaw.WRITES_COLLIDE and same:
            level = uniform(problem.point)
            is_in_loop = bool(cfg.loops_around(cfg.graph.block_of[problem.point]))
            if level > Uniformity.CTA or (is_in_loop and level > Uniformity.GRID):
                yield problem.point
