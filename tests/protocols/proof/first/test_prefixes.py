"""Warps that are handed their work through shared memory: what goes wrong before they read it is certain."""

from __future__ import annotations

import pytest

from ptxcheck.protocols.proof.first.driver import all_runs as verifier
from ptxcheck.verdict import Property, VerdictKind
from tests.protocols.machine_runs import kernel
from tests.protocols.verifying import kind, verified

TASKS = """
mov.u32 %r1, %tid.x; setp.ge.u32 %p1, %r1, 32; mov.u32 %r2, 1; mov.u32 %r3, 0;
@%p1 bra WORKER;
st.shared.u32 [table], %r2;
barrier.sync 1;
{again}
{done}
st.shared.u32 [table], %r3;
barrier.sync 1;
bra END;
WORKER:
barrier.sync 1;
ld.shared.u32 %r4, [table];
setp.eq.u32 %p2, %r4, 0; @%p2 bra END;
{work}
{worked}
bra WORKER;
END:
"""
"""One warp hands the other a task, waits until that is done, and hands it the end."""
MEET = "barrier.sync 1;"


def verdicts(**parts: str) -> tuple[VerdictKind, VerdictKind]:
    """Return the verdicts on deadlocks and on slots of the kernel with some parts."""
    text = TASKS.format(**{"again": "", "done": MEET, "work": "", "worked": MEET} | parts)
    result = verified(kernel(text, threads=64))
    return kind(result, Property.DEADLOCK_FREEDOM), kind(result, Property.SLOT_SAFETY)


HOLDS = (VerdictKind.PROVED, VerdictKind.PROVED_BOUNDED, VerdictKind.ASSUMES)


def test_tasks_that_are_handed_over_in_turn_hold() -> None:
    assert all(each in HOLDS for each in verdicts())


def test_a_task_that_is_read_while_another_is_written_races() -> None:
    assert verdicts(done="", worked="")[1] is VerdictKind.VIOLATED


@pytest.mark.parametrize("parts", [{"worked": ""}, {"done": ""}])
def test_one_side_that_does_not_meet_the_other_goes_wrong(parts: dict[str, str]) -> None:
    assert VerdictKind.VIOLATED in verdicts(**parts)


def test_a_wait_in_front_of_all_that_is_read_hangs() -> None:
    assert verdicts(again="barrier.sync 2, 96;")[0] is VerdictKind.VIOLATED


def test_threads_that_stop_may_go_on() -> None:
    """Two warps of three meet, so that the machine does not follow what one hands the other."""
    body = "setp.ge.u32 %p3, %r1, 64; @%p3 bra END; @%p1 bra WORKER;"
    text = TASKS.format(again="", done="barrier.sync 1, 64;", work="", worked="barrier.sync 1, 64;")
    text = text.replace("@%p1 bra WORKER;", body).replace("barrier.sync 1;", "barrier.sync 1, 64;")
    assert kind(verified(kernel(text, threads=96)), Property.DEADLOCK_FREEDOM) is VerdictKind.UNKNOWN


def test_without_a_look_at_beginnings_it_stays_open(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(verifier, "_MOST_BEGINNINGS", 0)
    assert verdicts(done="", worked="")[1] is VerdictKind.UNKNOWN
