"""Ranks: threads store at sums of counts. Where a rank may be that of two threads, nothing is proved."""

from __future__ import annotations

import pytest

from ptxcheck.protocols.races.sums_of_words import NOTHING, Words, added, are_exclusive_sums, word
from ptxcheck.verdict import VerdictKind

from .test_judgement import only_stays_inside, races

VIOLATED = VerdictKind.VIOLATED

ZEROS = "st.shared.u32 [%r2], 0; st.shared.u32 [%r2+256], 0; st.shared.u32 [%r2+512], 0; st.shared.u32 [%r2+768], 0; "
""" A thread's words in 4 rows of 64. """
COUNT = "ld.shared.u32 %r7, [%r6]; add.u32 %r8, %r7, 1; st.shared.u32 [%r6], %r8; "
BARRIER = "bar.sync 0; "
UP = "shfl.sync.up.b32 %r15|%p1, %r14, {0}, 0, -1; @%p1 add.u32 %r14, %r14, %r15; "
SUMS = (
    "shl.b32 %r9, %r0, 4; add.u32 %r9, %r9, %r20; "
    "ld.shared.v4.u32 {%r10, %r11, %r12, %r13}, [%r9]; "
    "add.u32 %r14, %r10, %r11; add.u32 %r14, %r14, %r12; add.u32 %r14, %r14, %r13; mov.u32 %r16, %r14; "
    + "".join(UP.format(1 << step) for step in range(5))
)
""" The sums of the 4 words of each thread in its warp, up to it. """
WARPS = (
    "shr.u32 %r18, %r0, 5; setp.eq.u32 %p2, %r0, 31; @%p2 st.shared.u32 [a+1024], %r14; bar.sync 0; "
    "setp.eq.u32 %p3, %r18, 0; "
)
OTHERS = "ld.shared.u32 %r22, [a+1024]; selp.b32 %r22, 0, %r22, %p3; add.u32 %r14, %r14, %r22; "
EXCLUSIVE = "sub.u32 %r14, %r14, %r16; "
BACK = (
    "add.u32 %r10, %r10, %r14; add.u32 %r11, %r11, %r10; add.u32 %r12, %r12, %r11; "
    "st.shared.v4.u32 [%r9], {%r14, %r10, %r11, %r12}; "
)
PLACE = "ld.shared.u32 %r23, [%r6]; "
SCATTER = (
    "add.u32 %r24, %r23, %r7; shl.b32 %r25, %r24, 2; add.u32 %r26, %r21, %r25; st.shared.u32 [%r26], %r0; "
)
LOADED = (
    "ld.param.u64 %rd1, [p]; cvt.u64.u32 %rd2, %r1; add.u64 %rd3, %rd1, %rd2; ld.global.u32 %r3, [%rd3]; "
)
DIGIT = LOADED + "and.b32 %r4, %r3, 3; shl.b32 %r5, %r4, 8; add.u32 %r6, %r2, %r5; "
PARTS = {
    "digit": DIGIT, "zeros": ZEROS, "count": COUNT, "counted": BARRIER, "sums": SUMS, "warps": WARPS,
    "others": OTHERS, "exclusive": EXCLUSIVE, "back": BACK, "summed": BARRIER, "place": PLACE, "placed": "",
    "scatter": SCATTER, "end": "",
}  # fmt: skip


def body(**changed: str) -> str:
    assert changed.keys() <= PARTS.keys()
    return "".join((PARTS | changed).values())


def test_ranks_of_a_block_differ() -> None:
    assert only_stays_inside(body(), ".reqntid 64")


ALSO_RIGHT = {
    "a barrier before the scatter": {"placed": BARRIER},
    "two numbers of each thread": {
        "count": COUNT
        + "shr.u32 %r27, %r3, 2; and.b32 %r27, %r27, 3; shl.b32 %r27, %r27, 8; add.u32 %r27, %r2, %r27; "
        "ld.shared.u32 %r28, [%r27]; add.u32 %r29, %r28, 1; st.shared.u32 [%r27], %r29; ",
        "place": PLACE + "ld.shared.u32 %r30, [%r27]; ",
        "end": "add.u32 %r31, %r30, %r28; shl.b32 %r31, %r31, 2; add.u32 %r31, %r21, %r31; st.shared.u32 [%r31], %r0; ",
    },
    "rounds": {
        "zeros": "mov.u32 %r31, 0; L: bar.sync 0; shr.u32 %r29, %r3, %r31; and.b32 %r4, %r29, 3; shl.b32 %r5, %r4, 8; "
        "add.u32 %r6, %r2, %r5; " + ZEROS,
        "end": "add.u32 %r31, %r31, 2; bar.sync 0; add.u32 %r27, %r21, %r1; ld.shared.u32 %r3, [%r27]; "
        "setp.lt.u32 %p5, %r31, 32; @%p5 bra L; ",
    },
    "other names for numbers of branches": {
        "others": "@%p3 bra N; ld.shared.u32 %r22, [a+1024]; bra O; N: mov.u32 %r22, 0; O: add.u32 %r14, %r14, %r22; "
    },
}


