"""The register budget of each CTA (PTX ISA, "setmaxnreg"): an increase waits until others have released enough.

Property: without a problem, every increase gets its registers in every schedule.

Argument: an increase is checked against the worst that others may hold at that time: those that only release by then
will have done so, and those that may take are counted with the most that they may hold. A kernel starts with at most
the registers that its directives and its block leave to a thread; what hangs with those hangs with fewer.

Not covered: kernels whose number of registers at the start is not known: then no increase blocks.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from ..model.actions import (
    WARPS_OF_A_TEAM,
    Protocol,
    Registers,
    Strand,
)
from ..model.outcome import Flaw
from ..model.record import Record
from ..model.sync_objects import RegisterBudget
from ..symex.values.trace import NotFollowedError
from .actor import Actor
from .clock import Clock, Row


@dataclass(frozen=True, slots=True)
class _Change:
    strand: int
    action: Registers
    before: Clock
    number: int
    """Number of the action in its strand, counted from one."""


def changed_apart(strands: Iterable[Strand]) -> int | None:
    """Return where warps of a warpgroup change their registers in other ways than the others, or None.

    All warps of a warpgroup have to execute one `setmaxnreg` (PTX ISA §9.7.19.5), which attention of CUTLASS does not
    keep: roles of one warp have numbers of their own. Raises NotFollowedError where lanes of a warp do not agree.
    """
    changes: dict[tuple[int, int], dict[int, list[tuple[int, int]]]] = {}
    for strand in strands:
        team = changes.setdefault((strand.cta, strand.warp // WARPS_OF_A_TEAM), {})
        own = [(action.count, action.point) for action in strand.actions if isinstance(action, Registers)]
        known = team.setdefault(strand.warp, own)
        if own != known:
            count, point = (own or known)[0]
            raise NotFollowedError(
                f"some lanes of a warp change to {count} registers, and others do not", point
            )
    for team in changes.values():
        first, *others = team.values()
        points = [point for own in team.values() for _, point in own]
        if any([count for count, _ in own] != [count for count, _ in first] for own in others):
            return points[0]
    return None


class RegisterPool:
    """Registers that warps of each CTA have released and not taken again, in registers of a thread for each warp."""

    def __init__(self, protocol: Protocol) -> None:
        self._strands = protocol.strands
        self._start = protocol.registers
        self._held: dict[int, int] = {}
        self._free: dict[int, int] = {}
        self._changes: list[_Change] = []

    def move(self, actor: Actor, action: Registers) -> bool:
        """Change the registers of a strand; False while there are not enough."""
        if self._start is None:
            return True
        cta = self._strands[actor.strand].cta
        more = (action.count - self._held.get(actor.strand, self._start)) * action.warps
        free = self._free.get(cta, 0)
        if action.increases and more > free:
            return False
        self._held[actor.strand] = action.count
        self._free[cta] = free - more
        number = actor.number
        self._changes.append(_Change(actor.strand, action, actor.clock, number))
        return True

    def check(self, record: Record) -> None:
        """Note increases that others may starve: what others may take at that time leaves too little.

        Others that only release at that time will have done so; others that may take are counted with the most that
        they may hold.
        """
        for change in self._changes:
            if change.action.increases and self._start is not None:
                wanted, there = self._rivals(change, self._start)
                if wanted > there:
                    text = "more registers may be wanted at once than there are: who gets them depends on the schedule"
                    name = RegisterBudget(change.action.cta)
                    record.add(Flaw.DEADLOCK, change.strand, change.action.point, name, -1, text)

    def _rivals(self, change: _Change, start: int) -> tuple[int, int]:
        """Return registers that may be wanted when a strand asks for more, and those that there are."""
        wanted = change.action.count * change.action.warps
        there = start * change.action.warps
        changed = {each.strand: each.action.warps for each in self._changes}
        for strand, warps in changed.items():
            if strand == change.strand or self._strands[strand].cta != self._strands[change.strand].cta:
                continue
            held, possible = start, []
            for each in self._changes:
                if each.strand != strand:
                    continue
                if each.number <= change.before[Row.EXECUTED, strand]:
                    held = each.action.count
                elif each.before[Row.EXECUTED, change.strand] < change.number:
                    possible.append(each.action)
            if any(action.increases for action in possible):
                held = max(held, *(action.count for action in possible))
            elif possible:
                held = possible[-1].count
            wanted += held * warps
            there += start * warps
        return wanted, there
