"""Kernels that look for their work in tables of the host: runs in which the tables hold numbers."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from ptxcheck.cfg import build
from ptxcheck.launches.hints import from_directives
from ptxcheck.parser import parse_module
from ptxcheck.protocols.proof.first.driver.example_search import ExampleSearch
from ptxcheck.protocols.proof.first.example_runs import Example, ExampleRun, examples
from ptxcheck.protocols.symex.slice.layout import layout_of
from ptxcheck.protocols.symex.slice.parameter_kinds import parameter_kinds
from ptxcheck.protocols.symex.slice.sliced_program import Program
from ptxcheck.protocols.symex.values.symbol import Atom, show_atom
from ptxcheck.protocols.symex.values.trace import Shape
from ptxcheck.source import Source
from ptxcheck.verdict import Property, VerdictKind
from tests.protocols.machine_runs import kernel
from tests.protocols.verifying import deadlock, kind, verified

FIND_GROUP = """
ld.param.u64 %rd1, [p]; ld.param.u32 %r1, [n]; mov.u32 %r9, %ctaid.x; mov.u32 %r2, 0; mov.u32 %r3, 0;
NEXT:
setp.ge.s32 %p1, %r2, %r1; @%p1 bra OVER;
mul.wide.s32 %rd2, %r2, 4; add.s64 %rd3, %rd1, %rd2; ld.global.u32 %r4, [%rd3];
add.s32 %r3, %r3, %r4; setp.lt.s32 %p2, %r9, %r3; @%p2 bra OVER;
add.s32 %r2, %r2, 1; bra NEXT;
OVER:
"""
"""A CTA looks for the group of tiles that its place is in; `table[i]` has how many tiles group i has."""
SEARCH = (
    FIND_GROUP
    + """setp.ge.s32 %p3, %r2, %r1; @%p3 bra END;
{work}
END:
"""
)
"""The same, and what it does once it has found one."""


def searched(work: str, threads: int = 64) -> VerdictKind:
    """Return the verdict on deadlocks of a kernel that does some work once it has found its group."""
    return deadlock(SEARCH.format(work=work), threads)


def test_what_goes_wrong_behind_a_search_does_so_with_some_table() -> None:
    assert searched("barrier.sync 1, 96;") is VerdictKind.VIOLATED


def test_the_run_has_numbers() -> None:
    result = verified(kernel(SEARCH.format(work="barrier.sync 1, 96;"), threads=64))
    (failure,) = (each for each in result.failures if each.sure)
    assert [(show_atom(name), number) for name, number in failure.inputs] == [
        ("load(p, 32)", 1024),
        ("n", 1024),
    ]


def test_work_that_is_right_holds() -> None:
    assert searched("barrier.sync 1, 64;") in (VerdictKind.ASSUMES, VerdictKind.PROVED_BOUNDED)


def test_kernels_of_which_nothing_wrong_is_told_make_no_run_with_numbers(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def asked(*_: object) -> Iterator[Example]:
        raise AssertionError("a run with numbers")
        yield

    monkeypatch.setattr("ptxcheck.protocols.proof.first.driver.example_search.examples", asked)
    assert searched("barrier.sync 1, 64;") is not VerdictKind.VIOLATED
    with pytest.raises(AssertionError, match="a run with numbers"):
        searched("barrier.sync 1, 96;")


def test_runs_with_numbers_end_when_their_time_is_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ptxcheck.protocols.proof.first.budget._PART_OF_EXAMPLES", 0.0)
    assert searched("barrier.sync 1, 96;") is VerdictKind.UNKNOWN


@pytest.mark.parametrize(
    "work",
    [
        # Nobody knows of a table with this number.
        "setp.ne.s32 %p4, %r4, 77777; @%p4 bra END; barrier.sync 1, 96;",
        # What the kernel writes may be what it reads.
        "st.global.u32 [%rd1], %r9; barrier.sync 1, 96;",
        "atom.global.add.u32 %r5, [%rd3], 1; barrier.sync 1, 96;",
    ],
)
def test_what_no_numbers_show_stays_open(work: str) -> None:
    assert searched(work) is VerdictKind.UNKNOWN


COUNTS = """
ld.param.u64 %rd1, [p]; ld.param.u32 %r1, [n]; mov.u32 %r2, 0; mov.u32 %r9, %tid.x;
ld.global.u32 %r4, [%rd1]; ld.global.u32 %r5, [%rd1+{other}]; sub.s32 %r5, %r5, {less};
setp.ge.u32 %p5, %r9, 32; selp.b32 %r4, %r5, %r4, %p5;
NEXT:
setp.ge.s32 %p1, %r2, %r4; @%p1 bra END;
barrier.sync 1, 64; add.s32 %r2, %r2, 1; bra NEXT;
END:
"""
"""Two warps meet as often as the host has written for each of them."""


def test_roles_that_agree_by_what_the_host_has_written_stay_open() -> None:
    assert deadlock(COUNTS.format(other=4, less=0)) is VerdictKind.UNKNOWN
    assert deadlock(COUNTS.format(other=4, less=1)) is VerdictKind.UNKNOWN


TURNS = """
ld.param.u32 %r13, [m]; mov.u32 %r14, %tid.x; setp.ge.u32 %p5, %r14, 32; {one} {other}
selp.b32 %r15, %r16, %r17, %p5; mov.u32 %r18, 0;
GO:
setp.ge.s32 %p6, %r18, %r15; @%p6 bra END; barrier.sync 1, {threads}; add.s32 %r18, %r18, 1; bra GO;
"""
"""Two warps meet as often as each has been told, behind a search that is not followed."""


@pytest.mark.parametrize(
    ("one", "other"),
    [
        # Where a group begins and the next one does, and how long it is.
        (
            "ld.global.u32 %r20, [%rd3+4000]; ld.global.u32 %r21, [%rd3+4004]; sub.s32 %r16, %r21, %r20;",
            "mov.u32 %r17, %r4;",
        ),
        # How many rows, and how many tiles of 64 rows.
        ("shr.s32 %r16, %r4, 6;", "ld.global.u32 %r17, [%rd3+4000];"),
    ],
)
def test_tables_that_the_host_makes_agree_stay_open(one: str, other: str) -> None:
    assert searched(TURNS.format(one=one, other=other, threads=64)) is VerdictKind.UNKNOWN


def test_what_goes_wrong_with_all_tables_in_the_same_way_is_certain() -> None:
    turns = TURNS.format(one="mov.u32 %r16, %r4;", other="mov.u32 %r17, %r4;", threads="{}")
    assert searched(turns.format(96)) is VerdictKind.VIOLATED
    assert searched(turns.format(64)) is VerdictKind.ASSUMES


def test_runs_whose_numbers_differ_come_before_most_others(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without them nothing is shown where roles may have to agree, and time may not be enough for all."""
    steps: list[int] = []
    run = ExampleSearch._run

    def noted(self: ExampleSearch, example: Example) -> ExampleRun | None:
        steps.append(example.host.choice.step)
        return run(self, example)

    monkeypatch.setattr(ExampleSearch, "_run", noted)
    turns = TURNS.format(one="mov.u32 %r16, %r4;", other="mov.u32 %r17, %r4;", threads=96)
    assert searched(turns) is VerdictKind.VIOLATED
    assert [bool(step) for step in steps] == [False, False, True, True, False, False]


