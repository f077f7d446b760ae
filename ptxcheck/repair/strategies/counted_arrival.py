"""Leave out the arrivals of a counted barrier that its count does not ask for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from ...explain.violations import whole_kernel
from ...protocols.model.actions import Protocol, Rendezvous
from ...protocols.model.sync_objects import NamedBarrier
from ..patch import Patch, Writer, combined
from ..subject import Subject
from .guard import Choice, guarded

_RULES = ("NB011", "NB012", "NB022", "SM02")
_WARP = 32


@dataclass(slots=True)
class _Meeting:
    """Who comes to one named barrier of the first CTA in a run: by instruction, the threads of each strand."""

    needed: set[int] = field(default_factory=set)
    waits: dict[int, dict[int, int]] = field(default_factory=dict)
    arrivals: dict[int, dict[int, int]] = field(default_factory=dict)

    def threads(self, *points: int) -> int:
        """Return how many threads come to some of the instructions, each once."""
        come: dict[int, int] = {}
        for point in points:
            come |= self.waits.get(point, {}) | self.arrivals.get(point, {})
        return sum(come.values())

    @property
    def waiting(self) -> frozenset[int]:
        return frozenset(strand for come in self.waits.values() for strand in come)


def leave_out_counted_arrival(subject: Subject) -> Iterator[Patch]:
    """Yield removals and guards of arrivals of threads that wait at the same barrier, where the rest makes its count.

    A wait is an arrival, too (PTX ISA 9.7.14.1): a thread that does both counts twice.
    """
    protocol = _protocol(subject) if subject.finding.rule.startswith(_RULES) else None
    if protocol is None:
        return
    for meeting in _meetings(subject, protocol).values():
        twice = [p for p, come in meeting.arrivals.items() if not meeting.waiting.isdisjoint(come)]
        yield from _removals(subject, meeting, twice)
        yield from _guards(subject, protocol, meeting, twice)


def _removals(subject: Subject, meeting: _Meeting, twice: list[int]) -> Iterator[Patch]:
    """Yield removals of all such arrivals, and of each alone."""
    writer = Writer(subject.view)
    for points in dict.fromkeys((tuple(twice), *((point,) for point in twice))):
        rest = [point for point in (*meeting.waits, *meeting.arrivals) if point not in points]
        if points and {meeting.threads(*rest)} == meeting.needed:
            more = f" and {len(points) - 1} more" if len(points) > 1 else ""
            summary = f"leave out '{writer.statement(points[0])}'{more}: the rest makes its count"
            yield combined("counted arrival", summary, 1, [writer.delete(point) for point in points])


def _guards(subject: Subject, protocol: Protocol, meeting: _Meeting, twice: list[int]) -> Iterator[Patch]:
    """Yield guards that let only those arrive that do not wait, where they are warps in a row."""
    if {meeting.threads(*meeting.waits, *meeting.arrivals)} != meeting.needed:
        return
    for point in twice:
        staying = (strand for strand in meeting.arrivals[point] if strand not in meeting.waiting)
        warps = sorted({protocol.strands[strand].warp for strand in staying})
        if warps and warps[-1] - warps[0] == len(warps) - 1:
            first, count = warps[0] * _WARP, len(warps) * _WARP
            ahead = ("mov.u32 {t}, %tid.x;", f"sub.u32 {{t}}, {{t}}, {first};")
            who = Choice(f"warps {warps[0]} to {warps[-1]}", (*ahead, f"setp.lt.u32 {{p}}, {{t}}, {count};"))
            summary = f"'{subject.view.body.instructions[point].operation.text}' by {who.who} only"
            yield combined("counted arrival", summary, 2, [guarded(subject, point, who)])


def _meetings(subject: Subject, protocol: Protocol) -> Mapping[NamedBarrier, _Meeting]:
    """Return who comes to each named barrier of the first CTA in a run."""
    found: dict[NamedBarrier, _Meeting] = {}
    for index, strand in enumerate(protocol.strands):
        for action in strand.actions:
            if not isinstance(action, Rendezvous) or not isinstance(action.name, NamedBarrier) or strand.cta:
                continue
            meeting = found.setdefault(action.name, _Meeting())
            meeting.needed.add(action.needed)
            side = meeting.waits if action.waits else meeting.arrivals
            side.setdefault(action.point, {})[index] = action.threads
    return found


def _protocol(subject: Subject) -> Protocol | None:
    """Return the run that shows something, else the one with the most actions."""
    whole = subject.view.get(whole_kernel)
    runs = [each.run for each in subject.violations]
    if whole is not None and whole.result.sample is not None:
        runs.append(whole.result.sample)
    return runs[0].protocol if runs else None
