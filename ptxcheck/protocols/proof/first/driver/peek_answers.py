"""Answers to polls that are not repeated: runs in which they fail, where they may and where they have to.

A run takes one answer only. That such a poll succeeds leaves out the wait that follows it otherwise, so runs are made
again in which more and more of them fail.

Where all of them succeed, or all fail that may, a thread that goes by the answer to another poll waits in time: it has
asked for the right phase besides, or waits for it. So runs are made in which some of them fail that may, one after the
other has succeeded.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from collections.abc import Set as AbstractSet
from typing import TypeAlias

from ....contract.first.attempt import Attempt
from ....model.outcome import Flaw
from ....symex.values.trace import Peek
from ...coalesced_accesses import without_accesses
from ...open_waits import open_waits
from .single_run import Failing

_MOST_ANSWERS = 6
"""Most times that a run is made again because a poll hangs that is not repeated; the last time all of them fail."""
_TURNS = ((0, 1), (0, 0), (1, 1))
"""Which bit of its number tells that a poll fails, and how: every other one, or two of four."""

Again: TypeAlias = Callable[[Failing | None], Attempt]
"""Makes a run again in which some polls fail; None: all."""


class PeekAnswers:
    """Finds the polls at some points that have to fail, or may. For a probe, all that hang fail at once."""

    def __init__(self, points: AbstractSet[int], *, is_probe: bool) -> None:
        self._points = points
        self._is_probe = is_probe

    def settled(self, attempt: Attempt, again: Again) -> tuple[Attempt, set[tuple[int, Peek]]]:
        """Return a run in which no poll hangs, if there is one, and which polls fail in it."""
        failing: set[tuple[int, Peek]] = set()
        most = 1 if self._is_probe else _MOST_ANSWERS
        for left in reversed(range(most)):
            hung = self.hung(attempt)
            if not hung:
                break
            failing |= hung
            attempt = again(failing if left else None)
        return attempt, failing

    def refused(self, attempt: Attempt, failing: set[tuple[int, Peek]], again: Again) -> Iterator[Attempt]:
        """Yield runs in which also those polls fail that may, or have to then; `failing` grows by them."""
        for _ in range(_MOST_ANSWERS):
            fresh = self._open(attempt)
            if fresh <= failing:
                return
            failing |= fresh
            attempt, hung = self._settled_together(frozenset(failing), again)
            failing |= hung
            yield attempt

    def mixed(self, attempt: Attempt) -> Iterator[set[tuple[int, Peek]]]:
        """Yield polls that may fail where all others of a run succeed: those at one point, and by their turns."""
        opened = self._open(attempt)
        points = sorted({peek[0] for _, peek in opened})
        seen = [set[tuple[int, Peek]](), opened]
        for chosen in (
            *({each for each in opened if each[1][2] >> bit & 1 == is_set} for bit, is_set in _TURNS),
            *({each for each in opened if each[1][0] == point} for point in points),
        ):
            if chosen not in seen:
                seen.append(chosen)
                yield chosen

    def answered(self, fails: Failing, again: Again) -> Attempt:
        """Return a run in which some polls fail, and those that have to then."""
        attempt, _ = self._settled_together(fails, again)
        return attempt

    def _settled_together(self, fails: Failing, again: Again) -> tuple[Attempt, Failing]:
        """Return a run in which some polls fail, and those that have to then: one that hangs does so in all warps."""
        attempt = again(fails)
        for left in reversed(range(_MOST_ANSWERS)):
            hung = {(cta, peek[0], peek[2]) for cta, peek in self.hung(attempt)}
            if not hung:
                break
            found = ((cta, peek) for cta, trace in enumerate(attempt.traces) for peek in trace.peeks.values())
            fails |= {(cta, peek) for cta, peek in found if (cta, peek[0], peek[2]) in hung}
            attempt = again(fails if left else None)
        return attempt, fails

    def _open(self, attempt: Attempt) -> set[tuple[int, Peek]]:
        """Return the CTA and name of polls that may fail in a run."""
        return {
            (cta, attempt.traces[cta].peeks[event])
            for cta, event in open_waits(attempt.protocol, self._points)
            if event in attempt.traces[cta].peeks
        }

    def hung(self, attempt: Attempt) -> set[tuple[int, Peek]]:
        """Return the CTA and name of polls that hang in a run when they are taken for waits."""
        found: set[tuple[int, Peek]] = set()
        judged = without_accesses(attempt.protocol) if self._is_probe else attempt.protocol
        for problem in attempt.outcome.problems:
            if problem.flaw is Flaw.DEADLOCK and problem.point in self._points:
                strand = judged.strands[problem.strand]
                done = [s.index for s in problem.schedule if s.strand == problem.strand and not s.completes]
                peek = attempt.traces[strand.cta].peeks.get(strand.events[max(done, default=-1) + 1])
                if peek is not None:
                    found.add((strand.cta, peek))
        return found
