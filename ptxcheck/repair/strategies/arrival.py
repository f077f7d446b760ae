"""Let waiting threads release a barrier that nobody arrives at: its address is the one they know, plus a distance."""

from __future__ import annotations

from collections.abc import Iterator

from ...ir import Address, Register
from ...protocols.actions import Barrier, Init, Wait
from ..patch import Patch, Writer, combined
from ..subject import Subject

_RULES = frozenset({"MB020"})
_PLACES = 6


def insert_arrival(subject: Subject) -> Iterator[Patch]:
    """Yield an arrive at the end of each loop or block whose threads wait for another barrier of the kernel."""
    violation, barrier = subject.violation, subject.barrier
    if subject.finding.rule not in _RULES or violation is None or barrier is None:
        return
    inits = {a.barrier for s in violation.run.protocol.strands for a in s.actions if isinstance(a, Init)}
    waits: dict[int, Barrier] = {}
    for strand in violation.run.protocol.strands:
        for action in strand.actions:
            if isinstance(action, Wait) and action.barrier != barrier and action.barrier.cta == barrier.cta:
                waits.setdefault(action.point, action.barrier)
    for point, known in sorted(waits.items()):
        distance = barrier.offset - known.offset
        address = _address(subject, point)
        if known not in inits or address is None:
            continue
        text = f"mbarrier.arrive.shared::cta.b64 _, [{address.name}+{distance}];"
        for cost, place in enumerate(_ends(subject, point)):
            summary = f"arrive at the barrier {distance:+} bytes from the one waited for"
            yield combined("arrival", summary, 4 + cost, [Writer(subject.view).before(place, text)])


def _address(subject: Subject, point: int) -> Register | None:
    instruction = subject.view.body.instructions[point]
    found = next((o for o in instruction.operands if isinstance(o, Address)), None)
    if found is None or not isinstance(found.base, Register) or found.offset:
        return None
    return found.base


def _ends(subject: Subject, point: int) -> Iterator[int]:
    """Yield the last instructions of the blocks behind the loop that polls, the nearest first."""
    cfg = subject.view.cfg
    poll = cfg.loop_of(point)
    behind = [
        block
        for block in cfg.blocks
        if block.start > point and not (poll is not None and block.index in poll.blocks)
    ]
    yield from [block.last for block in behind if block.points][:_PLACES]
