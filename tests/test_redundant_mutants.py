"""Arguments that a mutant keeps a kernel right: each one applies to a kernel, and to no near twin of it."""

from __future__ import annotations

import pytest

from benchmarks.mutation.operators import mutants
from benchmarks.mutation.redundant import Redundancy
from benchmarks.mutation.subject import subjects
from ptxcheck.launches.hints import launch_of
from ptxcheck.source import Source

_KERNEL = """.version 8.6
.target sm_100a
.address_size 64
.visible .entry one(.param .u64 source, .param .u32 rounds) .reqntid {threads}
{{
    .shared .align 8 .b64 full[2];
    .shared .align 128 .b8 tile[8192];
    .reg .pred first, ready, odd, more;
    .reg .b32 thread, warp, at, word, other, column, round, n, taken;
    .reg .b64 from;
    ld.param.u64 from, [source];
    ld.param.u32 n, [rounds];
    mov.u32 thread, %tid.x;
    shr.u32 warp, thread, 5;
    setp.eq.u32 first, thread, 0;
    setp.gt.u32 odd, thread, 70;
    shl.b32 at, thread, 4;
    mov.u32 word, tile;
    add.u32 at, at, word;
    mov.u32 round, 0;
{body}
    ret;
}}
"""
_LOAD = "ld.shared.u32 word, [at];"
_STORE = "st.shared.u32 [at], thread;"
_MEET = "bar.sync 0;"
_COPY = "@first cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [tile], [from], 1024, [full];"
_EXPECT = "@first mbarrier.arrive.expect_tx.shared::cta.b64 _, [full], 1024;"
_INIT = "@first mbarrier.init.shared::cta.b64 [full], 1;"
_INVAL = "@first mbarrier.inval.shared::cta.b64 [full];"
_ARRIVE = "@first mbarrier.arrive.shared::cta.b64 _, [full];"
_POLL = "WAIT: mbarrier.try_wait.parity.shared::cta.b64 ready, [full], 0; @!ready bra WAIT;"
_POLL_ALONE = f"@!first bra ON; {_POLL} ON:"
_AWAITED = f"@!first bra ALONE; {_POLL} ALONE:"
_FENCE = "fence.proxy.async.shared::cta;"
_OUT = "@first cp.async.bulk.global.shared::cta.bulk_group [from], [tile], 1024;"
_CP = "cp.async.ca.shared.global [at], [from], 16;"
_COMMIT = "cp.async.commit_group;"
_BULK_COMMIT = "@first cp.async.bulk.commit_group;"
_BULK_WAIT = "cp.async.bulk.wait_group 0;"
_TAKE = "tcgen05.ld.sync.aligned.32x32b.x1.b32 {word}, [column];"
_PUT = "tcgen05.st.sync.aligned.32x32b.x1.b32 [column], {thread};"
_TAKEN = "tcgen05.wait::ld.sync.aligned;"
_PRODUCTS = "wgmma.wait_group.sync.aligned 0;"
_MULTIPLY = "wgmma.mma_async.sync.aligned.m64n8k32.s32.s8.s8 {taken, n, round, column}, from, from, 1;"
_COMMIT_TO = "@first tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [full];"
_FREE = "tcgen05.dealloc.cta_group::1.sync.aligned.b32 column, 32;"


def _other(statement: str) -> str:
    """Return a statement about the second mbarrier."""
    return statement.replace("[full]", "[full+8]")


def _wait(pending: int) -> str:
    return f"cp.async.wait_group {pending};"


