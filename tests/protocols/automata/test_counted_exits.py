"""Exits of loops where each round compares the same function of its number."""

from __future__ import annotations

import pytest

from ptxcheck.cfg import build
from ptxcheck.launches.hints import from_directives
from ptxcheck.parser import parse_module
from ptxcheck.protocols.automata.recurrences import counted_exits
from ptxcheck.protocols.symex.slice.sliced_program import Program
from ptxcheck.source import Source
from tests.protocols.machine_runs import kernel

TEXT = """
mov.u32 %r1, smem; ld.param.u32 %r3, [n]; ld.param.u32 %r4, [m]; mov.u32 %r5, 0; mov.u32 %r6, 0;
mbarrier.init.shared.b64 [%r1], 1;
{loop}
WAIT: mbarrier.try_wait.parity.shared::cta.b64 %p1, [%r1], %r6; @!%p1 bra WAIT;
"""
ROUND = "mbarrier.arrive.shared::cta.b64 _, [%r1];"


def is_counted(loop: str) -> bool:
    """Tell whether the only loop with an arrival is left at a counted exit."""
    module = parse_module(Source("k.ptx", kernel(TEXT.format(loop=loop), threads=32)))
    (function,) = module.entries
    program = Program(build(function), module, from_directives(function), accesses=False)
    found = [counted_exits(program, each) for each in program.cfg.loops]
    assert len(found) == 2, "this loop, and the wait"
    return any(found)


@pytest.mark.parametrize(
    "loop",
    [
        f"L: {ROUND} sub.s32 %r3, %r3, 1; setp.gt.s32 %p2, %r3, 1; @%p2 bra L;",
        f"L: setp.ge.s32 %p2, %r5, %r3; @%p2 bra E; {ROUND} add.s32 %r5, %r5, 1; bra L; E:",
        f"L: {ROUND} add.s32 %r5, %r5, 1; add.s32 %r7, %r5, 2; setp.lt.s32 %p2, %r7, %r3; @%p2 bra L;",
        f"L: {ROUND} add.s32 %r5, %r5, %r4; setp.ne.s32 %p2, %r5, %r3; @%p2 bra L;",
        f"L: {ROUND} setp.eq.s32 %p3, %r4, 0; @%p3 bra K; {ROUND} K: "
        "sub.s32 %r3, %r3, 1; setp.gt.s32 %p2, %r3, 0; @%p2 bra L;",
    ],
    ids=["at the end", "at the start", "of a sum", "by a parameter", "behind a branch"],
)
def test_counted(loop: str) -> None:
    assert is_counted(loop)


@pytest.mark.parametrize(
    "loop",
    [
        f"L: {ROUND} setp.eq.s32 %p3, %r4, 0; @%p3 bra K; setp.gt.s32 %p2, %r3, 9; @!%p2 bra E; "
        "K: sub.s32 %r3, %r3, 1; bra L; E:",
        f"L: {ROUND} setp.eq.s32 %p3, %r4, 0; mov.u32 %r7, %r3; @%p3 bra K; add.s32 %r7, %r7, 1; K: "
        "sub.s32 %r3, %r3, 1; setp.gt.s32 %p2, %r7, 0; @%p2 bra L;",
        f"L: {ROUND} shl.b32 %r3, %r3, 1; setp.gt.s32 %p2, %r3, 0; @%p2 bra L;",
        f"L: {ROUND} sub.s32 %r3, %r3, 1; setp.gt.s32 %p2, %r3, 0; setp.eq.s32 %p3, %r4, 0; "
        "@%p3 setp.gt.s32 %p2, %r3, 5; @%p2 bra L;",
        f"setp.eq.s32 %p3, %r4, 0; L: {ROUND} sub.s32 %r3, %r3, 1; @%p3 setp.gt.s32 %p2, %r3, 5; @%p2 bra L;",
        f"L: {ROUND} setp.eq.s32 %p3, %r4, 0; @%p3 sub.s32 %r3, %r3, 1; setp.gt.s32 %p2, %r3, 0; @%p2 bra L;",
        f"L: {ROUND} add.s32 %r5, %r5, 1; add.s32 %r4, %r4, %r5; setp.lt.s32 %p2, %r4, %r3; @%p2 bra L;",
        f"setp.gt.s32 %p2, %r3, 4; L: {ROUND} sub.s32 %r3, %r3, 1; @%p2 bra L;",
    ],
    ids=[
        "not in every round", "by the way of the round", "doubled", "set twice", "set under a predicate",
        "counted under a predicate", "of a sum that grows", "set before the loop",
    ],
)  # fmt: skip
def test_not_counted(loop: str) -> None:
    assert not is_counted(loop)