FILTER = """
ld.param.u32 %r1, [n]; popc.b32 %r2, %r1; setp.eq.u32 %p1, %r2, 0; @%p1 bra END;
mul.lo.u32 %r15, %r1, %r1; mul.lo.u32 %r15, %r15, %r15; mov.u32 %r18, 0;
GO:
setp.ge.s32 %p6, %r18, %r15; @%p6 bra END; barrier.sync 1, {threads}; add.s32 %r18, %r18, 1; bra GO;
END:
"""
"""Warps meet as often as a product of sizes says, behind what is not followed."""


@pytest.mark.parametrize(
    ("threads", "expected"), [(96, VerdictKind.VIOLATED), (64, VerdictKind.PROVED_BOUNDED)]
)
def test_sizes_are_small_where_others_are_too_much_together(threads: int, expected: VerdictKind) -> None:
    assert deadlock(FILTER.format(threads=threads)) is expected


COPIES = """
ld.param.u32 %r13, [m]; mov.u32 %r14, %tid.x; setp.ge.u32 %p5, %r14, 32; {one} {other}
selp.b32 %r15, %r16, %r17, %p5; and.b32 %r18, %r15, 64; setp.eq.u32 %p6, %r18, 0; @%p6 bra EVEN;
barrier.sync 1, {threads}; bra END;
EVEN:
barrier.sync 1, {threads}; bra END;
"""
"""Two warps meet in one of two copies of a loop's rest, by how often each has been told."""


def test_what_goes_wrong_in_all_copies_in_the_same_way_is_certain() -> None:
    copies = COPIES.format(one="mov.u32 %r16, %r4;", other="mov.u32 %r17, %r4;", threads="{0}")
    assert searched(copies.format(96)) is VerdictKind.VIOLATED
    assert searched(copies.format(64)) is VerdictKind.ASSUMES


def test_copies_that_only_some_come_to_stay_open() -> None:
    copies = COPIES.replace("EVEN:\nbarrier.sync 1, {threads};", "EVEN: shr.u32 %r1, %r1, 1;")
    apart = "ld.global.u32 %r20, [%rd3+4000]; ld.global.u32 %r21, [%rd3+4004]; sub.s32 %r16, %r21, %r20;"
    assert searched(copies.format(one=apart, other="mov.u32 %r17, %r4;", threads=64)) is VerdictKind.UNKNOWN