def shown(operator: str, *body: str, threads: int = 128) -> list[bool]:
    """Tell for each mutant of one operator whether an argument shows that it is harmless."""
    text = _KERNEL.format(threads=threads, body="\n".join(f"    {each}" for each in body))
    subject = next(subjects(Source("kernel.ptx", text)))
    redundancy = Redundancy(subject, launch_of(subject.function, ())[0])
    return [redundancy.why(each) is not None for each in mutants(subject) if each.operator == operator]


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ((_STORE, _MEET, _LOAD), [False]),
        ((_STORE, _MEET, _MEET, _LOAD), [True, True]),
        ((_LOAD, _MEET, _LOAD), [True]),
        ((_LOAD, _MEET, _STORE), [False]),
        ((_LOAD, _MEET, _EXPECT, _MEET, _COPY), [True, True]),
        ((_LOAD, _MEET, _COPY), [False]),
        ((_EXPECT, _LOAD, _MEET, _COPY), [False]),
        ((_EXPECT, _MEET, _COPY), [True]),
        ((_EXPECT, _MEET, _COPY, _MEET, _POLL), [True, True]),
        ((_INIT, _MEET, _EXPECT, _COPY), [False]),
        ((_other(_INIT), _MEET, _EXPECT, _COPY), [True]),
        ((_INIT, _MEET, _POLL), [False]),
        ((_LOAD, _MEET, _INIT), [True]),
        (("ld.shared.u32 word, [full+4];", _MEET, _INIT), [False]),
        ((_POLL, _MEET, _LOAD), [True]),
        ((_POLL_ALONE, _MEET, _LOAD), [False]),
        ((_POLL, _MEET, _INVAL), [False]),
        ((_POLL, _MEET, _other(_INVAL)), [True]),
        ((_COPY, _MEET, _INVAL), [True]),
        ((_COPY, _POLL, _MEET, _INVAL), [False]),
        ((_EXPECT, _MEET, _INVAL), [False]),
        ((_POLL, _MEET, _ARRIVE), [False]),
        ((_POLL, _MEET, _EXPECT, _MEET, _COPY), [True, True]),
        ((_POLL, _MEET, _EXPECT, _COPY), [False]),
        ((_ARRIVE, _MEET, _POLL), [True]),
        ((_ARRIVE, _ARRIVE, _MEET, _POLL), [False]),
        ((_ARRIVE, _other(_ARRIVE), _MEET, _POLL), [True]),
        ((_CP, _COMMIT, _MEET, _LOAD), [True]),
        ((_CP, _COMMIT, _wait(0), _MEET, _LOAD), [False]),
        ((_CP, _COMMIT, _wait(0), _MEET, _FENCE, _MEET, _COPY), [True, True]),
        ((_CP, _COMMIT, _MEET, _wait(0), _FENCE, _MEET, _COPY), [True, False]),
        ((_STORE, _FENCE, _MEET, _OUT), [False]),
        ((_STORE, _FENCE, _MEET, _FENCE, _MEET, _OUT), [True, True]),
        ((_STORE, _FENCE, _MEET, _STORE, _FENCE, _MEET, _OUT), [False, False]),
        ((_STORE, _FENCE, _MEET, f"@first {_FENCE}", _MEET, _OUT), [False, False]),
        ((_LOAD, "bar.sync 1;", _MEET, _STORE), [True, True]),
        ((_LOAD, "bar.sync 1, 64;", _MEET, _STORE), [True, False]),
        ((_LOAD, "bar.sync 1, 64;", _STORE), [False]),
        (("wgmma.wait_group.sync.aligned 0;", _MEET, _LOAD), [True]),
        (("wgmma.wait_group.sync.aligned 0;", _MEET, _STORE), [False]),
        ((_LOAD, _MEET, "@odd bra ON;", "bar.sync 0;", "ON:", _LOAD), [False, False]),
        ((_LOAD, _MEET, "bar.red.popc.u32 other, 0, odd;", _STORE), [False, False]),
        ((_LOAD, _MEET, "call nothing;", _LOAD), [False]),
        ((_TAKE, _TAKEN, _MEET, _PUT), [True]),
        ((_TAKE, _TAKEN, _MEET, _FREE), [False]),
    ],
)  # fmt: skip
def test_a_barrier_is_left_out_where_nothing_must_stay_behind_it(
    body: tuple[str, ...], expected: list[bool]
) -> None:
    assert shown("drop-barrier", *body) == expected


def test_two_warps_that_share_lanes_of_tensor_memory_need_the_barrier() -> None:
    assert shown("drop-barrier", _TAKE, _TAKEN, _MEET, _PUT, threads=256) == [False]


