"""Races and divergent barriers: each broken kernel is found, its good twin is proved."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import pytest

from ptxcheck.launch import FactOrigin, ParameterFact
from ptxcheck.launches.hints import from_directives
from ptxcheck.parser import parse_module
from ptxcheck.protocols.races.extents import STAYS_INSIDE
from ptxcheck.protocols.races.gone_lanes import source_lane
from ptxcheck.protocols.races.judgement import Judgement, judged
from ptxcheck.source import Source
from ptxcheck.terms.bit_pool import Pool
from ptxcheck.verdict import AssumptionSource, VerdictKind
from ptxcheck.view import KernelView

HEAD = ".version 8.0\n.target sm_90\n.address_size 64\n"
DECLARED = """
.reg .pred %p<8>; .reg .b16 %h<8>; .reg .b32 %r<32>; .reg .b64 %rd<16>;
.shared .align 16 .b8 a[4096]; .shared .align 16 .b8 b[4096];
mov.u32 %r0, %tid.x; mov.u32 %r20, a; mov.u32 %r21, b; shl.b32 %r1, %r0, 2; add.u32 %r2, %r20, %r1;
"""
""" %r0: thread; %r2: its word of `a`. """
BARRIER = "bar.sync 0;"
OWN = "st.shared.u32 [%r2], %r0;"
NEXT = "ld.shared.u32 %r9, [%r2+4];"


def view_of(body: str, attributes: str, parameters: str, facts: tuple[ParameterFact, ...] = ()) -> KernelView:
    """Return a kernel with this body."""
    text = f"{HEAD}.visible .entry k({parameters}) {attributes} {{ {body}\nret; }}"
    module = parse_module(Source("k.ptx", text))
    assert not module.problems
    (function,) = module.entries
    assert function.body is not None
    assert not function.body.problems, function.body.problems
    launch = replace(from_directives(function), facts=facts)
    return KernelView(module, function, launch, verify_seconds=10.0)


def judgement(
    body: str,
    attributes: str = ".reqntid 128",
    parameters: str = ".param .u32 n, .param .u64 p",
    facts: tuple[ParameterFact, ...] = (),
) -> Judgement:
    return judged(view_of(f"{DECLARED} {body}", attributes, parameters, facts))


def races(body: str, attributes: str = ".reqntid 128") -> VerdictKind:
    return judgement(body, attributes).verdicts()[0].kind


def only_stays_inside(body: str, attributes: str = ".reqntid 128") -> bool:
    """Tell whether all that a verdict on races takes for granted is that accesses stay inside their variables."""
    verdict = judgement(body, attributes).verdicts()[0]
    return verdict.kind is ASSUMES and {reason.text for reason in verdict.reasons} == {STAYS_INSIDE}


def divergence(body: str, attributes: str = ".reqntid 128") -> VerdictKind:
    return judgement(body, attributes).verdicts()[1].kind


VIOLATED, PROVED, UNKNOWN, ASSUMES = (
    VerdictKind.VIOLATED, VerdictKind.PROVED, VerdictKind.UNKNOWN, VerdictKind.ASSUMES
)  # fmt: skip
LOOP = "ld.param.u32 %r10, [n]; mov.u32 %r11, 0; L: {body} "
LOOP += "add.u32 %r11, %r11, 1; setp.lt.u32 %p1, %r11, %r10; @%p1 bra L;"
HALVES = (
    "mov.u32 %r3, 64; L: setp.ge.u32 %p1, %r0, %r3; @%p1 bra S; shl.b32 %r4, %r3, 2; add.u32 %r5, %r2, %r4; "
)
HALVES += "ld.shared.u32 %r6, [%r5]; st.shared.u32 [%r2], %r6; S: {meet} shr.u32 %r3, %r3, 1; "
HALVES += "setp.ne.u32 %p2, %r3, 0; @%p2 bra L;"
COUNTER = (
    "ld.param.u64 %rd1, [p]; cvt.u64.u32 %rd2, %r1; add.u64 %rd3, %rd1, %rd2; ld.global.u32 %r5, [%rd3]; {mask} "
    "and.b32 %r5, %r5, %r6; mad.lo.u32 %r7, %r5, 512, %r2; ld.shared.u32 %r8, [%r7]; st.shared.u32 [%r7], %r8; "
)
""" A thread's word in one of 4 rows, by what is loaded. """

