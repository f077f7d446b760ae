"""Branches over barriers: can two threads of a block take them differently?

Property: a branch in the first result of `agreement` is taken alike by all threads of a block that come to it in one
round of the loops that meet.

Argument: by induction over the barriers that a run has passed: up to the first branch that is taken differently, all
threads have passed the same ones, so the loops that meet are in the same round.

Not covered: threads that end: they are no longer waited for.
"""

from __future__ import annotations

from dataclasses import dataclass

from ...cfg import Uniformity
from ...terms.bitvectors import Bits, Numbers
from .intervals import Interval
from .kernel import Kernel
from .meetings import Meetings
from .mirrored import two_threads
from .questions import UndecidedError
from .thread_terms import ThreadTerms


@dataclass(frozen=True, slots=True)
class Disagreement:
    """A branch over a barrier that two threads may take differently."""

    barrier: int
    point: int
    numbers: Numbers
    claims: tuple[Bits, ...]
    threads: tuple[ThreadTerms, ThreadTerms]


def agreement(kernel: Kernel) -> tuple[frozenset[int], tuple[Disagreement, ...]]:
    """Return the branches over barriers that all threads take alike, and the others."""
    agreed: set[int] = set()
    dividers = Meetings(kernel.facts, Uniformity.CTA).dividers
    branches = {each.branch: each.barrier for each in reversed(dividers)}
    assumed = Meetings(kernel.facts, Uniformity.CTA, frozenset(branches))
    found: list[Disagreement] = []
    for branch, barrier in sorted(branches.items()):
        disagreement = _asked(kernel, assumed, branch, barrier)
        if disagreement is None:
            agreed.add(branch)
        else:
            found.append(disagreement)
    return frozenset(agreed), tuple(found)


def _asked(kernel: Kernel, meetings: Meetings, branch: int, barrier: int) -> Disagreement | None:
    pool = kernel.pool
    one, two = threads = two_threads(kernel, Uniformity.CTA)
    context = Interval(kernel, meetings, None).around(branch)
    ways = [edge for edge in kernel.cfg.edges_from(branch) if edge.guard is not None][:1]
    differs = pool.true
    for edge in ways:
        differs = pool.xor(one.taken(edge, context), two.taken(edge, context))
    geometry = kernel.geometry
    claims = (
        differs, one.arrives(branch, context), two.arrives(branch, context),
        geometry.claims(pool, one.index), geometry.claims(pool, two.index),
        pool.not_(pool.eq(one.index.number, two.index.number)),
    )  # fmt: skip
    try:
        numbers = kernel.questions.numbers(claims)
    except UndecidedError:
        numbers = {}
    if numbers is None:
        return None
    return Disagreement(barrier, kernel.cfg.blocks[branch].last, numbers, claims, threads)