_GREAT = "setp.gt.u32 more, n, 3;"
_ROLE = ("setp.lt.u32 ready, thread, 64;", "@!ready bra END;")
_HALF = "bar.sync 1, 64;"


@pytest.mark.parametrize(
    ("inside", "expected"),
    [
        ((_STORE, _HALF, _HALF, _LOAD), [True, True]),
        ((_HALF, _EXPECT, _HALF, _COPY, _HALF), [True, True, True]),
        ((_HALF, _LOAD, _HALF, _ARRIVE, _HALF), [True, False, True]),
        ((_HALF, "@odd bra ON;", _HALF, "ON:", _HALF), [False, False, False]),
        ((_HALF, _GREAT, "@more bra ON;", _HALF, "ON:", _HALF), [True, True, True]),
        (("@odd bra ON;", _HALF, "ON:", _HALF), [False, False]),
        ((_GREAT, "@more bra ON;", _HALF, _HALF, "bra END;", "ON:", _HALF, _HALF), [True, True, True, True]),
    ],
)
def test_a_barrier_of_some_warps_is_judged_where_they_come_to_it_together(
    inside: tuple[str, ...], expected: list[bool]
) -> None:
    """Others may act on an arrival, so what the warps read must stay in front of it."""
    assert shown("drop-barrier", *_ROLE, *inside, "END:") == expected


