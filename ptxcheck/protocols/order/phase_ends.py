"""Whether the end of a phase is the same in every schedule: nothing that belongs to it can come too late.

Property: without a problem, a phase completes in no schedule before all its expected bytes are announced, all raised
counts are raised and all transfers are over; and the phase after the one that a wait named only after that wait.

Argument: what happens before an arrival of the phase cannot be left out, as the phase needs the arrival. Of expects
that no arrival comes after, and of transfers, all sets that might not have happened are tried: the phase could end
without them only where the bytes balance at that moment. A wait is safe when the completion knows of it.

Not covered: which sets really may have happened where there are more than 12 late expects and transfers, or where
bytes are symbols: such a phase is taken to be able to end early unless a number says that it is not.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

from ..model.actions import Amount, Barrier
from ..model.outcome import LAST_OF_ALL, Flaw
from ..model.record import Record
from ..symex.values.symbol import Form, plus
from .clock import Clock, executed_before, executed_before_some
from .mbarrier_state import Contribution, Mbarrier, Phase

_MOST_PARTS = 12
"""So many late expects and transfers of one phase are tried in all combinations."""


def check_expects(record: Record, name: Barrier, barrier: Mbarrier) -> None:
    """Check that a phase cannot complete before its bytes are expected, and its arrivals announced."""
    now = barrier.now
    late = _late(now.expects, now.arrivals)
    for each in _late_raises(now):
        _report_late(record, name, barrier, each, "this arrival is announced")
    if not late or not can_leave_out(barrier, late):
        return
    for each in late:
        _report_late(record, name, barrier, each, "these bytes are expected")


def check_last(record: Record, name: Barrier, barrier: Mbarrier) -> None:
    """Check that in every schedule an arrival that may complete the phase comes behind those that must not."""
    last = [arrival for arrival in barrier.now.arrivals if arrival.completes]
    if len(last) == len(barrier.now.arrivals):
        return
    for each in _late(barrier.now.arrivals, last):
        if not each.completes:
            text = f"{LAST_OF_ALL} in another schedule"
            record.add(Flaw.OVER_ARRIVAL, each.strand, each.point, name, barrier.phase, text)


def check_missed(record: Record, name: Barrier, barrier: Mbarrier, clock: Clock) -> None:
    """Check that the phase after the one that a wait named completes only after that wait."""
    seen = f"phase {barrier.phase - 1}" if barrier.phase else "the phase before the first"
    for wait in barrier.waits.pop(barrier.phase - 1, ()):
        if not executed_before(wait.clock, clock):
            record.add(
                Flaw.MISSED_PHASE, wait.strand, wait.point, name, barrier.phase - 1,
                f"phase {barrier.phase} can complete before this wait has seen {seen}",
            )  # fmt: skip


def _report_late(record: Record, name: Barrier, barrier: Mbarrier, late: Contribution, what: str) -> None:
    record.add(
        Flaw.LATE_EXPECT, late.strand, late.point, name, barrier.phase,
        f"no arrival of this phase comes after {what}: the phase can complete without them",
    )  # fmt: skip


def can_leave_out(barrier: Mbarrier, late: Sequence[Contribution]) -> bool:
    """Tell whether the bytes balance at some moment at which not all late expects have been executed.

    All arrivals have happened by then, and what they know of. Any set of the rest that contains what its
    members know of may have happened. Without late expects: at which some transfer has not completed.
    """
    parts = [*late, *barrier.now.transfers]
    if len(parts) > _MOST_PARTS:
        return True
    total = plus(barrier.now.expected, barrier.now.completed, -1)
    balance: Amount = 0 if isinstance(total, Form) else total  # balanced by the host
    expects = len(late)
    for size in range(1, len(parts) + 1):
        for left in combinations(range(len(parts)), size):
            if (late and left[0] >= expects) or not _is_closed(parts, left, expects):
                continue
            without: Amount = 0
            for each in left:
                without = plus(without, parts[each].amount, -1 if each < expects else 1)
            if _may_balance(plus(balance, without), plus(total, without)):
                return True
    return False


def _may_balance(*forms: Amount) -> bool:
    """Tell whether bytes may be zero, given in forms that equations make equal: not when one is another number."""
    return all(isinstance(form, Form) or form == 0 for form in forms)


def _late_raises(phase: Phase) -> list[Contribution]:
    """Return increments that the phase can do without, together with the arrivals that take them back."""
    paired = {id(arrival) for _, arrival in phase.raises}
    sure = [arrival for arrival in phase.arrivals if id(arrival) not in paired]
    late = list(phase.raises)
    while held := [pair for pair in late if _before_any(pair[0], sure)]:
        sure += [arrival for _, arrival in held]
        late = [pair for pair in late if not any(pair is each for each in held)]
    return [increment for increment, _ in late]


def _late(ones: Sequence[Contribution], others: Sequence[Contribution]) -> list[Contribution]:
    """Return those that no other one comes behind."""
    before = executed_before_some([one.clock for one in ones], [other.clock for other in others])
    return [one for one, is_before in zip(ones, before, strict=True) if not is_before]


def _before_any(one: Contribution, others: Sequence[Contribution]) -> bool:
    return any(executed_before(one.clock, other.clock) for other in others)


def _is_closed(parts: Sequence[Contribution], left: tuple[int, ...], expects: int) -> bool:
    """Tell whether nothing that has happened knows of an expect that has not."""
    happened = [part for index, part in enumerate(parts) if index not in left]
    return not any(
        executed_before(parts[each].clock, other.clock)
        for each in left
        if each < expects
        for other in happened
    )