INITIALISED = """
mov.u32 %r14, %tid.x; setp.eq.u32 %p4, %r14, 64; @%p4 mbarrier.init.shared.b64 [smem], {count}; barrier.sync 0;
ld.param.u32 %r18, [m]; setp.gt.s32 %p6, %r18, %r1; setp.lt.u32 %p5, %r14, 32; @%p5 bra WAIT;
setp.eq.u32 %p4, %r14, 32; @%p4 mbarrier.arrive.shared.b64 _, [smem];
setp.ge.u32 %p5, %r14, 64; and.pred %p5, %p5, %p6; @%p5 barrier.sync 3, 64; bra END;
WAIT:
mbarrier.try_wait.parity.shared.b64 %p1, [smem], 0; @!%p1 bra WAIT; @%p6 barrier.sync 3, 64; bra END;
"""
"""One warp initialises, one arrives and one waits, which meets the first one afterwards, with some tables."""


def test_who_initialises_a_barrier_may_be_anywhere_when_arrivals_are_missing() -> None:
    assert searched(INITIALISED.format(count=2), threads=96) is VerdictKind.VIOLATED
    assert searched(INITIALISED.format(count=1), threads=96) is VerdictKind.ASSUMES


def test_another_array_may_be_written() -> None:
    work = "ld.param.u32 %r6, [m]; cvt.u64.u32 %rd4, %r6; st.global.u32 [%rd4], %r9; barrier.sync 1, 96;"
    assert searched(work) is VerdictKind.VIOLATED


PAIR = """.version 8.6
.target sm_90a
.address_size 64
.visible .entry k(.param .u32 n, .param .u64 p)
.reqntid 32
.reqnctapercluster 2
{{
.reg .pred %p<9>;
.reg .b32 %r<30>;
.reg .b64 %rd<20>;
.shared .align 8 .b64 bar;
mov.u32 %r10, %tid.x; setp.eq.u32 %p5, %r10, 0; mov.u32 %r11, bar;
@%p5 mbarrier.init.shared.b64 [bar], 2;
fence.mbarrier_init.release.cluster;
barrier.cluster.arrive; barrier.cluster.wait;"""
PAIR += (
    FIND_GROUP
    + """mul.lo.s32 %r12, %r9, {apart};
setp.ge.s32 %p3, %r12, %r3; @%p3 bra END; @!%p5 bra END;
mapa.shared::cluster.u32 %r13, %r11, 0; mapa.shared::cluster.u32 %r14, %r11, 1;
mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r13];
{second}
WAIT:
mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p6, [bar], 0; @!%p6 bra WAIT;
END:
barrier.cluster.arrive; barrier.cluster.wait;
ret;
}}
"""
)
"""Each CTA that has work tells both of the cluster, and waits until both have told it."""
SECOND = "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r14];"


def paired(second: str = SECOND, *, apart: int = 1) -> VerdictKind:
    """Return the verdict on deadlocks; CTAs have work up to a place that is as far apart as is said."""
    return kind(verified(PAIR.format(second=second, apart=apart)), Property.DEADLOCK_FREEDOM)


def test_both_ctas_of_a_cluster_have_work() -> None:
    assert paired("") is VerdictKind.VIOLATED


def test_a_host_that_parts_the_ctas_of_a_cluster_shows_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Few tiles are enough for the first CTA alone: a grid of whole clusters has no such table."""
    assert paired(apart=50000) is VerdictKind.UNKNOWN
    monkeypatch.setattr(Example, "is_in_whole_clusters", True)
    assert paired(apart=50000) is VerdictKind.VIOLATED


def test_a_host_with_too_little_work_is_told() -> None:
    """With 256 of 512 rows there is not one tile: the kernel may not be meant for it."""
    module = parse_module(Source("k.ptx", kernel("ld.param.u32 %r1, [n];", threads=32)))
    (function,) = module.entries
    layout = layout_of(function, module)
    program = Program(build(function), module, from_directives(function))
    rows = Atom(("param", "n", 0, 4))
    tiles, smaller, other = (Atom(("sar", rows, bits, 32)) for bits in (9, 8, 10))
    kinds = parameter_kinds(program.cfg, program.facts, layout.starts)
    first, second, *_ = examples(program, lambda: kinds, Shape((32, 1, 1)))
    assert first.has_empty([tiles], layout)
    assert not first.has_empty([smaller], layout)
    assert not second.has_empty([tiles, other], layout)
    unknown = Atom(("loop", 1, "%r1", 0))
    assert not first.has_empty([unknown, Atom(("sar", unknown, 9, 32))], layout)


EMPTY = """
ld.param.u32 %r1, [n]; ld.param.u32 %r9, [m]; mov.u32 %r14, %tid.x; setp.ge.u32 %p3, %r14, 32;
mul.lo.u32 %r11, %r9, %r9; setp.eq.u32 %p1, %r11, 3; and.pred %p1, %p1, %p3; @%p1 bra END;
shr.u32 %r2, %r1, {bits}; setp.lt.s32 %p2, %r2, 1; and.pred %p4, %p2, %p3; @%p4 bra END;
barrier.sync 1, {threads};
END:
"""
"""Without a tile one warp has nothing to do, and the other one waits for it; no square is 3."""


def test_what_goes_wrong_without_work_alone_is_no_violation() -> None:
    for bits in (6, 9, 12):
        assert deadlock(EMPTY.format(bits=bits, threads=64)) is not VerdictKind.VIOLATED
    assert deadlock(EMPTY.format(bits=9, threads=96)) is VerdictKind.VIOLATED