@pytest.mark.parametrize(
    ("operator", "body", "expected"),
    [
        ("later-barrier", (_LOAD, _MEET, _EXPECT, _COPY), [True]),
        ("later-barrier", (_INIT, _MEET, _EXPECT, _COPY), [False]),
        ("later-barrier", (_LOAD, _MEET, _POLL, _LOAD), [True]),
        ("earlier-barrier", (_EXPECT, _MEET, _COPY), [True]),
        ("earlier-barrier", (_STORE, _FENCE, _MEET, _OUT), [False]),
        ("earlier-barrier", (_POLL_ALONE, _EXPECT, _MEET, _COPY), [False]),
        ("earlier-barrier", (_MEET, _STORE, _MEET, _LOAD), [False]),
        ("duplicate-barrier", (_STORE, _MEET, _LOAD), [True]),
        ("next-number", (_STORE, "bar.sync 1, 128;", _LOAD), [True]),
        ("next-number", (_STORE, "bar.sync 1, 128;", "@odd bra ON;", "bar.sync 2, 64;", "ON:", _LOAD), [False, True]),
        ("next-number", (_STORE, "mov.u32 other, 1; mov.u32 n, 128;", "bar.sync other, n;", _LOAD), [True]),
        ("next-number", (_STORE, "mov.u32 other, n;", "bar.sync other, 128;", _LOAD), [False]),
        ("duplicate-barrier", ("@odd bra ON;", "bar.sync 0;", "ON:"), [False]),
        ("later-fence", (_STORE, _FENCE, _MEET, _OUT), [False]),
        ("later-fence", (_STORE, _FENCE, _MEET, _FENCE, _MEET, _OUT), [True, True]),
        ("later-fence", (_STORE, _FENCE, _MEET, _STORE, _FENCE, _MEET, _OUT), [True, False]),
        ("earlier-fence", (_STORE, _MEET, _FENCE, _OUT), [True]),
        ("later-fence", (_CP, _COMMIT, _wait(0), _FENCE, _MEET, _OUT), [True]),
        ("later-fence", (_CP, _COMMIT, _wait(0), _STORE, _FENCE, _MEET, _OUT), [False]),
        ("earlier-fence", (_CP, _COMMIT, _wait(0), _FENCE, _MEET, _OUT), [False]),
        ("earlier-fence", (_MEET, _STORE, _FENCE, _OUT), [False]),
        ("later-fence", (_STORE, _FENCE, "wgmma.fence.sync.aligned;", _OUT), [True]),
        ("later-arrive", (_EXPECT, _MEET, _COPY), [True]),
        ("earlier-fence", (_STORE, _EXPECT, _FENCE, _MEET, _COPY), [True]),
        ("earlier-fence", (_STORE, _ARRIVE, _FENCE, _MEET, _COPY), [False]),
        ("later-group-wait", (_PUT, "tcgen05.wait::st.sync.aligned;", _INIT, _MEET, _TAKE), [True]),
        ("later-group-wait", (_PUT, "tcgen05.wait::st.sync.aligned;", _ARRIVE, _MEET, _TAKE), [False]),
        ("later-fence", ("fence.proxy.tensormap::generic.acquire.gpu [from], 128;", _BULK_COMMIT, _OUT), [True]),
        ("later-fence", ("fence.proxy.tensormap::generic.acquire.gpu [from], 128;", _FENCE, _OUT), [False]),
        ("later-arrive", (_ARRIVE, _MEET, _INVAL), [False]),
        ("later-arrive", (_POLL_ALONE, _ARRIVE, _MEET, _LOAD), [False]),
        ("earlier-arrive", (_LOAD, _MEET, _ARRIVE), [True]),
        ("earlier-arrive", (_INIT, _MEET, _ARRIVE), [False]),
        ("later-group-wait", (_CP, _COMMIT, _wait(0), "wgmma.wait_group.sync.aligned 0;"), [True]),
        ("later-group-wait", (_CP, _COMMIT, _wait(0), _LOAD, "wgmma.wait_group.sync.aligned 0;"), [False]),
        ("later-group-wait", (_CP, _COMMIT, _wait(0), _FENCE, _OUT), [False]),
        ("later-group-wait", (_CP, _COMMIT, _wait(0), _MEET, _MEET, _LOAD), [True]),
        ("later-group-wait", (_CP, _COMMIT, _wait(0), _MEET, _LOAD), [False]),
        ("later-group-wait", (_PRODUCTS, _INVAL, _MEET, _LOAD), [True]),
        ("later-group-wait", (_PRODUCTS, _INIT, _MEET, _LOAD), [False]),
        ("later-group-wait", (_MULTIPLY, _PRODUCTS, "add.u32 other, word, 1;", _INVAL, _MEET, _LOAD), [True]),
        ("later-group-wait", (_MULTIPLY, _PRODUCTS, "add.u32 other, taken, 1;", _INVAL, _MEET, _LOAD), [False]),
        ("later-commit", (_COMMIT_TO, _other(_COMMIT_TO)), [True]),
        ("later-commit", (_COMMIT_TO, _other(_ARRIVE)), [False]),
        ("earlier-barrier", (_GREAT, "@more bra ON;", _LOAD, "ON:", _PRODUCTS, _MEET, _LOAD), [True]),
        ("earlier-barrier", (_GREAT, "@more bra ON;", _LOAD, "ON:", _PRODUCTS, _MEET, _STORE), [False]),
        ("earlier-barrier", ("@odd bra ON;", _LOAD, "ON:", _PRODUCTS, _MEET, _LOAD), [False]),
        ("earlier-barrier", (_GREAT, "@more bra ON;", _AWAITED, _LOAD, "ON:", _PRODUCTS, _MEET, _LOAD), [False]),
        ("later-barrier", ("bar.sync 1;", "bar.sync 1;"), [True]),
        ("earlier-group-wait", ("@odd bra ON;", _CP, _COMMIT, "ON:", _BULK_WAIT, _wait(0), _LOAD), [False]),
        ("earlier-group-wait", (_BULK_WAIT, _wait(0), _LOAD), [True]),
        ("later-barrier", (_GREAT, "@more bra ON;", _MEET, _POLL, "ON:", _LOAD), [True]),
        ("later-barrier", ("@odd bra ON;", "bar.sync 1;", _POLL, "ON:", _LOAD), [False]),
        ("earlier-barrier", (_EXPECT, "@odd bra ON;", _EXPECT, "ON:", _ARRIVE, _MEET, _COPY), [False]),
        ("later-fence", (_STORE, "@odd bra WAIT;", _FENCE, _POLL, _OUT), [False]),
    ],
)  # fmt: skip
def test_what_may_change_places(operator: str, body: tuple[str, ...], expected: list[bool]) -> None:
    assert shown(operator, *body) == expected


