"""Stores of several threads to the same bytes by one instruction."""

from __future__ import annotations

import pytest

from ptxcheck.protocols.model.outcome import Flaw
from ptxcheck.protocols.order.axioms import COPIES_OF_ONE_INSTRUCTION
from ptxcheck.protocols.proof.evidence import Verification
from ptxcheck.verdict import Property, VerdictKind
from tests.protocols.corpus_runs import ROOT
from tests.protocols.machine_runs import kernel
from tests.protocols.verifying import kind, verified

TEXT = """
mov.u32 %r9, %tid.x; mov.u32 %r1, smem; shr.u32 %r2, %r9, 5; and.b32 %r3, %r9, 31; ld.param.u32 %r4, [n];
mov.u32 %r5, 0; ld.param.u64 %rd1, [p]; mul.wide.u32 %rd2, %r9, 4; add.u64 %rd1, %rd1, %rd2; ld.global.u32 %r6, [%rd1];
shl.b32 %r7, %r4, 2; add.u32 %r7, %r7, %r1; shl.b32 %r8, %r3, 2; add.u32 %r8, %r8, %r1; setp.lt.u32 %p3, %r9, 2;
setp.gt.u32 %p4, %r9, 62;
{loop}
{guard}
{predicate} st.shared.u32 [{place}], {value};
E: {again}
bar.sync 0;
"""
LEADERS = "setp.ne.u32 %p1, %r3, 0; @%p1 bra E;"
ONE_WARP = "setp.gt.u32 %p1, %r9, 31; @%p1 bra E;"


def slots(
    value: str, guard: str = "", loop: str = "", again: str = "", place: str = "%r1", predicate: str = ""
) -> VerdictKind:
    text = TEXT.format(value=value, guard=guard, loop=loop, again=again, place=place, predicate=predicate)
    return kind(verified(kernel(text, threads=64)), Property.SLOT_SAFETY)


@pytest.mark.parametrize(
    ("value", "guard"), [("%r9", ""), ("%r2", ""), ("%r2", LEADERS), ("%r3", ONE_WARP), ("%r9", ONE_WARP)]
)
def test_values_that_surely_differ(value: str, guard: str) -> None:
    assert slots(value, guard) is VerdictKind.VIOLATED


BY_THREAD = [
    ("add.u32 %r10, %r4, %r9;", VerdictKind.VIOLATED),
    ("sub.u32 %r10, %r9, 7; xor.b32 %r10, %r10, %r4;", VerdictKind.VIOLATED),
    ("mov.u32 %r10, %r4; @%p4 add.u32 %r10, %r10, 1;", VerdictKind.VIOLATED),
    ("xor.b32 %r11, %r4, 5; mov.u32 %r10, %r4; @%p4 mov.u32 %r10, %r11;", VerdictKind.VIOLATED),
    ("mov.u32 %r10, %r4; @%p4 add.u32 %r10, %r10, 0;", VerdictKind.ASSUMES),
    ("xor.b32 %r11, %r4, 5; add.u32 %r10, %r4, 5; @%p4 mov.u32 %r10, %r11;", VerdictKind.ASSUMES),
    ("mul.lo.u32 %r10, %r4, %r9;", VerdictKind.ASSUMES),
    ("and.b32 %r10, %r4, %r9;", VerdictKind.ASSUMES),
    ("add.u32 %r10, %r6, %r9;", VerdictKind.ASSUMES),
    ("add.u32 %r10, %r4, 3;", VerdictKind.PROVED),
]
"""How each thread makes its value of one that all have, and what is said of it."""


@pytest.mark.parametrize(("computed", "verdict"), BY_THREAD)
def test_values_relative_to_one_that_all_threads_have(computed: str, verdict: VerdictKind) -> None:
    assert slots("%r10", guard=computed) is verdict