@pytest.mark.parametrize("change", ALSO_RIGHT.values(), ids=ALSO_RIGHT)
def test_ranks_differ_also_with(change: dict[str, str]) -> None:
    assert only_stays_inside(body(**change), ".reqntid 64")


ROUNDS = ALSO_RIGHT["rounds"]
WRONG = {
    "rounds that some threads are done with before others": ROUNDS
    | {"end": ROUNDS["end"].replace("setp.lt.u32 %p5, %r31, 32", "setp.lt.u32 %p5, %r31, %r3")},
    "inclusive sums": {"exclusive": ""},
    "no sum of the warp before": {"others": ""},
    "a word twice": {"back": BACK.replace("add.u32 %r12, %r12, %r11", "add.u32 %r12, %r11, %r11")},
    "a step of the shuffles missing": {"sums": SUMS.replace(UP.format(8), "")},
    "counts alone": {"scatter": SCATTER.replace("%r23, %r7", "%r7, 0")},
    "a row that is not set to 0": {"zeros": ZEROS.replace("st.shared.u32 [%r2+512], 0; ", "")},
    "a row that is set to 1": {"zeros": ZEROS.replace("[%r2+512], 0", "[%r2+512], 1")},
    "set to 0 behind the count": {"zeros": "", "count": COUNT + ZEROS},
    "counts that are not kept": {"count": COUNT.replace("st.shared.u32 [%r6], %r8; ", "")},
    "counts of nothing": {"count": COUNT.replace("%r7, 1", "%r7, 0")},
    "a digit too large": {"digit": DIGIT.replace("and.b32 %r4, %r3, 3", "and.b32 %r4, %r3, 7")},
    "a place of another digit": {"place": "xor.b32 %r6, %r6, 256; " + PLACE},
    "no barrier behind the counts": {"counted": ""},
    "no barrier behind the sums": {"summed": ""},
    "a field that is stored to after it was counted": {"counted": "st.shared.u32 [%r2], 0; " + BARRIER},
    "a field that is stored to before the place is loaded": {"place": "st.shared.u32 [%r2], 0; " + PLACE},
    "threads that have left": {"digit": DIGIT + "setp.gt.u32 %p4, %r3, 9; @%p4 exit; "},
    "some threads do not count": {
        "count": "setp.gt.u32 %p4, %r3, 9; mov.u32 %r7, 0; @%p4 bra K; " + COUNT + "K: "
    },
    "counts that a parameter goes into": {
        "sums": SUMS + "ld.param.u32 %r31, [n]; add.u32 %r14, %r14, %r31; "
    },
    "half of a rank": {"scatter": SCATTER.replace("shl.b32 %r25", "shr.u32 %r24, %r24, 1; shl.b32 %r25")},
    "counts of the round before": {
        "digit": DIGIT + "mov.u32 %r31, 0; mov.u32 %r27, 0; L: bar.sync 0; ",
        "scatter": SCATTER.replace("%r23, %r7", "%r23, %r27"),
        "end": "mov.u32 %r27, %r7; add.u32 %r31, %r31, 2; setp.lt.u32 %p5, %r31, 32; @%p5 bra L; ",
    },
}


@pytest.mark.parametrize("change", WRONG.values(), ids=WRONG)
def test_ranks_that_may_be_alike_are_not_proved(change: dict[str, str]) -> None:
    assert races(body(**change), ".reqntid 64") in (VerdictKind.UNKNOWN, VIOLATED)


# ---- sums


def test_sums_of_words_that_lie_side_by_side_are_short() -> None:
    total = NOTHING
    for index in range(100):
        total = added(total, word(index))
    assert len(total) == 2
    assert added(total, total, -1) == NOTHING


def test_fields_of_packed_words() -> None:
    """Of two words of two fields each: the second word, and all lower fields into the upper ones."""
    both = added(word(4), word(5))
    assert Words([4, 5], 16).fields_of(added(word(5), both, 1 << 16)) == [0b0010, 0b1011]
    assert Words([4, 5], 32).fields_of(both) == [0b11]
    assert Words([4, 5], 32).fields_of(added(both, word(4))) is None
    assert Words([4], 32).fields_of(both) is None


@pytest.mark.parametrize(
    ("sums", "are"),
    [([0b00, 0b01], True), ([0b10, 0b00], True), ([0b01, 0b11], False), ([0, 0], False), ([0b110, 0b100, 0], True),
     ([0b10, 0b01], False), ([0b000, 0b001, 0b001], False)],
)  # fmt: skip
def test_exclusive_sums(sums: list[int], are: bool) -> None:
    assert are_exclusive_sums(sums) is are