@pytest.mark.parametrize(
    ("inside", "expected"), [((_LOAD,), [True]), ((_STORE, "bar.sync 1;", _LOAD), [False, False])]
)
def test_a_barrier_may_leave_a_loop_that_does_not_need_it(
    inside: tuple[str, ...], expected: list[bool]
) -> None:
    body = (
        "ROUND:", *inside, _MEET, "add.u32 round, round, 1;", "setp.lt.u32 more, round, n;", "@more bra ROUND;"
    )  # fmt: skip
    assert shown("out-of-loop", *body) == expected


@pytest.mark.parametrize(
    ("operator", "body", "expected"),
    [
        ("drop-commit", (_CP, _COMMIT, _CP, _COMMIT, _wait(0)), [True, False]),
        ("drop-commit", (_CP, _COMMIT, _CP, _COMMIT, _wait(1)), [False, False]),
        ("drop-commit", (_CP, _COMMIT, _CP, _COMMIT, _CP, _COMMIT, _wait(1)), [True, False, False]),
        ("later-commit", (_CP, _COMMIT, _CP, _COMMIT, _wait(1)), [True, False]),
        ("earlier-commit", (_CP, _COMMIT, _CP, _COMMIT, _wait(0)), [False]),
        ("earlier-commit", (_CP, _COMMIT, _CP, _COMMIT, _CP, _COMMIT, _wait(0)), [True, False]),
        ("earlier-commit", (_CP, _COMMIT, _CP, _COMMIT, _CP, _COMMIT, _wait(1)), [False, True]),
        ("drop-commit", (_CP, _COMMIT, _CP, f"@odd {_COMMIT}", _wait(0)), [False, False]),
        ("by-all-lanes", (_BULK_COMMIT, _BULK_WAIT, _OUT, _BULK_COMMIT, _BULK_WAIT), [True, False]),
        ("drop-group-wait", (_BULK_COMMIT, _BULK_WAIT, _OUT, _BULK_COMMIT, _BULK_WAIT), [True, False]),
        ("later-commit", (_BULK_COMMIT, _OUT, _BULK_COMMIT), [False]),
    ],
)  # fmt: skip
def test_a_wait_covers_what_it_covered(operator: str, body: tuple[str, ...], expected: list[bool]) -> None:
    assert shown(operator, *body) == expected


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ((_STORE, _FENCE, _LOAD, _FENCE, _OUT), [False, False]),
        ((_STORE, _FENCE, _OUT, _FENCE, _OUT), [False, True]),
        ((_STORE, f"@odd {_FENCE}", _FENCE, _OUT), [False, False]),
        ((_CP, _COMMIT, _FENCE, _wait(0), _FENCE, _OUT), [False, False]),
    ],
)
def test_a_proxy_fence_is_left_out_where_nothing_was_accessed_since_the_last(
    body: tuple[str, ...], expected: list[bool]
) -> None:
    assert shown("drop-fence", *body) == expected


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ((_TAKE, "add.u32 other, word, 1;", _TAKEN, _STORE), True),
        ((_TAKE, _TAKEN, "add.u32 other, word, 1;", _STORE), False),
        ((_TAKE, "mov.u32 other, word;", _TAKEN, "add.u32 other, other, 1;"), False),
        ((_TAKE, "mov.u32 other, word;", "add.u32 other, other, 1;", _TAKEN), True),
        ((_TAKE, "@odd bra ON;", "add.u32 other, word, 1;", "ON:", _TAKEN), False),
        ((_TAKE.replace("x1.b32 {word}", "x2.b32 {word, other}"), "add.u32 n, word, 1;", _TAKEN), False),
    ],
)
def test_a_wait_for_loads_has_nothing_to_do_behind_the_last_use(
    body: tuple[str, ...], expected: bool
) -> None:
    assert shown("drop-group-wait", *body) == [expected]