def test_values_relative_to_a_number_of_another_round() -> None:
    """Even warps store 0 - 0 in the first round, odd ones 1 - 1 in the second."""
    body = """
    mov.u32 %r9, %tid.x; mov.u32 %r1, smem; shr.u32 %r2, %r9, 5; and.b32 %r2, %r2, 1; mov.u32 %r5, 0;
L:  setp.ne.u32 %p1, %r2, %r5; @%p1 bra E;
    bar.warp.sync -1; {computed}
    st.shared.u32 [%r1], %r10;
E:  add.u32 %r5, %r5, 1; setp.lt.u32 %p2, %r5, 2; @%p2 bra L;
    bar.sync 0;
    """
    right = kernel(body.format(computed="sub.u32 %r10, %r5, %r2;"), threads=128)
    assert kind(verified(right), Property.SLOT_SAFETY) is not VerdictKind.VIOLATED
    wrong = kernel(body.format(computed="add.u32 %r10, %r5, %r9;"), threads=128)
    assert kind(verified(wrong), Property.SLOT_SAFETY) is VerdictKind.VIOLATED


@pytest.mark.parametrize("guard", ["", LEADERS, ONE_WARP])
def test_values_that_may_differ(guard: str) -> None:
    assert slots("%r6", guard) is VerdictKind.ASSUMES


def test_threads_of_two_warps_that_share_words() -> None:
    assert slots("%r9", place="%r8") is VerdictKind.VIOLATED
    assert slots("%r3", place="%r8") is VerdictKind.ASSUMES
    assert slots("%r9", ONE_WARP, place="%r8") is VerdictKind.PROVED


@pytest.mark.parametrize(
    ("predicate", "verdict"), [("@%p3", VerdictKind.VIOLATED), ("@%p4", VerdictKind.PROVED)]
)
def test_stores_that_a_predicate_leaves_to_some(predicate: str, verdict: VerdictKind) -> None:
    """Two threads store, or one, as their index says; the predicate is not followed for the sake of it."""
    assert slots("%r9", predicate=predicate) is verdict


@pytest.mark.parametrize(
    ("value", "predicate", "is_named"),
    [("%r9", "", True), ("%r2", "", True), ("7", "", False), ("%r9", "@%p4", False), ("%r9", "@%p3", True)],
)
def test_a_place_that_is_not_known(value: str, predicate: str, is_named: bool) -> None:
    text = TEXT.format(value=value, guard="", loop="", again="", place="%r7", predicate=predicate)
    result = verified(kernel(text, threads=64))
    assert kind(result, Property.SLOT_SAFETY) is VerdictKind.ASSUMES
    assert any("one value" in each for each in result.tolerated.get(Property.SLOT_SAFETY, ())) is is_named


@pytest.mark.parametrize(
    ("value", "guard"), [("%r4", ""), ("7", ""), ("%r4", LEADERS), ("%r2", ONE_WARP), ("%r4", ONE_WARP)]
)
def test_values_that_are_one(value: str, guard: str) -> None:
    assert slots(value, guard) is VerdictKind.PROVED


@pytest.mark.parametrize(("value", "verdict"), [("%r5", VerdictKind.ASSUMES), ("7", VerdictKind.PROVED)])
def test_warps_in_different_rounds(value: str, verdict: VerdictKind) -> None:
    again = "add.u32 %r5, %r5, 1; setp.lt.u32 %p2, %r5, 3; @%p2 bra L;"
    assert slots(value, loop="L: bar.warp.sync -1;", again=again) is verdict


COPIES_OF_ONE_WORD = """
    mov.u32 %r1, smem; mov.u32 %r9, %tid.x; setp.eq.u32 %p9, %r9, 0; ld.param.u64 %rd1, [p]; add.u32 %r2, %r1, 64;
    @%p9 mbarrier.init.shared.b64 [%r1], 33; bar.sync 0;
    @%p9 mbarrier.arrive.shared.b64 _, [%r1];
    {copy}
    cp.async.mbarrier.arrive.noinc.shared.b64 [%r1];
WAIT:
    mbarrier.try_wait.parity.shared.b64 %p8, [%r1], 0; @!%p8 bra WAIT;
    ld.shared.u32 %r3, [%r2]; st.global.u32 [%rd1], %r3;
"""
"""Lanes of one warp that copy the same word to the same place, by one instruction or by two."""
COPY_BY_EACH_LANE = "cp.async.ca.shared.global [%r2], [%rd1], 4;"


