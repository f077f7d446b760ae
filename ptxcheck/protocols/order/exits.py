"""Exit of a CTA: nothing may reach into its shared memory when its last thread has ended.

Property: without a problem, each access of the shared memory of a CTA by another one, and each operation on its
mbarriers, is over in every schedule before the CTA ends.

Argument: an access is safe when some thread of the CTA knows, before that thread ends, that it is over: the CTA lives
at least as long as that thread. A store or an arrival is over where it is visible; that its thread has passed it says
nothing: on an H100 both come behind a relaxed cluster barrier (`benchmarks/litmus.md`).

Not covered: what is strict alone. Copies of the CTA itself need not be over: released kernels load ahead what a short
loop does not use, and end with stores that only their commit follows; on an H100 neither reached the next CTA. Arrivals
of `tcgen05.commit` at another CTA may be outstanding if it knows that a later commit of the same thread is over: PTX
orders no two commits, and released kernels take them to arrive in turn. An arrival that is itself relaxed is over where
its phase was awaited, but is not known to be. Nothing is said of schedules that do not end. An access of code that
threads may skip, or that is of one CTA or another, is no problem but a doubt.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from ...ir import Instruction
from ...isa.modifier import Mod
from ...opcodes.op import Op
from ..model.actions import (
    TENSOR_CORE,
    Action,
    AsyncArrive,
    Protocol,
)
from ..model.outcome import Doubt, Flaw, Outcome, Problem, SharedMemory
from ..model.record import Record
from .actor import Actor
from .axioms import COPIES_AT_EXIT
from .clock import Clock, Component, Row
from .conflicts import Touch


@dataclass(frozen=True, slots=True)
class _Remote:
    strand: int
    point: int
    target: int
    component: Component
    over: int
    is_own: bool = False
    """A copy of the CTA itself: that it is over is strict."""
    commit: int = -1
    """Number of the commit that it is an arrival of, in its strand; -1 for none."""
    certain: bool = True
    """False for an access of code that threads may skip."""
    row: Row = Row.EXECUTED
    """In which sense it has to be known."""


class Exits:
    """Remote accesses of a schedule."""

    def __init__(self, protocol: Protocol) -> None:
        self._strands = protocol.strands
        self._targets = frozenset(strand.cta for strand in protocol.strands)
        self._remote: dict[tuple[int, Component, bool, int, bool, Row], _Remote] = {}
        self._commits: dict[int, list[tuple[int, Component, int]]] = {}
        """Arrivals of commits of each strand: number of the commit, and what knows them to be over."""

    def note(self, actor: Actor, action: Action, target: int) -> None:
        """Note an operation on an mbarrier of another CTA."""
        if target == self._strands[actor.strand].cta:
            return
        over = actor.number
        self._add(_Remote(actor.strand, action.point, target, actor.strand, over, row=Row.VISIBLE))

    def note_later(self, actor: Actor, action: AsyncArrive, component: Component | None, over: int) -> None:
        """Note an asynchronous arrival: it is over with its phase."""
        if component is None:
            return
        commit = actor.number if action.pipeline == TENSOR_CORE else -1
        if commit >= 0:
            self._commits.setdefault(actor.strand, []).append((commit, component, over))
        if action.barrier.cta != self._strands[actor.strand].cta:
            self._add(_Remote(actor.strand, action.point, action.barrier.cta, component, over, commit=commit))

    def touch(self, touch: Touch, targets: Iterable[int], *, is_copy: bool) -> None:
        """Note an access of shared memory of some CTAs: of another, or by a copy that nobody may have waited for."""
        own = self._strands[touch.strand].cta
        targets = tuple(targets)
        certain = touch.certain and (touch.is_exact or len(targets) == 1)
        row = Row.VISIBLE if touch.writes and not touch.is_asynchronous else Row.EXECUTED
        for target in targets:
            if target != own or is_copy:
                self._add(
                    _Remote(
                        touch.strand, touch.point, target, touch.component, touch.over, target == own,
                        certain=certain, row=row,
                    )
                )  # fmt: skip

    def _add(self, remote: _Remote) -> None:
        if remote.target in self._targets:
            strand = remote.strand if remote.commit >= 0 else -1  # whether it is in turn its own strand tells
            key = (remote.target, remote.component, remote.is_own, strand, remote.certain, remote.row)
            if key not in self._remote or self._remote[key].over < remote.over:
                self._remote[key] = remote

    def check(self, ends: Sequence[Clock], record: Record) -> tuple[Doubt, ...]:
        """Check all remote accesses against what each strand knows at its end; return what remains in doubt."""
        doubts: list[Doubt] = []
        for remote in self._remote.values():
            inside = [
                clock
                for clock, strand in zip(ends, self._strands, strict=True)
                if strand.cta == remote.target
            ]
            if _is_known(inside, remote.component, remote.over, remote.row):
                continue
            if not remote.certain:
                doubts.append(Doubt(f"{self._text(remote)}, if threads come to this at all", remote.point))
            else:
                later = (
                    (component, over)
                    for number, component, over in self._commits.get(remote.strand, ())
                    if number > remote.commit >= 0
                )
                is_in_turn = any(_is_known(inside, *each) for each in later)
                record.add(
                    Flaw.EXIT_WITH_REMOTE_ACCESS, remote.strand, remote.point, SharedMemory(remote.target), -1,
                    self._text(remote),
                    happened=True, axiom=COPIES_AT_EXIT if remote.is_own or is_in_turn else None,
                )  # fmt: skip
        return tuple(doubts)

    def _text(self, remote: _Remote) -> str:
        if remote.is_own:
            return "the CTA may have ended when this copy still moves bytes of its shared memory"
        return f"CTA {remote.target} may have ended when this reaches into its shared memory"


def _is_known(clocks: Iterable[Clock], component: Component, over: int, row: Row = Row.EXECUTED) -> bool:
    """Tell whether one of some threads knows at its end that a thing is over."""
    return any(int(clock[row, component]) >= over for clock in clocks)


def with_stores_left_alone(outcome: Outcome, instructions: Sequence[Instruction]) -> Outcome:
    """Return the outcome in which bulk stores of a kernel that waits for none may not outlive their CTA.

    Nothing tells that they are the last ones of many.
    """
    waits = {instruction.operation.op for instruction in instructions}
    if Op.CP_ASYNC_BULK_WAIT_GROUP in waits:
        return outcome

    def is_left(problem: Problem) -> bool:
        is_store = instructions[problem.point].operation.has(Mod.BULK_GROUP)
        return problem.axiom is COPIES_AT_EXIT and is_store

    left = tuple(replace(problem, axiom=None) for problem in outcome.strict if is_left(problem))
    strict = tuple(problem for problem in outcome.strict if not is_left(problem))
    return replace(outcome, problems=(*outcome.problems, *left), strict=strict) if left else outcome
