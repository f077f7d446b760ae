"""Wait in a loop until the phase is complete: one poll may end without it."""

from __future__ import annotations

from collections.abc import Iterator

from ...ir import Register
from ...protocols.symex.slice.polling import POLLS
from ..patch import Patch, Writer, combined
from ..subject import Subject

_RULES = frozenset({"MB011"})


def poll_again(subject: Subject) -> Iterator[Patch]:
    """Yield the loop around an unguarded poll whose result nothing reads."""
    instruction = subject.instruction
    if subject.finding.rule not in _RULES or instruction is None or instruction.guard is not None:
        return
    if instruction.operation.op not in POLLS:
        return
    done = next((r for r in instruction.writes() if isinstance(r, Register)), None)
    if done is None:
        return
    writer = Writer(subject.view)
    again = f"PTXCHECK_POLL{subject.point}"
    begin = writer.before(subject.point, f"{again}:")
    end = writer.after(subject.point, f"@!{done.name} bra {again};")
    yield combined("poll", "wait until the phase is complete", 1, [begin, end])
