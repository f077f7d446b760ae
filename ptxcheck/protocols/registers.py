"""The register budget of each CTA (PTX ISA, "setmaxnreg"): an increase waits until others have released enough.

A kernel starts with at most the registers that its directives and its block leave to a thread; what hangs with those
hangs with fewer.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ..op import Op
from .actions import Action, Protocol, Registers
from .lowering import Lower, Occurrence
from .outcome import Flaw
from .record import Record


def _change(occurrence: Occurrence) -> Iterator[Action]:
    increases = occurrence.operation.slots.get("action") == ".inc"
    yield Registers(
        occurrence.point, occurrence.number("count"), increases, int(occurrence.leads), occurrence.rank
    )


class RegisterPool:
    """Registers that warps of each CTA have released and not taken again, in registers of a thread for each warp."""

    def __init__(self, protocol: Protocol) -> None:
        self._strands = protocol.strands
        self._start = protocol.registers
        self._held: dict[int, int] = {}
        self._free: dict[int, int] = {}

    def check(self, record: Record) -> None:
        """Note where the order of increases matters: more is wanted, at some moment, than there is."""
        if self._start is None:
            return
        for cta in sorted({strand.cta for strand in self._strands}):
            most = there = 0
            changes = 0
            first: tuple[int, Registers] | None = None
            for index, strand in enumerate(self._strands):
                own = [a for a in strand.actions if isinstance(a, Registers)] if strand.cta == cta else []
                if own:
                    there += self._start * own[0].warps
                    most += max(action.count for action in own) * own[0].warps
                    changes = max(changes, len(own))
                    first = first or (index, own[0])
            if first is not None and changes > 1 and most > there:
                text = (
                    "more registers are wanted at once than there are: who gets them depends on the schedule"
                )
                record.add(Flaw.DEADLOCK, first[0], first[1].point, ("registers", cta), -1, text)

    def move(self, strand: int, action: Registers) -> bool:
        """Change the registers of a strand; False while there are not enough."""
        if self._start is None:
            return True
        cta = self._strands[strand].cta
        more = (action.count - self._held.get(strand, self._start)) * action.warps
        free = self._free.get(cta, 0)
        if action.increases and more > free:
            return False
        self._held[strand] = action.count
        self._free[cta] = free - more
        return True


MEANINGS: Mapping[Op, Lower] = {Op.SETMAXNREG: _change}
