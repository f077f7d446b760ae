"""From races and divergent barriers of kernels without asynchronous work to hits."""

from __future__ import annotations

from collections.abc import Callable

from ..explain.races import ordinary_kernel
from ..protocols.races.judgement import may_meet
from ..protocols.races.witness import Race
from .rule import Confidence, Hit, Hits, KernelView

_OTHER = "the other access"
_MOST_OTHERS = 3


def races(*, of_one_instruction: bool) -> Callable[[KernelView], Hits]:
    """Return a check for races between two instructions, or of one with itself; what may be one is `possible`."""

    def check(view: KernelView) -> Hits:
        ordinary = view.get(ordinary_kernel)
        if ordinary is None:
            return
        told: dict[int, list[Race]] = {}
        for race in ordinary.judgement.races:
            if (race.points[0] == race.points[1]) is of_one_instruction:
                told.setdefault(race.points[0], []).append(race)
        for here, found in told.items():
            others = [] if of_one_instruction else found[:_MOST_OTHERS]
            related = tuple(
                (each.points[1], f"thread {each.written_threads[1]}: {_OTHER}") for each in others
            )
            yield Hit(here, found[0].message, related, is_of_block=True)
        for race in ordinary.judgement.with_some_data:
            here, other = race.points
            if (here == other) is of_one_instruction:
                related = () if here == other else ((other, f"thread {race.written_threads[1]}: {_OTHER}"),)
                yield Hit(here, race.message, related, Confidence.POSSIBLE)
        for pair in ordinary.judgement.left:
            other, here = pair.points
            if (here == other) is of_one_instruction:
                yield Hit(
                    here, may_meet(pair), () if here == other else ((other, _OTHER),), Confidence.POSSIBLE
                )

    return check


def lanes_in_step(view: KernelView) -> Hits:
    """Yield accesses that only the running in step of a warp, or equal values, keep from racing."""
    ordinary = view.get(ordinary_kernel)
    for pair in () if ordinary is None else ordinary.judgement.in_step:
        other, here = pair.points
        message = "only lanes of a warp that run in step keep this apart from an access of another lane"
        yield Hit(here, message, ((other, _OTHER),))
    for pair in () if ordinary is None else ordinary.judgement.same_value:
        yield Hit(pair.points[0], "threads store to the same bytes here, and nothing shows one value")


def divergence(view: KernelView) -> Hits:
    """Yield barriers of the block at which threads wait for others that never come."""
    ordinary = view.get(ordinary_kernel)
    for found in () if ordinary is None else ordinary.judgement.divergences:
        here, other = found.points
        related = (
            (found.branch, "the threads part here"),
            (other, f"thread {found.written_threads[1]} waits here"),
        )
        yield Hit(here, found.message, related, is_of_block=True)


def absent_sources(view: KernelView) -> Hits:
    """Yield shuffles that read from lanes which have left the loop."""
    ordinary = view.get(ordinary_kernel)
    for found in () if ordinary is None else ordinary.judgement.absent:
        related = ((found.branch, "lanes leave the loop here, in different rounds"),)
        yield Hit(found.point, found.message, related, is_of_block=True)
