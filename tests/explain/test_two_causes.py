"""Two causes are two violations, and what is in doubt does not stand for what is certain."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from ptxcheck.explain.violations import WholeKernel
from ptxcheck.protocols.model.mechanisms import PROPERTY_OF
from ptxcheck.protocols.model.outcome import Flaw
from ptxcheck.protocols.proof.evidence import Verification
from ptxcheck.verdict import Property, VerdictKind

from ..protocols.machine_runs import kernel
from ..protocols.verifying import verified

APART = """
mov.u32 %r9, %tid.x; mov.u32 %r1, smem; setp.eq.u32 %p9, %r9, 0;
@%p9 mbarrier.init.shared.b64 [%r1], 1; @%p9 mbarrier.init.shared.b64 [%r1+8], 1; bar.sync 0;
setp.ge.u32 %p1, %r9, 64; @%p1 bra V;
W: mbarrier.try_wait.parity.shared.b64 %p5, [%r1], 0; @!%p5 bra W;
{first} bra E;
V: mbarrier.try_wait.parity.shared.b64 %p5, [%r1+8], 0; @!%p5 bra V;
{second}
E:
"""
ARRIVE = "mbarrier.arrive.shared.b64 _, [%r1+{}];"


def points(result: Verification) -> set[int]:
    return {each.problem.point for each in WholeKernel(result).violations if each.certain}


@pytest.mark.parametrize(("first", "second", "count"), [("", "", 2), (ARRIVE.format(8), ARRIVE.format(0), 1)])
def test_waits_that_do_not_wait_for_each_other_are_told_apart(first: str, second: str, count: int) -> None:
    assert len(points(verified(kernel(APART.format(first=first, second=second))))) == count


@pytest.mark.parametrize("first", [True, False])
def test_what_is_in_doubt_does_not_hide_what_is_certain(first: bool) -> None:
    result = verified(kernel(APART.format(first="", second="")))
    (run,) = result.failures
    doubtful = replace(run, doubt="not certain")
    result.failures[:] = [doubtful, run] if first else [run, doubtful]
    violated = {v.property for v in result.verdicts() if v.kind is VerdictKind.VIOLATED}
    told = WholeKernel(result).violations
    assert violated == {PROPERTY_OF[each.problem.flaw] for each in told if each.certain} != set()
    assert all(each.problem.flaw is Flaw.DEADLOCK for each in told)


NOT_WAITED_FOR = Path(__file__).parents[2] / "corpus" / "bad" / "SM021" / "two_copies_not_waited_for.ptx"


@pytest.mark.parametrize(("second", "count"), [("second", 2), ("first", 1)])
def test_races_at_one_instruction_are_as_many_as_the_mbarriers_that_are_not_waited_for(
    second: str, count: int
) -> None:
    text = NOT_WAITED_FOR.read_text(encoding="utf-8").replace("1024, [second]", f"1024, [{second}]")
    races = [
        each
        for each in WholeKernel(verified(text)).violations
        if PROPERTY_OF[each.problem.flaw] is Property.SLOT_SAFETY
    ]
    assert len(races) == count
    assert len({point for each in races for _, point in each.problem.related}) == 1
