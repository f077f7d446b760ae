"""A hang that no data can avoid is certain, also beside branches of other threads that go by data of each lane."""

from __future__ import annotations

from itertools import product

import pytest

from ptxcheck.checker import check
from ptxcheck.source import Source
from ptxcheck.verdict import Property, VerdictKind

TEXT = """
.version 8.7
.target sm_90a
.address_size 64
.visible .entry k(.param .u64 p) .reqntid 96
{{
    .shared .align 8 .b64 never; .shared .align 8 .b64 bar;
    .reg .pred %p<9>; .reg .b32 %r<9>; .reg .b64 %rd<9>;
    mov.u32 %r0, %tid.x; shr.u32 %r1, %r0, 5; ld.param.u64 %rd0, [p]; cvta.to.global.u64 %rd0, %rd0;
    mul.wide.u32 %rd1, %r0, 4; add.u64 %rd1, %rd1, %rd0; ld.global.u32 %r2, [%rd1];
    setp.{relation}.u32 %p1, %r2, 0; setp.ne.u32 %p0, %r0, 0;
    @%p0 bra READY;
    mbarrier.init.shared.b64 [never], {expected}; mbarrier.init.shared.b64 [bar], 32;
READY:
    bar.sync 0;
    setp.eq.u32 %p2, %r1, {hanging}; setp.eq.u32 %p3, %r1, 1;
    {branches}
HANG:
    mbarrier.arrive.shared.b64 _, [never];
HANGS:
    mbarrier.try_wait.parity.shared.b64 %p5, [never], 0;
    @!%p5 bra HANGS;
    bra END;
CHOICE:
    @%p1 bra END;
    {choice}
END:
    ret;
}}
"""
BRANCHES = (
    "@%p2 bra HANG; @%p3 bra CHOICE; bra END;",
    "@%p3 bra CHOICE; @!%p2 bra END;",
)
"""Who hangs is told from the others first, or last."""
CHOICES = (
    "mbarrier.arrive.shared.b64 _, [bar];",
    "V: mbarrier.try_wait.parity.shared.b64 %p6, [bar], 0; @!%p6 bra V;",
    "bar.sync 1, 32;",
    "mbarrier.arrive.shared.b64 _, [bar]; V: mbarrier.try_wait.parity.shared.b64 %p6, [bar], 0; @!%p6 bra V;",
)


def judged(
    expected: int, hanging: int, branches: str, choice: str, relation: str
) -> tuple[VerdictKind, set[str]]:
    """Return the verdict on deadlocks, and the rules that tell of it."""
    text = TEXT.format(
        expected=expected, hanging=hanging, branches=branches, choice=choice, relation=relation
    )
    report = check(Source("k.ptx", text))
    (kernel,) = report.kernels
    assert kernel.verification is not None
    (kind,) = {v.kind for v in kernel.verification.verdicts if v.property is Property.DEADLOCK_FREEDOM}
    return kind, {finding.rule for finding in report.active if " of never " in finding.message}


@pytest.mark.parametrize(("hanging", "branches"), list(product((0, 2), BRANCHES)))
@pytest.mark.parametrize("choice", CHOICES)
@pytest.mark.parametrize("relation", ["eq", "ne"])
def test_a_hang_that_no_data_avoid(hanging: int, branches: str, choice: str, relation: str) -> None:
    assert judged(33, hanging, branches, choice, relation) == (VerdictKind.VIOLATED, {"MB020"})


@pytest.mark.parametrize("choice", CHOICES)
def test_no_such_hang_is_told_where_all_arrive(choice: str) -> None:
    assert judged(32, 0, BRANCHES[0], choice, "eq")[1] == set()
