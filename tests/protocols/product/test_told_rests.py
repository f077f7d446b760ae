"""A ring that is left where a number of the host says, behind a loop that has counted to it: the rounds tell where."""

from __future__ import annotations

import pytest

from ptxcheck.protocols.product import for_all
from ptxcheck.protocols.product.for_all import Open, Shown
from tests.protocols.product.three_stage_ring import FILLS, INITIALISED, TAKES, shown_with

TAIL = """
mul.hi.u32 %r20, %r3, 0xaaaaaaab; shr.u32 %r20, %r20, 1; and.b32 %r22, %r20, 1; xor.b32 %r12, %r22, 1;
mul.lo.u32 %r20, %r20, 3; sub.u32 %r10, %r3, %r20;
"""
"""Where the loader stands behind n rounds: stage %r10 of 3, and phase %r12."""
WAIT = """
shl.b32 %r16, %r10, 3; add.u32 %r16, %r16, %r1;
LAST{each}: mbarrier.try_wait.parity.shared::cta.b64 %p8, [%r16+24], %r12; @!%p8 bra LAST{each};
add.u32 %r10, %r10, 1; setp.eq.u32 %p9, %r10, 3; selp.u32 %r17, 1, 0, %p9; xor.b32 %r12, %r12, %r17;
selp.u32 %r10, 0, %r10, %p9;
"""
TEXT = f"""
mov.u32 %r1, smem; mov.u32 %r2, %tid.x; ld.param.u32 %r3, [n];
{INITIALISED}mov.u32 %r13, 0; mov.u32 %r15, %r3; setp.ge.u32 %p2, %r2, 32; @%p2 bra CONSUMER;
mov.u32 %r14, 1; setp.lt.s32 %p4, %r3, 1; @%p4 bra FILLED;
{FILLS}FILLED: {{tail}}
bra DONE;
CONSUMER: mov.u32 %r14, 0; setp.lt.s32 %p4, %r3, 1; @%p4 bra DONE;
{TAKES}DONE:
"""


def shown(tail: str, waits: int = 3, changes: dict[str, str] | None = None) -> Shown | Open:
    return shown_with(
        TEXT.format(tail=tail + "".join(WAIT.format(each=each) for each in range(waits))), changes
    )


@pytest.mark.usefixtures("one_exploration")
def test_a_loader_waits_behind_its_last_round_for_all_stages() -> None:
    found = shown(TAIL)
    assert isinstance(found, Shown)
    assert "n is not negative" in {each.text for each in found.assumptions}


@pytest.mark.usefixtures("one_exploration")
def test_a_loader_whose_first_round_stands_in_front_of_its_loop() -> None:
    """The loop counts to n - 1 then."""
    first = """
st.shared.u32 [%r1+64], %r15; mbarrier.arrive.shared::cta.b64 _, [%r1]; mov.u32 %r13, 1; add.s32 %r15, %r15, -1;
setp.lt.s32 %p4, %r15, 1; @%p4 bra FILLED;
NEXT: shl"""
    assert isinstance(shown(TAIL, changes={"NEXT: shl": first}), Shown)


MASKED = """
shr.u32 %r20, %r3, 1; and.b32 %r22, %r20, 1; xor.b32 %r12, %r22, 1; and.b32 %r10, %r3, 1;
"""
"""The same for a ring of two stages: of a negative n the low bits are others."""
OF_TWO = {
    "setp.eq.u32 %p9, %r13, 3": "setp.eq.u32 %p9, %r13, 2",
    "setp.eq.u32 %p9, %r10, 3": "setp.eq.u32 %p9, %r10, 2",
}


@pytest.mark.parametrize("most", [0, 16])
def test_few_rounds_tell_a_size_alone(monkeypatch: pytest.MonkeyPatch, most: int) -> None:
    """With n = -1 no round is made, and the loader waits for a stage that nobody frees."""
    monkeypatch.setattr(for_all, "_MOST_RESIDUES", most)
    found = shown(MASKED, waits=2, changes=OF_TWO)
    assert isinstance(found, Shown)
    assert "n is not negative" in {each.text for each in found.assumptions}


@pytest.mark.parametrize(
    "counted", ["add.s32 %r3, %r3, -4; shr.s32 %r3, %r3, 1;", "mul.lo.u32 %r3, %r3, %r4;"]
)
def test_a_computed_number_may_be_negative_for_sizes(counted: str) -> None:
    """With n = 3 the first is -1; the product of sizes may wrap around."""
    changes = {**OF_TWO, "ld.param.u32 %r3, [n];": f"ld.param.u32 %r3, [n]; ld.param.u32 %r4, [m]; {counted}"}
    assert isinstance(shown(MASKED, waits=2, changes=changes), Open)


WRONG = {
    "one round more": {"sub.u32 %r10, %r3, %r20;": "sub.u32 %r10, %r3, %r20; add.u32 %r10, %r10, 1;"},
    "the other phase": {"xor.b32 %r12, %r22, 1;": "mov.u32 %r12, %r22;"},
    "a phase that stays": {"xor.b32 %r12, %r22, 1;": "mov.u32 %r12, 1;"},
    "another divisor": {"mul.lo.u32 %r20, %r20, 3;": "mul.lo.u32 %r20, %r20, 2;"},
    "counted to less": {"mov.u32 %r15, %r3; setp.ge": "add.s32 %r15, %r3, -1; setp.ge"},
}  # fmt: skip


@pytest.mark.parametrize("name", WRONG)
def test_nothing_is_shown_where_they_stand_apart(name: str) -> None:
    assert isinstance(shown(TAIL, changes=WRONG[name]), Open)


def test_nothing_is_shown_of_a_wait_for_a_stage_that_nobody_frees() -> None:
    assert isinstance(shown(TAIL, waits=4), Open)
