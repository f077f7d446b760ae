"""What goes wrong in the block that the code itself suggests is certain, and the finding names that block."""

from __future__ import annotations

import pytest

from ptxcheck.checker import check
from ptxcheck.finding import Confidence
from ptxcheck.source import Source
from ptxcheck.verdict import AssumptionSource, Property, VerdictKind
from tests.protocols.machine_runs import kernel
from tests.protocols.verifying import verified

WAIT_FOR_ONE_ARRIVAL_OF_EACH = """
    mov.u32 %r1, %tid.x;
    setp.ne.u32 %p1, %r1, 0;
    @%p1 bra READY;
    mbarrier.init.shared::cta.b64 [table], {arrivals};
READY:
    bar.sync 0;
    mbarrier.arrive.shared::cta.b64 _, [table];
WAIT:
    mbarrier.try_wait.parity.shared::cta.b64 %p2, [table], 0;
    @!%p2 bra WAIT;
"""


@pytest.mark.parametrize(
    ("directive", "origin"),
    [
        (".maxntid 64", "launched with 64 threads (from `.maxntid`)"),
        ("", "launched with 32 or 128 threads (nothing states the block, the code suggests this)"),
    ],
)
def test_a_block_that_the_code_suggests_makes_a_finding_that_names_it(directive: str, origin: str) -> None:
    text = kernel(WAIT_FOR_ONE_ARRIVAL_OF_EACH.format(arrivals=1025), threads=64).replace(
        ".reqntid 64", directive
    )
    report = check(Source("k.ptx", text))
    (finding,) = report.active
    assert finding.confidence is Confidence.PROVED
    assert finding.message.endswith(f"; if {origin}")
    (result,) = report.kernels
    assert result.verification is not None
    verdict = result.verification.verdicts[0]
    assert (verdict.property, verdict.kind) == (Property.DEADLOCK_FREEDOM, VerdictKind.VIOLATED)
    assert [remark.source for remark in verdict.assumptions] == [AssumptionSource.LAUNCH]


def test_a_block_that_is_right_for_one_of_those_suggested_is_no_finding() -> None:
    text = kernel(WAIT_FOR_ONE_ARRIVAL_OF_EACH.format(arrivals=128), threads=64).replace(".reqntid 64", "")
    report = check(Source("k.ptx", text))
    assert not report.active
    (result,) = report.kernels
    assert result.verification is not None
    assert result.verification.block == (128, 1, 1)
    assert result.verification.block_origin == "the code"


def test_a_block_that_is_known_needs_nothing() -> None:
    (verdict, *_) = verified(kernel(WAIT_FOR_ONE_ARRIVAL_OF_EACH.format(arrivals=65), threads=64)).verdicts()
    assert verdict.kind is VerdictKind.VIOLATED
