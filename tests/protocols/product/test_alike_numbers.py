"""A ring that goes on from tile to tile: the reader computes its stage behind a tile from n, as CUTLASS does."""

from __future__ import annotations

import pytest

from ptxcheck.protocols.product import exploration
from ptxcheck.protocols.product.for_all import Open, Shown
from tests.protocols.product.three_stage_ring import FILLS, INITIALISED, TAKES, shown_with

ADVANCE = """
add.u32 %r20, %r10, %r3; mul.hi.u32 %r21, %r20, 0xaaaaaaab; shr.u32 %r21, %r21, 1; setp.lt.u32 %p5, %r3, 3;
@%p5 bra FEW;
and.b32 %r22, %r21, 1; xor.b32 %r12, %r12, %r22; bra MOVED;
FEW: setp.gt.u32 %p6, %r20, 2; selp.u32 %r22, 1, 0, %p6; xor.b32 %r12, %r12, %r22;
MOVED: mul.lo.u32 %r21, %r21, 3; sub.u32 %r10, %r20, %r21;
"""
"""Stage %r10 of 3, and phase %r12, n rounds later: one way for few rounds, and one for more than there are stages."""
TEXT = f"""
mov.u32 %r1, smem; mov.u32 %r2, %tid.x; ld.param.u32 %r3, [n]; ld.param.u32 %r4, [m];
mov.u32 %r5, %ctaid.x; mov.u32 %r7, %nctaid.x;
{INITIALISED}setp.lt.s32 %p4, %r3, 1; @%p4 bra DONE; setp.ge.s32 %p4, %r5, %r4; @%p4 bra DONE;
mov.u32 %r13, 0; setp.ge.u32 %p2, %r2, 32; @%p2 bra CONSUMER;
mov.u32 %r14, 1;
LOADED: mov.u32 %r15, %r3;
{FILLS}add.s32 %r5, %r5, %r7; setp.lt.s32 %p4, %r5, %r4; @%p4 bra LOADED;
bra DONE;
CONSUMER: mov.u32 %r10, 0; mov.u32 %r12, 0;
TILE: mov.u32 %r13, %r10; mov.u32 %r14, %r12; mov.u32 %r15, %r3;
{TAKES}{ADVANCE}add.s32 %r5, %r5, %r7; setp.lt.s32 %p4, %r5, %r4; @%p4 bra TILE;
DONE:
"""


def shown(changes: dict[str, str] | None = None) -> Shown | Open:
    return shown_with(TEXT, changes)


@pytest.mark.usefixtures("one_exploration")
def test_a_reader_that_computes_its_stage_behind_each_tile() -> None:
    found = shown()
    assert isinstance(found, Shown)
    assert "n is not negative" in {each.text for each in found.assumptions}


@pytest.mark.usefixtures("one_exploration")
def test_where_a_tile_began_matters_with_the_rounds_since_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """The stage at which a tile began, and the rounds since, are as many numbers as the sum of both."""
    together = shown()
    monkeypatch.setattr(exploration, "with_alike_numbers", lambda automata, roles, questions, effort: roles)
    apart = shown()
    assert isinstance(together, Shown)
    assert isinstance(apart, Shown)
    assert together.states < apart.states


WRONG = {
    "one stage more": {"sub.u32 %r10, %r20, %r21;": "sub.u32 %r10, %r20, %r21; add.u32 %r10, %r10, 1;"},
    "few rounds never turn the phase": {"setp.gt.u32 %p6, %r20, 2;": "setp.gt.u32 %p6, %r20, 9;"},
    "many rounds never turn the phase": {"and.b32 %r22, %r21, 1; xor": "mov.u32 %r22, 0; xor"},
    "few rounds, and one more": {"setp.lt.u32 %p5, %r3, 3;": "setp.lt.u32 %p5, %r3, 5;"},
    "another divisor": {"mul.lo.u32 %r21, %r21, 3;": "mul.lo.u32 %r21, %r21, 2;"},
    "one round less": {"mov.u32 %r14, %r12; mov.u32 %r15, %r3;": "mov.u32 %r14, %r12; add.s32 %r15, %r3, -1;"},
    "the loader begins anew": {"LOADED: mov.u32 %r15, %r3;": "LOADED: mov.u32 %r15, %r3; mov.u32 %r13, 0;"},
}  # fmt: skip


@pytest.mark.usefixtures("one_exploration")
@pytest.mark.parametrize("name", WRONG)
def test_nothing_is_shown_where_they_stand_apart(name: str) -> None:
    assert isinstance(shown(WRONG[name]), Open)


@pytest.mark.parametrize("name", WRONG)
def test_nothing_is_shown_of_these_by_any_way(name: str) -> None:
    assert isinstance(shown(WRONG[name]), Open)