def _verified_copies(copy: str) -> Verification:
    return verified(kernel(COPIES_OF_ONE_WORD.format(copy=copy), threads=32))


def test_lanes_that_copy_by_one_instruction_do_not_race() -> None:
    result = _verified_copies(COPY_BY_EACH_LANE)
    assert kind(result, Property.SLOT_SAFETY) is VerdictKind.PROVED
    assert {problem.flaw for run in result.strict for problem in run.problems} >= {Flaw.WRITES_COLLIDE}


@pytest.mark.parametrize("apart", ["@%p9", "@!%p9"], ids=["first lane", "others"])
def test_lanes_that_copy_from_different_places_are_taken_to_bring_the_same(apart: str) -> None:
    result = _verified_copies(f"{apart} add.u64 %rd1, %rd1, 64; {COPY_BY_EACH_LANE}")
    assert kind(result, Property.SLOT_SAFETY) is VerdictKind.ASSUMES
    assert COPIES_OF_ONE_INSTRUCTION.text in result.tolerated[Property.SLOT_SAFETY]


def test_lanes_that_copy_by_two_instructions_race() -> None:
    result = _verified_copies(f"@%p9 {COPY_BY_EACH_LANE} @!%p9 {COPY_BY_EACH_LANE}")
    assert kind(result, Property.SLOT_SAFETY) is VerdictKind.VIOLATED


_WARPS_COPY = (ROOT / "groups" / "warps_copy_the_same.ptx").read_text()
_SOURCE = "    mov.u32 a, tile;\n"
_STEP = "add.u64 f, f, 512;"


@pytest.mark.parametrize(
    ("source", "step", "expected"),
    [
        ("", _STEP, VerdictKind.ASSUMES),
        ("", "mul.wide.u32 o, m, 4; add.u64 f, f, o;", VerdictKind.ASSUMES),
        ("shr.u32 i, t, 5; mul.wide.u32 o, i, 512; add.u64 f, f, o;", _STEP, VerdictKind.VIOLATED),
        ("setp.ge.u32 p, t, 96; @p add.u64 f, f, 16;", _STEP, VerdictKind.VIOLATED),
        ("", "cvt.u64.u32 o, t; add.u64 f, f, o;", VerdictKind.VIOLATED),
        ("", "setp.ge.u32 p, t, 96; @p add.u64 f, f, 16;", VerdictKind.VIOLATED),
    ],
)
def test_warps_that_copy_the_same_by_one_instruction(source: str, step: str, expected: VerdictKind) -> None:
    """Or from elsewhere, at once or from the second round on."""
    assert _SOURCE in _WARPS_COPY
    assert _STEP in _WARPS_COPY
    text = _WARPS_COPY.replace(_SOURCE, _SOURCE + source).replace(_STEP, step)
    assert kind(verified(text), Property.SLOT_SAFETY) is expected


READ_AND_STORE = """
mov.u32 %r9, %tid.x; mov.u32 %r1, smem; ld.param.u32 %r4, [n];
st.shared.u32 [%r1], %r4;
bar.sync 0;
{between} {access}
{meet}
st.shared.u32 [%r1], %r5;
{behind}
bar.sync 0;
"""
READ = "ld.shared.u32 %r5, [%r1];"
BY_THE_SECOND_WARP = "setp.lt.u32 %p1, %r9, 32; @%p1 bra E;"


@pytest.mark.parametrize(
    ("parts", "verdict"),
    [
        ({"access": READ}, VerdictKind.VIOLATED),
        ({"access": READ, "meet": "bar.sync 0;"}, VerdictKind.PROVED),
        ({"access": READ, "between": BY_THE_SECOND_WARP, "meet": "E:"}, VerdictKind.VIOLATED),
    ],
    ids=["behind a read", "a barrier between", "behind a read of one warp"],
)
def test_own_store_hides_no_read_from_stores_of_others(parts: dict[str, str], verdict: VerdictKind) -> None:
    text = READ_AND_STORE.format(**{"between": "", "meet": "", "behind": ""} | parts)
    assert kind(verified(kernel(text, threads=64)), Property.SLOT_SAFETY) is verdict
