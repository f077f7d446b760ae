"""Registers of which the low bit matters alone."""

from __future__ import annotations

import pytest

from ptxcheck.protocols.automata.phase_registers import phase_registers
from tests.protocols.machine_runs import run

TEXT = """
mov.u32 %r1, smem; ld.param.u32 %r3, [n]; ld.param.u32 %r4, [m];
mbarrier.init.shared.b64 [%r1], 1;
{step}
xor.b32 %r5, %r4, %r3;
WAIT: mbarrier.try_wait.parity.shared::cta.b64 %p1, [%r1], %r5; @!%p1 bra WAIT;
"""


def names(step: str) -> set[str]:
    return {register.name for register in phase_registers(run(TEXT.format(step=step), threads=32).program)}


@pytest.mark.parametrize(
    "step",
    [
        "add.s32 %r4, %r3, %r4;",
        "sub.s32 %r4, %r3, %r4;",
        "and.b32 %r4, %r3, %r4;",
        "not.b32 %r4, %r4;",
        "mov.u32 %r4, %r3;",
        "setp.eq.u32 %p2, %r1, 0; selp.b32 %r4, %r3, %r4, %p2;",
    ],
)
def test_low_bits_follow_from_low_bits(step: str) -> None:
    assert {"%r3", "%r4", "%r5"} == names(step) & {"%r3", "%r4", "%r5"}


@pytest.mark.parametrize(
    "step",
    [
        "add.sat.s32 %r4, %r3, %r4;",
        "shr.u32 %r4, %r4, 1; mov.u32 %r4, %r3; shr.u32 %r3, %r3, 1;",
        "min.u32 %r4, %r3, %r4;",
        "mul.hi.u32 %r4, %r3, %r4;",
        "setp.eq.u32 %p2, %r3, %r4; selp.b32 %r4, 1, 0, %p2;",
        "add.f32 %r4, %r3, %r4;",
        "add.u32 %r1, %r1, %r3;",
    ],
)
def test_other_bits_matter_too(step: str) -> None:
    found = names(step)
    assert "%r5" in found
    assert "%r3" not in found
