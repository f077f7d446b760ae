"""Requests to cancel a launch behind an answer that says that there is none (PTX ISA, "clusterlaunchcontrol").

Property: without a problem, every request of a CTA comes before all reads of answers by that CTA that may say no.

Argument: a request that the reader does not know of may be made after the read; all pairs are looked at, once the
schedule is done.

Not covered: answers that only other CTAs of the cluster have read.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from ..model.actions import Protocol, Transfer
from ..model.outcome import Flaw, SharedByte
from ..model.record import Record
from .actor import Actor
from .clock import Clock, Row

_TEXT = "threads may have read by now that an earlier request found no launch to cancel"


@dataclass(frozen=True, slots=True)
class _Step:
    strand: int
    point: int
    number: int
    """Number of the action in its strand, counted from one."""
    clock: Clock
    answer: SharedByte | None = None


@dataclass(slots=True)
class LaunchRequests:
    """Requests, and answers that may say no, in one schedule."""

    protocol: Protocol
    _requests: list[_Step] = field(default_factory=list)
    _refusals: list[_Step] = field(default_factory=list)

    def ask(self, actor: Actor, action: Transfer) -> None:
        """Note a request."""
        answer = SharedByte(action.writes[0].cta, action.writes[0].start)
        self._requests.append(_Step(actor.strand, action.point, actor.number, actor.clock, answer))

    def hear(self, actor: Actor, point: int) -> None:
        """Note a read of an answer that may say no."""
        self._refusals.append(_Step(actor.strand, point, actor.number, actor.clock))

    def check(self, record: Record) -> None:
        """Note requests that may come behind such a read."""
        for refusal in self._refusals:
            mine = [each for each in self._requests if self._cta(each) == self._cta(refusal)]
            late = [each for each in mine if refusal.clock[Row.EXECUTED, each.strand] < each.number]
            if len(late) == len(mine):
                continue  # what is read there was no answer yet
            for request in late:
                record.add(
                    Flaw.ASKED_AFTER_REFUSAL,
                    request.strand,
                    request.point,
                    request.answer,
                    -1,
                    _TEXT,
                    happened=True,
                    related=((refusal.strand, refusal.point),),
                )

    def _cta(self, step: _Step) -> int:
        return self.protocol.strands[step.strand].cta