PAIRS = {
    "store and load": (OWN + NEXT, OWN + BARRIER + NEXT),
    "load and store": (NEXT + OWN, NEXT + BARRIER + OWN),
    "other array": (OWN + NEXT, OWN + "add.u32 %r3, %r21, %r1; ld.shared.u32 %r9, [%r3+4];"),
    "stores of one place": ("st.shared.u32 [a], %r0;", "st.shared.u32 [a], 7;"),
    "stores of one thread": (
        "setp.lt.u32 %p1, %r0, 64; @%p1 st.shared.u32 [a], %r0;",
        "setp.eq.u32 %p1, %r0, 64; @%p1 st.shared.u32 [a], %r0;",
    ),
    "halves": (HALVES.format(meet=""), HALVES.format(meet=BARRIER)),
    "next round": (
        LOOP.format(body=OWN + BARRIER + NEXT),
        LOOP.format(body=OWN + BARRIER + NEXT + BARRIER),
    ),
    "two buffers": (
        LOOP.format(body="shr.u32 %r12, %r11, 1; and.b32 %r12, %r12, 1; mad.lo.u32 %r13, %r12, 512, %r2; "
                    "st.shared.u32 [%r13], %r0; bar.sync 0; xor.b32 %r14, %r1, 508; mad.lo.u32 %r15, %r12, 512, %r20; "
                    "add.u32 %r15, %r15, %r14; ld.shared.u32 %r9, [%r15];"),
        LOOP.format(body="and.b32 %r12, %r11, 1; mad.lo.u32 %r13, %r12, 512, %r2; "
                    "st.shared.u32 [%r13], %r0; bar.sync 0; xor.b32 %r14, %r1, 508; mad.lo.u32 %r15, %r12, 512, %r20; "
                    "add.u32 %r15, %r15, %r14; ld.shared.u32 %r9, [%r15];"),
    ),
    "vectors": (
        "shl.b32 %r3, %r0, 3; add.u32 %r3, %r3, %r20; and.b32 %r3, %r3, -16; st.shared.v2.u32 [%r3], {%r0, %r1};",
        "shl.b32 %r3, %r0, 3; add.u32 %r3, %r3, %r20; st.shared.v2.u32 [%r3], {%r0, %r1};",
    ),
    "narrow and wide": (
        OWN + "add.u32 %r3, %r20, %r0; cvt.u16.u32 %h1, %r0; st.shared.u8 [%r3], %h1;",
        OWN + BARRIER + "add.u32 %r3, %r20, %r0; cvt.u16.u32 %h1, %r0; st.shared.u8 [%r3], %h1;",
    ),
    "atomics beside loads": (
        "atom.shared.add.u32 %r9, [a], 1; ld.shared.u32 %r8, [a];",
        "atom.shared.add.u32 %r9, [a], 1; bar.sync 0; ld.shared.u32 %r8, [a];",
    ),
    "atomics alone": (
        "red.shared.add.u32 [a], 1; st.shared.u32 [a], %r0;",
        "red.shared.add.u32 [a], 1; atom.shared.max.u32 %r9, [a], %r0;",
    ),
    "a reduction is a barrier": (OWN + NEXT, OWN + "setp.eq.u32 %p1, %r0, 3; bar.red.or.pred %p2, 0, %p1;" + NEXT),
    "generic addresses": (
        "cvta.shared.u64 %rd1, 0; mov.u64 %rd2, a; cvta.shared.u64 %rd3, %rd2; cvt.u64.u32 %rd4, %r1; "
        "add.u64 %rd5, %rd3, %rd4; st.u32 [%rd5], %r0; ld.u32 %r9, [%rd5+4];".replace("cvta.shared.u64 %rd1, 0; ", ""),
        "mov.u64 %rd2, a; cvta.shared.u64 %rd3, %rd2; cvt.u64.u32 %rd4, %r1; "
        "add.u64 %rd5, %rd3, %rd4; st.u32 [%rd5], %r0; bar.sync 0; ld.u32 %r9, [%rd5+4];",
    ),
    "counters that are picked by a mask of bits": (
        OWN + COUNTER.format(mask="bmsk.clamp.b32 %r6, 0, 2;") + NEXT,
        OWN + COUNTER.format(mask="bmsk.clamp.b32 %r6, 0, 2;") + BARRIER + NEXT,
    ),
    "a place by bytes that are picked": (
        OWN + "prmt.b32 %r5, %r0, 0, 0x4440; mad.lo.u32 %r6, %r5, 4, %r20; ld.shared.u32 %r9, [%r6+4];",
        OWN + BARRIER + "prmt.b32 %r5, %r0, 0, 0x4440; mad.lo.u32 %r6, %r5, 4, %r20; ld.shared.u32 %r9, [%r6+4];",
    ),
    "barriers with an early end": (
        "setp.ge.u32 %p1, %r0, 100; @%p1 ret; " + OWN + NEXT,
        "setp.ge.u32 %p1, %r0, 100; @%p1 ret; " + OWN + BARRIER + NEXT,
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", PAIRS)
def test_a_race_is_found_and_its_twin_is_proved(name: str) -> None:
    bad, good = PAIRS[name]
    assert races(bad) is VIOLATED
    found = judgement(good)
    assert not found.races
    assert found.verdicts()[0].kind in (PROVED, ASSUMES)


def test_a_race_names_threads_that_meet() -> None:
    (race,) = judgement("setp.eq.u32 %p1, %r0, 37; @%p1 st.shared.u32 [a+32], %r0;" + OWN).races
    assert {race.threads[0][0], race.threads[1][0]} == {37, 8}
    assert "'a' + 32" in race.message


def test_lanes_of_one_warp_are_in_order_by_an_assumption_alone() -> None:
    body = OWN + "xor.b32 %r3, %r1, 4; add.u32 %r3, %r3, %r20; {meet} ld.shared.u32 %r9, [%r3];"
    found = judgement(body.format(meet=""))
    assert found.verdicts()[0].kind is ASSUMES
    assert found.in_step
    assert races(body.format(meet="bar.warp.sync -1;")) is PROVED


def test_lanes_that_meet_in_part_are_not_all_in_order() -> None:
    body = (
        OWN + "xor.b32 %r3, %r1, 4; add.u32 %r3, %r3, %r20; activemask.b32 %r6; and.b32 %r7, %r0, 1; "
        "shl.b32 %r8, %r6, %r7; bar.warp.sync %r8; ld.shared.u32 %r9, [%r3];"
    )
    assert races(body) is ASSUMES


def test_one_instruction_of_a_warp_that_stores_two_values_is_a_race() -> None:
    body = "setp.lt.u32 %p1, %r0, 2; @%p1 st.shared.u32 [a], %r0;"
    assert races(body, ".reqntid 32") is VIOLATED


LOADED_PLACE = """
ld.param.u64 %rd1, [p]; cvt.u64.u32 %rd2, %r1; add.u64 %rd3, %rd1, %rd2; ld.global.u32 %r5, [%rd3];
and.b32 %r5, %r5, 508; add.u32 %r5, %r5, %r20;
"""


def test_what_is_loaded_decides_nothing() -> None:
    """A permutation that comes from memory may be one, or not: who races with which data is told, and no finding."""
    found = judgement(LOADED_PLACE + "st.shared.u32 [%r5], %r0;")
    assert found.verdicts()[0].kind is UNKNOWN
    assert not found.races
    (race,) = found.with_some_data
    assert race.only_with
    assert race.threads[0] != race.threads[1]
    assert race.message in [reason.text for reason in found.verdicts()[0].reasons]


def test_runs_with_data_keep_to_what_the_host_passes() -> None:
    """Of numbers with fewer than three bits set threads read their neighbour's word: 128 is one, 7 is none."""
    body = f"""{LOADED_PLACE} ld.param.u32 %r10, [n]; popc.b32 %r11, %r10; setp.lt.u32 %p1, %r11, 3;
    selp.u32 %r12, 4, 0, %p1; sub.u32 %r5, %r5, %r20; shr.u32 %r5, %r5, 9; add.u32 %r5, %r5, %r12;
    add.u32 %r5, %r5, %r2; {OWN} ld.shared.u32 %r9, [%r5];"""
    assert judgement(body).races
    fact = ParameterFact("n", 0, 4, FactOrigin.GIVEN, "n % 1024 == 7", modulus=1024, residue=7)
    assert not judgement(body, facts=(fact,)).races


def test_a_race_with_all_data_is_told_once() -> None:
    """Threads read what others store, wherever the data send them."""
    place = LOADED_PLACE.replace("and.b32 %r5, %r5, 508;", "and.b32 %r5, %r5, 127; shl.b32 %r5, %r5, 2;")
    body = f"{place} {OWN} {{barrier}} ld.shared.u32 %r9, [%r5];"
    found = judgement(body.format(barrier=""))
    assert [race.only_with for race in found.races] == [""]
    assert not found.with_some_data
    assert races(body.format(barrier=BARRIER)) is PROVED


def test_a_mask_of_bits_that_is_too_wide_lets_threads_meet() -> None:
    """A row more than the counters have, 512 bytes further on, is still a column; half a row is another thread's."""
    wide = COUNTER.replace("512", "256")
    assert races(wide.format(mask="bmsk.clamp.b32 %r6, 0, 2;")) is UNKNOWN
    assert races(COUNTER.format(mask="bmsk.clamp.b32 %r6, 0, 2;")) is PROVED
    assert only_stays_inside(COUNTER.format(mask="ld.param.u32 %r6, [n]; bmsk.clamp.b32 %r6, 0, %r6;"))


def test_what_the_host_passes_is_no_finding_where_it_decides() -> None:
    body = "ld.param.u32 %r3, [n]; mul.lo.u32 %r4, %r0, %r3; shl.b32 %r4, %r4, 2; add.u32 %r4, %r4, %r20; "
    assert races(body + "st.shared.u32 [%r4], %r0;") in (UNKNOWN, ASSUMES)


SKIPPED = OWN + "ld.param.u32 %r10, [n]; {test} @%p1 bra S; bar.sync 0; S: ld.shared.u32 %r9, [%r2+128];"
""" A barrier that a number of the host decides, and the word of the next warp behind it. """


@pytest.mark.parametrize(
    ("test", "condition"),
    [
        ("and.b32 %r11, %r10, 31; setp.ne.u32 %p1, %r11, 0;", "n % 32 == 0"),
        ("rem.u32 %r11, %r10, 64; setp.ne.u32 %p1, %r11, 0;", "n % 64 == 0"),
        ("setp.eq.u32 %p1, %r10, 0;", "n >= 1"),
        ("sub.u32 %r11, %r10, 1; and.b32 %r11, %r11, %r10; setp.ne.u32 %p1, %r11, 0;", "n is a power of two"),
    ],
)
def test_the_weakest_condition_on_the_host(test: str, condition: str) -> None:
    verdict = judgement(SKIPPED.format(test=test)).verdicts()[0]
    assert verdict.kind is ASSUMES
    (taken,) = (reason for reason in verdict.reasons if reason.source is AssumptionSource.HOST)
    assert taken.text.startswith(f"the host passes {condition}; else threads")
    assert taken.options == (() if "power" in condition else (condition,))


def test_a_condition_under_which_nothing_is_accessed_is_none() -> None:
    """Threads that race are there for odd numbers alone; and the other way round none of those tried helps."""
    body = (
        "ld.param.u32 %r10, [n]; and.b32 %r11, %r10, 1; setp.eq.u32 %p1, %r11, 0; @%p1 bra S; "
        + OWN
        + NEXT
        + " S:"
    )
    assert judgement(body).verdicts()[0].kind is not ASSUMES
    assert races(SKIPPED.format(test="and.b32 %r11, %r10, 1; setp.eq.u32 %p1, %r11, 0;")) is not ASSUMES


def test_a_size_bounds_who_takes_part_and_hides_no_race() -> None:
    body = "ld.param.u32 %r3, [n]; setp.ge.u32 %p1, %r0, %r3; @%p1 bra E; " + OWN + NEXT + " E:"
    assert races(body) is VIOLATED


def test_what_comes_behind_a_loop_that_waits_for_a_time_is_judged() -> None:
    """Two reads of a clock give two numbers, so that the loop ends."""
    wait = "mov.u32 %r5, %clock; L: mov.u32 %r6, %clock; sub.u32 %r6, %r6, %r5; setp.lt.u32 %p1, %r6, 1000; @%p1 bra L;"
    assert races(f"{wait} {OWN} {NEXT}") is not PROVED
    assert races(f"{wait} {OWN} {BARRIER} {NEXT}") is PROVED


def test_volatile_flags_are_not_decided() -> None:
    body = "setp.eq.u32 %p1, %r0, 0; @%p1 st.volatile.shared.u32 [a], 1; ld.volatile.shared.u32 %r9, [a];"
    assert races(body) is UNKNOWN


def test_all_blocks_are_proved_at_once() -> None:
    assert only_stays_inside(OWN + BARRIER + NEXT, "")  # the word behind the array, for the largest block
    assert races(OWN + "bar.sync 0; ld.shared.u32 %r9, [%r20];", "") is PROVED


def test_a_block_that_the_arrays_suggest() -> None:
    """1024 words: one for each thread of the largest block."""
    assert races(OWN + NEXT, "") is VIOLATED
    rows = "mov.u32 %r3, %tid.y; mad.lo.u32 %r4, %r3, 32, %r0; shl.b32 %r4, %r4, 2; add.u32 %r4, %r4, %r20; "
    assert races(rows + "st.shared.u32 [%r4], %r0;", "") is ASSUMES


def test_a_bound_of_the_block_is_named() -> None:
    wide = "shl.b32 %r3, %r0, 2; and.b32 %r3, %r3, 255; add.u32 %r3, %r3, %r20; st.shared.u32 [%r3], %r0;"
    assert races(wide, ".maxntid 64") is PROVED
    assert races(wide, ".maxntid 128") is VIOLATED


def test_calls_that_are_not_seen_are_open() -> None:
    text = "{ call.uni other; }"
    module_text = (
        HEAD + ".extern .func other;\n.visible .entry k() .reqntid 64 {" + DECLARED + OWN + text + "ret; }"
    )
    module = parse_module(Source("k.ptx", module_text))
    (function,) = module.entries
    found = judged(KernelView(module, function, from_directives(function), verify_seconds=10.0))
    assert {verdict.kind for verdict in found.verdicts()} == {UNKNOWN}


ASSERTED = "setp.eq.u32 %p1, %r3, 1; @%p1 bra G; { call.uni __assertfail; } G: "
SPREAD = "mul.lo.u32 %r4, %r1, %r3; and.b32 %r4, %r4, 511; add.u32 %r4, %r20, %r4; st.shared.u32 [%r4], %r0;"


@pytest.mark.parametrize(("asserted", "expected"), [("", VIOLATED), (ASSERTED, PROVED)])
def test_what_is_asserted_holds_behind_the_assertion(asserted: str, expected: VerdictKind) -> None:
    body = f"ld.param.u32 %r3, [n]; {asserted} {SPREAD}"
    text = f".visible .entry k(.param .u32 n) .reqntid 128 {{ {DECLARED} {body} ret; }}"
    module = parse_module(Source("k.ptx", f"{HEAD}.extern .func __assertfail;\n{text}"))
    (function,) = module.entries
    found = judged(KernelView(module, function, from_directives(function), verify_seconds=10.0))
    assert found.verdicts()[0].kind is expected


DIVERGENT = {
    "branch by the warp": "setp.lt.u32 %p1, %r0, 64; @!%p1 bra S; bar.sync 0; S: bar.sync 0;",
    "rounds by the warp": "shr.u32 %r3, %r0, 5; L: bar.sync 0; add.u32 %r3, %r3, 1; setp.lt.u32 %p1, %r3, 6; "
    "@%p1 bra L; bar.sync 0;",
}
ALIKE = {
    "branch by a parameter": "ld.param.u32 %r3, [n]; setp.lt.u32 %p1, %r3, 64; @!%p1 bra S; bar.sync 0; S: bar.sync 0;",
    "branch that all threads take alike": "shr.u32 %r3, %r0, 7; setp.eq.u32 %p1, %r3, 0; @!%p1 bra S; "
    "bar.sync 0; S: bar.sync 0;",
    "threads that end": "setp.lt.u32 %p1, %r0, 64; @!%p1 bra E; bar.sync 0; bar.sync 0; E:",
    "rounds that are equally many": "mov.u32 %r3, %r0; L: bar.sync 0; add.u32 %r3, %r3, 128; "
    "setp.lt.u32 %p1, %r3, 1024; @%p1 bra L; bar.sync 0;",
}


@pytest.mark.parametrize("name", DIVERGENT)
def test_threads_that_come_to_different_barriers(name: str) -> None:
    found = judgement(DIVERGENT[name])
    assert found.verdicts()[1].kind is VIOLATED
    assert found.verdicts()[0].kind is UNKNOWN, "no order between accesses is known then"


@pytest.mark.parametrize("name", ALIKE)
def test_threads_that_come_to_the_same_barriers(name: str) -> None:
    assert divergence(ALIKE[name]) is PROVED


def test_rounds_by_what_is_loaded_are_open() -> None:
    body = (
        "ld.param.u64 %rd1, [p]; cvt.u64.u32 %rd2, %r1; add.u64 %rd3, %rd1, %rd2; ld.global.u32 %r5, [%rd3]; "
    )
    body += "setp.eq.u32 %p1, %r5, 0; @%p1 bra S; bar.sync 0; S: bar.sync 0;"
    assert divergence(body) is UNKNOWN


def test_a_guarded_barrier_is_never_one_that_all_come_to() -> None:
    body = "setp.lt.u32 %p1, %r0, 64; " + OWN + "@%p1 bar.sync 0;" + NEXT
    assert divergence(body) is UNKNOWN
    assert races(body) is VIOLATED, "two threads that both pass it by"


LOADED = (
    "ld.param.u64 %rd1, [p]; cvt.u64.u32 %rd2, %r1; add.u64 %rd3, %rd1, %rd2; ld.global.u32 %r5, [%rd3]; "
)


def test_a_branch_on_data_hides_no_race_behind_it() -> None:
    branch = LOADED + "setp.eq.u32 %p1, %r5, 0; @%p1 bra S; add.u32 %r5, %r5, 1; S: "
    assert races(OWN + branch + NEXT) is VIOLATED
    assert races(OWN + branch + BARRIER + NEXT) is PROVED


def test_threads_that_poll_may_wait_for_each_other() -> None:
    """What comes behind a loop that ends by what is loaded may be ordered by it."""
    poll = "W: ld.volatile.shared.u32 %r5, [b]; setp.eq.u32 %p1, %r5, 0; @%p1 bra W; "
    assert races(OWN + "st.volatile.shared.u32 [b], 1; " + poll + NEXT) is UNKNOWN


def test_a_race_of_the_second_round_alone_is_one_of_large_sizes() -> None:
    body = "ld.param.u32 %r10, [n]; mov.u32 %r11, 0; L: " + OWN + BARRIER + NEXT
    body += "add.u32 %r11, %r11, 128; setp.lt.u32 %p1, %r11, %r10; @%p1 bra L;"
    assert races(body) is VIOLATED
    assert races(body.replace(NEXT, NEXT + BARRIER)) is PROVED


LANES = {
    "all lanes": ("shfl.sync.bfly.b32 %r5, %r0, 1, 31, -1;", PROVED),
    "all lanes of some warps": (
        "setp.ge.u32 %p1, %r0, 64; @%p1 bra S; shfl.sync.bfly.b32 %r5, %r0, 1, 31, -1; S: bar.warp.sync -1;", PROVED,
    ),
    "some lanes, which are named": (
        "and.b32 %r6, %r0, 31; setp.ge.u32 %p1, %r6, 16; @%p1 bra S; shfl.sync.bfly.b32 %r5, %r0, 1, 31, 0xffff; "
        "S: bar.warp.sync -1;", PROVED,
    ),
    "some lanes, and all are named": (
        "and.b32 %r6, %r0, 31; setp.ge.u32 %p1, %r6, 16; @%p1 bra S; shfl.sync.bfly.b32 %r5, %r0, 1, 31, -1; "
        "S: bar.warp.sync -1;", UNKNOWN,
    ),
    "all lanes, and some are named": ("bar.warp.sync 0xffff;", UNKNOWN),
    "halves that name themselves": (
        "and.b32 %r6, %r0, 16; mov.u32 %r7, 65535; shl.b32 %r7, %r7, %r6; shfl.sync.bfly.b32 %r5, %r0, 1, 31, %r7;",
        PROVED,
    ),
    "halves that name each other": (
        "and.b32 %r6, %r0, 16; xor.b32 %r6, %r6, 16; mov.u32 %r7, 65535; shl.b32 %r7, %r7, %r6; "
        "shfl.sync.bfly.b32 %r5, %r0, 1, 31, %r7;", UNKNOWN,
    ),
    "rounds that lanes leave alone": (
        "and.b32 %r6, %r0, 3; L: shfl.sync.bfly.b32 %r5, %r0, 1, 31, -1; add.u32 %r6, %r6, 1; "
        "setp.lt.u32 %p1, %r6, 5; @%p1 bra L; bar.warp.sync -1;", UNKNOWN,
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", LANES)
def test_lanes_that_a_mask_names(name: str) -> None:
    body, kind = LANES[name]
    assert divergence(body) is kind


def test_a_reduction_at_a_counted_barrier_is_open() -> None:
    body = "setp.eq.u32 %p1, %r0, 3; " + OWN + "bar.red.popc.u32 %r5, 1, 64, %p1;" + NEXT
    assert divergence(body) is UNKNOWN
    assert races(body) is UNKNOWN


STEPS = "mov.u32 %r6, 0; mov.u32 %r5, %r0; L: setp.ge.u32 %p1, %r6, {count}; @%p1 bra E; {shuffle} "
STEPS += "add.u32 %r5, %r5, %r7; add.u32 %r6, %r6, 1; bra L; E:"
LANE = "and.b32 %r8, %r0, 31; "
ABSENT = {
    "as many rounds as the lane": (LANE, "%r8", "shfl.sync.bfly.b32 %r7, %r5, 1, 31, -1;"),
    "the last lane leaves first": (
        LANE + "sub.u32 %r8, 31, %r8; ", "%r8", "shfl.sync.bfly.b32 %r7, %r5, 1, 31, -1;",
    ),
    "one half leaves first": (
        LANE + "shr.u32 %r8, %r8, 4; add.u32 %r8, %r8, 2; ", "%r8", "shfl.sync.bfly.b32 %r7, %r5, 16, 31, -1;",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", ABSENT)
def test_a_lane_that_reads_from_one_that_has_left_the_loop(name: str) -> None:
    before, count, shuffle = ABSENT[name]
    found = judgement(before + STEPS.format(count=count, shuffle=shuffle))
    assert found.verdicts()[1].kind is VIOLATED
    assert len(found.absent) == 1
    assert divergence(before + STEPS.format(count="7", shuffle=shuffle)) is PROVED


def test_a_lane_that_reads_from_its_own_half_which_has_not_left() -> None:
    """The halves leave in different rounds, and no lane reads from the other half: only the assumption is named."""
    before, count, shuffle = ABSENT["one half leaves first"]
    body = before + STEPS.format(count=count, shuffle=shuffle.replace(" 16,", " 8,"))
    found = judgement(body)
    assert not found.absent
    assert found.verdicts()[1].kind is ASSUMES


ENDED = {
    "a shuffle from lanes that have ended": ("shfl.sync.down.b32 %r5, %r0, 8, 31, -1;", 20, ASSUMES),
    "a shuffle from lanes that are there": ("shfl.sync.bfly.b32 %r5, %r0, 8, 31, -1;", 16, PROVED),
    "a shuffle from lanes that a bound keeps out": ("shfl.sync.down.b32 %r5, %r0, 8, 15, -1;", 16, PROVED),
    "a shuffle inside of segments": ("shfl.sync.down.b32 %r5, %r0, 8, 4111, -1;", 16, PROVED),
    "a barrier of the warp": ("bar.warp.sync -1;", 16, ASSUMES),
    "a barrier of the lanes that are left": ("bar.warp.sync 65535;", 16, PROVED),
    "a barrier of the block": ("bar.sync 0;", 48, ASSUMES),
    "a barrier of whole warps": ("bar.sync 0;", 64, PROVED),
    "a vote": ("vote.sync.any.pred %p3, %p2, -1;", 16, PROVED),
}


@pytest.mark.parametrize("name", ENDED)
def test_lanes_that_have_ended_are_named(name: str) -> None:
    instruction, count, kind = ENDED[name]
    assert divergence(f"setp.ge.u32 %p1, %r0, {count}; @%p1 bra E; {instruction} E:") is kind
    other_way = f"setp.lt.u32 %p1, %r0, {count}; @%p1 bra I; bra E; I: {instruction} E:"
    assert divergence(other_way) is kind


@pytest.mark.parametrize("mode", [".up", ".down", ".bfly", ".idx"])
def test_the_lane_that_a_shuffle_reads_from(mode: str) -> None:
    """Against the text of the PTX ISA, 9.7.9.6, in its own words."""
    pool = Pool()
    for lane, offset, bounds in product(
        (0, 5, 15, 16, 31), (0, 1, 7, 16, 31), (0, 31, 0x101F, 0x100F, 0x1800)
    ):
        segmask, cval, bval = bounds >> 8 & 31, bounds & 31, offset & 31
        max_lane = (lane & segmask) | (cval & ~segmask)
        min_lane = lane & segmask
        j, pval = {
            ".up": (lane - bval, lane - bval >= max_lane),
            ".down": (lane + bval, lane + bval <= max_lane),
            ".bfly": (lane ^ bval, lane ^ bval <= max_lane),
            ".idx": (min_lane | (bval & ~segmask), min_lane | (bval & ~segmask) <= max_lane),
        }[mode]
        numbers = (pool.number(each, 32) for each in (lane, offset, bounds))
        assert source_lane(pool, mode, *numbers).constant == (j if pval else lane)
