"""Initialise a barrier with the arrivals that come: the state where the run is stuck gives the number."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from ...explain.barrier_history import Held
from ...ir import Immediate
from ...protocols.model.actions import Barrier, Init, Strand
from ..arrivals import arrivals_of_a_phase
from ..patch import Patch, Writer, combined
from ..subject import Subject


def solve_arrival_count(subject: Subject) -> Iterator[Patch]:
    """Yield a patch for each count that the arrivals of one phase may mean, of each mbarrier that is stuck."""
    if subject.violation is None:
        return
    strands = subject.violation.run.protocol.strands
    everywhere = {a.point: a.count for s in strands for a in s.actions if isinstance(a, Init)}
    for rank, (barrier, held) in enumerate(subject.stuck):
        inits = {
            a.point: a.count
            for s in strands
            for a in s.actions
            if isinstance(a, Init) and a.barrier == barrier
        }
        for point, count in sorted(inits.items()):
            if subject.view.body.instructions[point].get("count") is not None:
                wanted = _counts(strands, barrier, held, count)
                yield from _initialised(subject, point, count, wanted, everywhere, 1 + rank)


def _initialised(
    subject: Subject, point: int, count: int, counts: Sequence[int], everywhere: Mapping[int, int], least: int
) -> Iterator[Patch]:
    """Yield the initialisation at a point, and all with the same count, with each of some counts."""
    writer = Writer(subject.view)
    for cost, wanted in enumerate(counts):
        edit = writer.with_operand(point, "count", Immediate(wanted))
        summary = f"initialise with {wanted} arrivals instead of {count}"
        yield combined("arrival count", summary, least + cost, [edit])
        same_count = [p for p, other in sorted(everywhere.items()) if other == count]
        if len(same_count) > 1:
            edits = [writer.with_operand(p, "count", Immediate(wanted)) for p in same_count]
            summary = f"initialise {len(edits)} mbarriers with {wanted} arrivals instead of {count}"
            yield combined("arrival count", summary, least + 1 + cost, edits)


def _counts(strands: Sequence[Strand], barrier: Barrier, held: Held, count: int) -> list[int]:
    """Return the counts that make a phase complete: by the state, then by what one instruction brings."""
    found = [count - held.pending, *arrivals_of_a_phase(strands, barrier)]
    return [n for n in dict.fromkeys(found) if n > 0 and n != count]
