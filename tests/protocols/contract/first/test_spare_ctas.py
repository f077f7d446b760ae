"""CTAs without work: a race that only they have is none where the grid is as large as the work."""

from __future__ import annotations

import pytest

from ptxcheck.protocols.contract.first.spare_ctas import spare_cta
from ptxcheck.protocols.proof.evidence import Verification
from ptxcheck.protocols.symex.values.symbol import Condition, Form, atom
from ptxcheck.verdict import Property, VerdictKind
from tests.cfg.kernels import cfg_of
from tests.protocols.machine_runs import kernel
from tests.protocols.verifying import kind, verified

OF_HOST = "ld.param.u32 %r2, [n];"
IN_MEMORY = (
    "ld.param.u64 %rd1, [p]; mul.wide.u32 %rd2, %r4, 4; add.s64 %rd1, %rd1, %rd2; ld.global.u32 %r2, [%rd1];"
)
BODY = """
    mov.u32 %r1, smem; mov.u32 %r9, %tid.x; mov.u32 %r4, %ctaid.x;
    setp.lt.u32 %p2, %r9, 32;
    @!%p2 bra READER;
    st.shared.u32 [smem], 7;
    {length} shl.b32 %r3, %r4, 7; {test} @%p1 bra END;
    bar.sync 1, 64;
    bra END;
READER:
    {length} shl.b32 %r3, %r4, 7; {test} @%p1 bra LAST;
    bar.sync 1, 64;
    ld.param.u64 %rd3, [p]; st.global.u32 [%rd3], %r9;
LAST:
    ld.shared.u32 %r5, [smem];
    {result}
END:
"""
"""One warp writes a word and another one reads it, behind a barrier where there is work."""
AT_LEAST = "setp.ge.s32 %p1, %r3, %r2;"
RESULT = "ld.param.u64 %rd4, [p]; st.global.u32 [%rd4], %r5;"


def _verify(length: str = OF_HOST, test: str = AT_LEAST, result: str = "") -> Verification:
    return verified(kernel(BODY.format(length=length, test=test, result=result), threads=64))


@pytest.mark.parametrize(
    "test",
    [AT_LEAST, "setp.le.s32 %p1, %r2, %r3;", "setp.gt.s32 %p1, %r3, %r2;", "setp.hs.u32 %p1, %r3, %r2;"],
)
def test_a_race_of_ctas_without_work_is_a_condition_on_the_grid(test: str) -> None:
    result = _verify(test=test)
    assert kind(result, Property.SLOT_SAFETY) is VerdictKind.ASSUMES
    (required,) = result.required.values()
    assert required.text.startswith("every CTA of the grid has work (128*%ctaid.x < n)")


def test_sizes_in_memory_may_be_smaller_than_what_the_grid_is_made_for() -> None:
    assert kind(_verify(length=IN_MEMORY), Property.SLOT_SAFETY) is VerdictKind.VIOLATED


def test_a_cta_that_leaves_a_result_has_work() -> None:
    assert kind(_verify(result=RESULT), Property.SLOT_SAFETY) is VerdictKind.VIOLATED


def test_a_tile_that_ends_early_is_no_cta_without_work() -> None:
    last_rows = "add.u32 %r3, %r3, 64;" + AT_LEAST
    assert kind(_verify(test=last_rows), Property.SLOT_SAFETY) is VerdictKind.VIOLATED


def test_a_number_that_is_not_equal_is_no_place_beyond_a_size() -> None:
    result = _verify(test="setp.eq.s32 %p1, %r3, %r2;")
    assert kind(result, Property.SLOT_SAFETY) is VerdictKind.VIOLATED


IN_TABLE = """
    ld.param.u64 %rd1, [p]; mul.wide.u32 %rd2, %r4, 4; add.s64 %rd1, %rd1, %rd2;
    ld.global.u32 %r2, [%rd1+{end}]; ld.global.u32 %r10, [%rd1]; sub.s32 %r2, %r2, %r10; mov.u32 %r3, 0;
"""
"""A length as the difference of two entries of a table, compared with none."""


@pytest.mark.parametrize(
    ("end", "test", "expected"),
    [
        (4, "setp.eq.s32 %p1, %r2, 0; @%p1 bra END; setp.lt.s32 %p1, %r2, 1;", VerdictKind.ASSUMES),
        (8, "setp.eq.s32 %p1, %r2, 0; @%p1 bra END; setp.lt.s32 %p1, %r2, 1;", VerdictKind.VIOLATED),
        (4, "setp.lt.s32 %p1, %r2, 1;", VerdictKind.VIOLATED),
    ],
    ids=["negative", "not side by side", "nothing to do"],
)
def test_lengths_in_a_table_are_not_negative(end: int, test: str, expected: VerdictKind) -> None:
    result = _verify(length=IN_TABLE.format(end=end), test=test, result=RESULT)
    assert kind(result, Property.SLOT_SAFETY) is expected
    texts = [required.text for required in result.required.values()]
    assert all("side by side in memory is negative" in text for text in texts)
    assert bool(texts) == (expected is VerdictKind.ASSUMES)


