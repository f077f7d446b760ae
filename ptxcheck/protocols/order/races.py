"""What is wrong between two conflicting accesses of shared memory, by what the later one knows of the earlier one.

Property: `Races.race` returns None only where the later of two accesses comes after the earlier one in every
schedule, and sees what it wrote.

Argument: what a strand knows is in its clock (`clock`). Read or write after a write: the write is visible; a generic
write before an access through the async proxy needs a proxy fence by the strand that wrote, before what publishes it; a
write through the async proxy is visible with its completion. Write after a read: the read is over. Ordinary accesses
of two CTAs want a release of cluster scope as well.

Not covered: what hardware orders and the PTX ISA does not (`hardware_order`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from ..model.actions import Access, Protocol, Proxy, Transfer
from ..model.axiom import Axiom
from ..model.outcome import Flaw
from .clock import Component, Row
from .conflicts import Column, Pairs, Touch, Truths


@dataclass(frozen=True, slots=True)
class Race:
    """What is wrong between two touches."""

    flaw: Flaw
    detail: str
    axiom: Axiom | None = None
    """What removes it under the profile of the hardware."""


class Races:
    """Judges pairs of accesses of one protocol."""

    def __init__(self, protocol: Protocol, shared_work: Mapping[Component, Component] | None = None) -> None:
        """`shared_work`: for components of work that a warpgroup does together, those that waits of any warp raise."""
        self._protocol = protocol
        self._shared_work = shared_work or {}
        self._ctas = np.array([strand.cta for strand in protocol.strands], dtype=np.int64)

    def among(self, pairs: Pairs) -> Truths:
        """Tell which pairs are races: those for which `race` says what is wrong."""
        over = pairs.of_earlier(Column.OVER)
        executed, visible, fenced, crossed, wide = (
            pairs.known(Row.EXECUTED, Row.VISIBLE, Row.FENCED, Row.CROSSED, Row.WIDE) >= over
        )
        first, then = pairs.of_earlier(Column.STRAND), pairs.of_later(Column.STRAND)
        apart = self._ctas[first] != self._ctas[then]
        was_asynchronous = pairs.of_earlier(Column.COMPONENT) != first
        is_asynchronous = pairs.of_later(Column.COMPONENT) != then
        crosses = pairs.of_earlier(Column.PROXY) < pairs.of_later(Column.PROXY)
        unfenced = ~fenced & ~(crossed & was_asynchronous)
        after_write = ~visible | (crosses & unfenced) | (~was_asynchronous & ~is_asynchronous & apart & ~wide)
        after_read = ~executed | (crosses & ~was_asynchronous & ~fenced & ~crossed)
        found: Truths = np.where(pairs.of_earlier(Column.WRITES) != 0, after_write, after_read)
        return found

    def race(self, earlier: Touch, later: Touch) -> Race | None:
        """Return what is wrong between two conflicting touches, or None."""
        return _judge(earlier, later) or self._judge_scope(earlier, later)

    def store_different(self, earlier: Touch, later: Touch) -> bool:
        """Tell whether threads surely store different numbers to one place by one instruction."""
        if earlier.point != later.point or not (earlier.writes and later.writes):
            return False
        one, other = (self._protocol.strands[each.strand].actions[each.index] for each in (earlier, later))
        if not isinstance(one, Access) or not isinstance(other, Access):
            return False
        if one.is_relative and not self._is_one_event(earlier, later):
            return False
        numbers = dict(one.stored)
        return any(numbers.get(place, number) != number for place, number in other.stored)

    def copy_the_same(self, earlier: Touch, later: Touch) -> bool:
        """Tell whether threads surely copy from one place each to what they both write, by one `cp.async`."""
        if earlier.point != later.point or not self._is_one_event(earlier, later):
            return False
        one, other = (self._protocol.strands[each.strand].actions[each.index] for each in (earlier, later))
        if (
            not isinstance(one, Transfer)
            or not isinstance(other, Transfer)
            or not (one.copied and other.copied)
        ):
            return False
        sources: dict[int, set[int]] = {}
        for place, source in (*one.copied, *other.copied):
            sources.setdefault(place, set()).add(source)
        return all(len(each) == 1 for each in sources.values())

    def _is_one_event(self, earlier: Touch, later: Touch) -> bool:
        """Tell whether threads of one CTA come to two accesses together, in one round."""
        own, other = self._protocol.strands[earlier.strand], self._protocol.strands[later.strand]
        are_known = own.cta == other.cta and own.events and other.events
        return bool(are_known) and own.events[earlier.index] == other.events[later.index]

    def is_waited_for_by_team(self, earlier: Touch, later: Touch) -> bool:
        """Tell whether another warp of the warpgroup that reads has waited for its own part of the same work."""
        work = self._shared_work.get(earlier.component)
        return work is not None and bool(later.clock[Row.EXECUTED, work] >= earlier.over)

    def _judge_scope(self, earlier: Touch, later: Touch) -> Race | None:
        """Return what is wrong with ordinary accesses of two CTAs that releases of CTA scope order."""
        both = not earlier.is_asynchronous and not later.is_asynchronous and earlier.writes
        strands = self._protocol.strands
        if not both or strands[earlier.strand].cta == strands[later.strand].cta:
            return None
        if later.clock[Row.WIDE, earlier.component] >= earlier.over:
            return None
        kind = "write" if later.writes else "read"
        flaw = Flaw.WRITES_COLLIDE if later.writes else Flaw.READ_TOO_EARLY
        text = f"an earlier write of the same bytes is published to its own CTA only, and this {kind} is in another"
        return Race(flaw, text)


def _judge(earlier: Touch, later: Touch) -> Race | None:
    """Return what is wrong between two conflicting touches, or None."""
    clock, place = later.clock, earlier.component
    if not earlier.writes:
        return _judge_overwrite(earlier, later)
    if clock[Row.VISIBLE, place] < earlier.over:
        return _judge_hidden(earlier, later)
    if (
        earlier.proxy is Proxy.ASYNC
        or later.proxy is Proxy.GENERIC
        or clock[Row.FENCED, place] >= earlier.over
    ):
        return None
    if clock[Row.CROSSED, place] < earlier.over:
        text = "no proxy fence lies between a generic write and"
    elif earlier.is_asynchronous:
        return None
    else:
        text = "the proxy fence is not on the side of the thread that wrote these bytes, before"
    kind = "write" if later.writes else "read"
    detail = f"{text} this {kind} of the same bytes through the async proxy"
    return Race(Flaw.MISSING_PROXY_FENCE, detail)


def _judge_overwrite(earlier: Touch, later: Touch) -> Race | None:
    clock, place = later.clock, earlier.component
    if clock[Row.EXECUTED, place] < earlier.over:
        what = "asynchronous read" if earlier.is_asynchronous else "read"
        return Race(Flaw.OVERWRITE, f"nothing orders this write after an earlier {what} of the same bytes")
    crosses = earlier.proxy is Proxy.GENERIC and later.proxy is Proxy.ASYNC and not earlier.is_asynchronous
    if not crosses or max(clock[Row.FENCED, place], clock[Row.CROSSED, place]) >= earlier.over:
        return None
    text = "no proxy fence lies between an ordinary read and this write of the same bytes through the async proxy"
    return Race(Flaw.MISSING_PROXY_FENCE, text)


def _judge_hidden(earlier: Touch, later: Touch) -> Race:
    kind = "write" if later.writes else "read"
    flaw = Flaw.WRITES_COLLIDE if later.writes else Flaw.READ_TOO_EARLY
    what = "asynchronous write" if earlier.is_asynchronous else "write"
    if later.clock[Row.EXECUTED, earlier.component] >= earlier.over:
        text = f"an earlier {what} of the same bytes is not made visible to this {kind}"
    else:
        text = f"nothing orders this {kind} after an earlier {what} of the same bytes"
    return Race(flaw, text)
