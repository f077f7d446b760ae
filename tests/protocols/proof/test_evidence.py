"""What goes wrong in the largest block is certain with the launch that makes it, and the reason says so."""

from __future__ import annotations

import pytest

from ptxcheck.verdict import Property, VerdictKind
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
    ("directive", "block"),
    [(".maxntid 64", "64"), (".maxntid 32, 2, 1", "32x2"), (".maxntid 64, 1, 1", "64")],
)
def test_a_block_that_may_be_smaller_is_the_one_to_say(directive: str, block: str) -> None:
    text = kernel(WAIT_FOR_ONE_ARRIVAL_OF_EACH.format(arrivals=65), threads=64)
    (verdict, *_) = verified(text.replace(".reqntid 64", directive)).verdicts()
    assert verdict.property is Property.DEADLOCK_FREEDOM
    assert verdict.kind is VerdictKind.UNKNOWN
    assert verdict.reasons[0].text.endswith(
        f"certain with --launch block={block}, if that is how the kernel is launched"
    )


def test_a_block_that_is_known_needs_nothing() -> None:
    (verdict, *_) = verified(kernel(WAIT_FOR_ONE_ARRIVAL_OF_EACH.format(arrivals=65), threads=64)).verdicts()
    assert verdict.kind is VerdictKind.VIOLATED