BY_PLACE = """
    mov.u32 %r9, %tid.x; mov.u32 %r4, %ctaid.x; ld.param.u64 %rd3, [p];
    setp.lt.u32 %p2, %r9, 32;
    setp.gt.s32 %p1, %r4, 15;
    @!%p2 bra READER;
    st.shared.u32 [smem], 7;
    @%p1 bra END;
    mov.u32 %r5, {first};
WRITES:
    bar.sync 1, 64;
    add.s32 %r5, %r5, 1; setp.lt.s32 %p3, %r5, 16; @%p3 bra WRITES;
    bra END;
READER:
    @%p1 bra {beyond};
    mov.u32 %r5, {first};
READS:
    bar.sync 1, 64;
    add.s32 %r5, %r5, 1; setp.lt.s32 %p3, %r5, 16; @%p3 bra READS;
LAST:
    ld.shared.u32 %r6, [smem]; st.global.u32 [%rd3], %r6;
    bra END;
OTHER:
    ld.shared.u32 %r6, [smem]; st.global.u32 [%rd3+4], %r6;
    bra END;
ALIKE:
    mov.u32 %r5, 0;
    bra LAST;
END:
"""
"""Two warps meet in each of the rounds that their place leaves; a CTA that makes none reads without having met."""


TABLE = "mul.wide.u32 %rd4, %r4, 4; add.s64 %rd4, %rd3, %rd4; ld.global.u32 %r5, [%rd4];"


def _by_place(first: str = "%r4", beyond: str = "LAST") -> Verification:
    return verified(kernel(BY_PLACE.format(first=first, beyond=beyond), threads=64))


@pytest.mark.parametrize("beyond", ["LAST", "ALIKE"])
def test_a_place_that_leaves_no_round_is_none_of_a_grid_that_the_compiler_knew(beyond: str) -> None:
    result = _by_place(beyond=beyond)
    assert kind(result, Property.SLOT_SAFETY) is VerdictKind.ASSUMES
    (required,) = result.required.values()
    assert required.text.startswith("the place of every CTA of the grid leaves it rounds (%ctaid.x < 16)")


@pytest.mark.parametrize(
    ("first", "beyond"), [("8", "LAST"), ("%r4", "OTHER")], ids=["counts from elsewhere", "code of its own"]
)
def test_a_place_that_is_compared_for_another_reason_is_a_role(first: str, beyond: str) -> None:
    assert kind(_by_place(first, beyond), Property.SLOT_SAFETY) is VerdictKind.VIOLATED


@pytest.mark.parametrize(
    "start",
    ["mov.u32 %r5, %ctaid.x; st.global.u32 [%rd3+8], %r5; mov.u32 %r5, 8;", TABLE],
    ids=["register used again", "from a table"],
)
def test_a_loop_that_does_not_count_from_the_place_is_no_work_of_it(start: str) -> None:
    text = BY_PLACE.replace("mov.u32 %r5, {first};", start).format(beyond="LAST")
    assert kind(verified(kernel(text, threads=64)), Property.SLOT_SAFETY) is not VerdictKind.ASSUMES


def test_rounds_that_go_wrong_are_found_where_there_are_some() -> None:
    text = kernel(BY_PLACE.format(first="%r4", beyond="LAST"), threads=64)
    without = text.replace("READS:\n    bar.sync 1, 64;", "READS:\n    bar.arrive 1, 64;")
    assert without != text
    assert kind(verified(without), Property.SLOT_SAFETY) is VerdictKind.VIOLATED


@pytest.mark.parametrize(("number", "said"), [(1, "128*%ctaid.x < n"), (2, None)])
def test_a_size_that_a_run_is_made_with_stands_there_as_its_number(number: int, said: str | None) -> None:
    place, size = (atom(*name).terms[0][0] for name in (("special", "%clusterid.x"), ("param", "n", 0, 4)))
    beyond = Condition("lt", Form(((place, 128),), -1), 0), False
    assert spare_cta(cfg_of("ret;"), [beyond], frozenset(), {size: number}) == said
    assert spare_cta(cfg_of("ret;"), [beyond], frozenset(), {}) is None
